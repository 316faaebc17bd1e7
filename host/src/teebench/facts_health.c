/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts that can prevent a measurement or make it meaningless, and that a shell can't tell: the
 * steps of using AF_ALG sockets, and the ways to the kernel's asymmetric ciphers.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/if_alg.h>
#include <linux/keyctl.h>

#include "afalg.h"
#include "facts.h"
#include "kernel_crypto.h"

enum { PATIENCE_SECONDS = 10 }; /* longest wait for a step, which may load modules */

/* Adds a line such as "socket: 97 Address family not supported" or "socket: ok". */
static void put_step(struct lines *lines, const char *what, bool ok)
{
	if (ok)
		lines_add(lines, "%s: ok", what);
	else
		lines_add(lines, "%s: %d %s", what, errno, strerror(errno));
}

static bool ended(int out, bool ok)
{
	if (ok)
		dprintf(out, "ok\n");
	else
		dprintf(out, "%d %s\n", errno, strerror(errno));
	return ok;
}

/* Uses a socket, up to the first step that fails. The line of the step under way has no end yet. */
static void try_socket(int out, const char *type, const char *name)
{
	struct sockaddr_alg sa = { .salg_family = AF_ALG };
	uint8_t digest[64];
	int fd, op;

	dprintf(out, "%s socket: ", type);
	fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (!ended(out, fd >= 0))
		return;
	strcpy((char *)sa.salg_type, type);
	strcpy((char *)sa.salg_name, name);
	dprintf(out, "%s bind: ", type);
	if (!ended(out, !bind(fd, (struct sockaddr *)&sa, sizeof(sa))) || strcmp(type, "hash"))
		return;
	dprintf(out, "hash accept: ");
	op = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (!ended(out, op >= 0))
		return;
	dprintf(out, "hash send: ");
	/* A short send and an empty read set no errno. */
	errno = EIO;
	if (!ended(out, send(op, "abc", 3, 0) == 3))
		return;
	dprintf(out, "hash receive: ");
	errno = EIO;
	ended(out, read(op, digest, sizeof(digest)) > 0);
}

/* Closes a child's files, so that a blocked child doesn't keep this program's output open. */
static void let_go_of_files(int out)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 1024; fd++)
		if (fd != null && fd != out)
			fd < 3 ? dup2(null, fd) : close(fd);
}

/*
 * Adds the result of each step of an AF_ALG socket of this type. A child process takes the steps: a
 * driver that never answers blocks it for good, and not even SIGKILL ends it.
 */
static void add_attempt(struct lines *lines, const char *type, const char *name)
{
	struct kernel_driver driver = { .driver = "the driver" };
	struct pollfd in = { .events = POLLIN };
	char text[400] = "";
	size_t len = 0;
	ssize_t n = 1;
	int ends[2], ready = 1;
	pid_t child = pipe2(ends, O_CLOEXEC) ? -1 : fork();

	if (child < 0) {
		put_step(lines, type, false);
		return;
	}
	if (!child) {
		let_go_of_files(ends[1]);
		try_socket(ends[1], type, name);
		_exit(0);
	}
	close(ends[1]);
	in.fd = ends[0];
	while (n > 0 && (ready = poll(&in, 1, 1000 * PATIENCE_SECONDS)) > 0) {
		n = read(ends[0], text + len, sizeof(text) - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	close(ends[0]);
	if (!ready)
		kill(child, SIGKILL);
	/* One that hangs in a driver may never end. */
	for (int i = 0; i < 50 && !waitpid(child, NULL, ready ? 0 : WNOHANG); i++)
		usleep(2000);
	if (!ready) {
		if (!strcmp(type, "hash"))
			kernel_driver_bound(type, name, &driver, NULL);
		lines_add(lines, "%s%d no answer in %d s from %s", text, ETIMEDOUT,
			  PATIENCE_SECONDS, driver.driver);
	} else if (len && text[len - 1] == '\n') {
		lines_add(lines, "%.*s", (int)len - 1, text);
	} else {
		lines_add(lines, "%s%d the process died in it", text, EIO);
	}
}

static void add_afalg_steps(struct facts *f)
{
	struct lines lines = { 0 };
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	put_step(&lines, "socket", fd >= 0);
	if (fd >= 0) {
		close(fd);
		add_attempt(&lines, "hash", "sha256");
		add_attempt(&lines, "skcipher", "cbc(aes)");
		add_attempt(&lines, "aead", "gcm(aes)");
		add_attempt(&lines, "rng", "stdrng");
	}
	fact_lines(f, "afalg_steps", &lines, NULL);
}

/* Adds the kernel's asymmetric drivers, and whether AF_ALG or keyctl let user space use them. */
static void add_asymmetric(struct facts *f)
{
	struct sockaddr_alg address = { AF_ALG, "akcipher", 0, 0, "rsa" };
	struct kernel_drivers drivers = { 0 };
	struct lines lines = { 0 };
	char none[64];
	int fd;

	kernel_drivers_read(&drivers, NULL);
	for (const struct kernel_driver *d = drivers.list; d < drivers.list + drivers.count; d++)
		if (!strcmp(d->type, "akcipher") || !strcmp(d->type, "sig"))
			lines_add(&lines, "%s by %s", d->name, d->driver);
	kernel_drivers_free(&drivers);
	fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	put_step(&lines, "an AF_ALG socket",
		 fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address)));
	close(fd);
	/* No key has the number INT32_MAX. */
	put_step(&lines, "keyctl (126: it takes keys of a keyring)",
		 !syscall(SYS_keyctl, KEYCTL_PKEY_QUERY, INT32_MAX, 0, "", none));
	fact_lines(f, "kernel_asymmetric", &lines, NULL);
}

/* Adds the environment variables that mask CPU features for OpenSSL, or configure it otherwise. */
static void add_masks(struct facts *f)
{
	static const char *const names[] = { "OPENSSL_armcap", "OPENSSL_ia32cap", "OPENSSL_CONF",
					     "OPENSSL_MODULES" };
	struct lines lines = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (getenv(names[i]))
			lines_add(&lines, "%s=%s", names[i], getenv(names[i]));
	fact_lines(f, "openssl_environment", &lines, NULL);
}

void facts_of_health(struct facts *f)
{
	add_afalg_steps(f);
	add_asymmetric(f);
	add_masks(f);
}
