/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts that can prevent a measurement or make it meaningless: the steps of using AF_ALG sockets,
 * the devices' permissions, kernel modules, tracing, disk space.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <mntent.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_alg.h>
#include <linux/keyctl.h>

#include "afalg.h"
#include "clock.h"
#include "facts.h"
#include "kernel_crypto.h"
#include "place.h"

/*
 * The progress of an AF_ALG socket, which a child process writes to shared memory. A driver that
 * never answers blocks the child for good: not even SIGKILL ends it.
 */
struct attempt {
	char step[32];    /* the step under way; "": none */
	char driver[128]; /* the driver behind the socket; "": not known */
	char lines[512];
};

enum { PATIENCE_SECONDS = 10 }; /* longest wait for a step, which may load modules */

/* Adds a line such as "hash accept: 2 No such file or directory" or "hash accept: ok". */
static void put_step(char *lines, size_t room, const char *what, bool ok)
{
	int code = errno;
	size_t len = strlen(lines);

	if (ok)
		snprintf(lines + len, room - len, "%s%s: ok", len ? "\n" : "", what);
	else
		snprintf(lines + len, room - len, "%s%s: %d %s", len ? "\n" : "", what, code,
			 strerror(code));
}

static void begin(struct attempt *a, const char *type, const char *what)
{
	snprintf(a->step, sizeof(a->step), "%s %s", type, what);
}

static bool ended(struct attempt *a, bool ok)
{
	put_step(a->lines, sizeof(a->lines), a->step, ok);
	a->step[0] = '\0';
	return ok;
}

static void try_hash(struct attempt *a, const char *name, int bound)
{
	struct kernel_driver driver;
	uint8_t digest[64];
	int op;

	begin(a, "hash", "accept");
	if (!kernel_driver_bound("hash", name, &driver, NULL))
		snprintf(a->driver, sizeof(a->driver), "%s", driver.driver);
	op = accept4(bound, NULL, NULL, SOCK_CLOEXEC);
	if (!ended(a, op >= 0))
		return;
	/* A short send and an empty read set no errno. */
	errno = EIO;
	begin(a, "hash", "send");
	if (!ended(a, send(op, "abc", 3, 0) == 3))
		return;
	errno = EIO;
	begin(a, "hash", "receive");
	ended(a, read(op, digest, sizeof(digest)) > 0);
}

static void try_socket(struct attempt *a, const char *type, const char *name)
{
	struct sockaddr_alg sa = { .salg_family = AF_ALG };
	int fd;

	begin(a, type, "socket");
	fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		ended(a, false);
		return;
	}
	strcpy((char *)sa.salg_type, type);
	strcpy((char *)sa.salg_name, name);
	begin(a, type, "bind");
	if (ended(a, !bind(fd, (struct sockaddr *)&sa, sizeof(sa))) && !strcmp(type, "hash"))
		try_hash(a, name, fd);
}

/* Closes a child's files, so that a blocked child doesn't keep this program's output open. */
static void let_go_of_files(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 1024; fd++)
		if (fd != null)
			fd < 3 ? dup2(null, fd) : close(fd);
}

/*
 * Waits for the child, and copies its report to *found. Returns false if the child spent more than
 * PATIENCE_SECONDS in one step; it is then killed, and left alone if SIGKILL doesn't end it.
 */
static bool ends(pid_t child, const struct attempt *a, struct attempt *found)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	uint64_t since = clock_now_ns();
	char seen[sizeof(a->step)] = "";

	while (!waitpid(child, NULL, WNOHANG)) {
		*found = *a;
		if (strcmp(seen, found->step)) {
			strcpy(seen, found->step);
			since = clock_now_ns();
		}
		if (clock_now_ns() - since > PATIENCE_SECONDS * 1000000000ull) {
			kill(child, SIGKILL);
			for (int i = 0; i < 50; i++)
				if (waitpid(child, NULL, WNOHANG) || nanosleep(&pause, NULL))
					break;
			return false;
		}
		nanosleep(&pause, NULL);
	}
	*found = *a;
	return true;
}

/* Adds the result of each step of an AF_ALG socket of this type, up to the first that fails. */
static void add_attempt(struct lines *lines, const char *type, const char *name)
{
	struct attempt *a =
		mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = a == MAP_FAILED ? -1 : fork();
	struct attempt found;

	if (!child) {
		let_go_of_files();
		try_socket(a, type, name);
		_exit(0);
	}
	if (child < 0) {
		lines_add(lines, "%s: %d %s", type, errno, strerror(errno));
	} else {
		bool ended_itself = ends(child, a, &found);

		if (*found.lines)
			lines_add(lines, "%s", found.lines);
		if (*found.step && ended_itself)
			lines_add(lines, "%s: %d the process died in it", found.step, EIO);
		else if (*found.step)
			lines_add(lines, "%s: %d no answer in %d s from %s", found.step, ETIMEDOUT,
				  PATIENCE_SECONDS, *found.driver ? found.driver : "the driver");
	}
	if (a != MAP_FAILED)
		munmap(a, sizeof(*a));
}

static void add_afalg_steps(struct facts *f)
{
	struct lines lines = { 0 };
	char first[64] = "";
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	put_step(first, sizeof(first), "socket", fd >= 0);
	lines_add(&lines, "%s", first);
	if (fd >= 0) {
		close(fd);
		add_attempt(&lines, "hash", "sha256");
		add_attempt(&lines, "skcipher", "cbc(aes)");
		add_attempt(&lines, "aead", "gcm(aes)");
		add_attempt(&lines, "rng", "stdrng");
	}
	fact_lines(f, "afalg_steps", &lines, "nothing was tried");
}

/* Adds the kernel's asymmetric drivers, and whether AF_ALG or keyctl let user space use them. */
static void add_asymmetric(struct facts *f)
{
	struct sockaddr_alg address = { AF_ALG, "akcipher", 0, 0, "rsa" };
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct kernel_drivers drivers = { 0 };
	struct lines lines = { 0 };
	char answers[256] = "", none[64];

	put_step(answers, sizeof(answers), "an AF_ALG socket",
		 fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address)));
	close(fd);
	/* No key has the number INT32_MAX. */
	put_step(answers, sizeof(answers), "keyctl (126: it takes keys of a keyring)",
		 !syscall(SYS_keyctl, KEYCTL_PKEY_QUERY, INT32_MAX, 0, "", none));
	kernel_drivers_read(&drivers, NULL);
	for (const struct kernel_driver *d = drivers.list; d < drivers.list + drivers.count; d++)
		if (!strcmp(d->type, "akcipher") || !strcmp(d->type, "sig"))
			lines_add(&lines, "%s by %s", d->name, d->driver);
	kernel_drivers_free(&drivers);
	lines_add(&lines, "%s", answers);
	fact_lines(f, "kernel_asymmetric", &lines, NULL);
}

static void name_mode(mode_t mode, char text[10])
{
	static const char all[] = "rwxrwxrwx";

	for (int i = 0; i < 9; i++)
		text[i] = mode & 1u << (8 - i) ? all[i] : '-';
	text[9] = '\0';
}

/* Adds a line such as "/dev/tee0 rw-rw---- root tee" for each device. */
static void add_devices(struct facts *f)
{
	static const char *const paths[] = {
		"/dev/tee0", "/dev/tee1",   "/dev/teepriv0", "/dev/hwrng",
		"/dev/kmsg", "/dev/crypto", "/dev/rpmb0",    "/dev/random",
	};
	struct lines lines = { 0 };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const struct passwd *user;
		const struct group *group;
		char mode[10], uid[16], gid[16];
		struct stat st;

		if (stat(paths[i], &st))
			continue;
		name_mode(st.st_mode, mode);
		snprintf(uid, sizeof(uid), "%u", (unsigned)st.st_uid);
		snprintf(gid, sizeof(gid), "%u", (unsigned)st.st_gid);
		user = getpwuid(st.st_uid);
		group = getgrgid(st.st_gid);
		lines_add(&lines, "%s %s %s %s", paths[i], mode, user ? user->pw_name : uid,
			  group ? group->gr_name : gid);
	}
	fact_lines(f, "devices", &lines, NULL);
}

static const char *const of_interest[] = {
	"tee",  "optee", "alg",           "crypto", "sha",  "aes",   "ghash",
	"omap", "caam",  "virtio_crypto", "rng",    "drbg", "kcapi", NULL,
};

/*
 * Adds the names of the relevant modules in a file. A line of /proc/modules begins with a module's
 * name, a line of modules.dep with its path ("kernel/crypto/af_alg.ko.xz: …").
 */
static void add_modules_of(struct facts *f, const char *name, const char *path, const char *why_not)
{
	FILE *file = fopen(facts_path(path), "re");
	struct lines modules = { 0 };
	char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) >= 0) {
		char *module;

		line[strcspn(line, " :\n")] = '\0';
		module = strrchr(line, '/');
		module = module ? module + 1 : line;
		module[strcspn(module, ".")] = '\0';
		if (has_word(module, of_interest))
			lines_add(&modules, "%s", module);
	}
	fact_lines(f, name, &modules, file ? NULL : why_not);
	if (file)
		fclose(file);
	free(line);
}

static void add_modules(struct facts *f)
{
	struct utsname u = { 0 };
	char path[200];

	uname(&u);
	snprintf(path, sizeof(path), "/lib/modules/%.100s/modules.dep", u.release);
	add_modules_of(f, "modules", "/proc/modules", "the kernel has no modules");
	add_modules_of(f, "modules_there", path,
		       "no list of modules for this kernel in /lib/modules");
}

static void add_tracing(struct facts *f)
{
	static const char why[] = "tracefs isn't mounted, or only root may read it";
	bool debug = access(facts_path("/sys/kernel/tracing/current_tracer"), R_OK);

	fact_file(f, "tracer",
		  debug ? "/sys/kernel/debug/tracing/current_tracer" :
			  "/sys/kernel/tracing/current_tracer",
		  why);
	fact_file(f, "trace_events",
		  debug ? "/sys/kernel/debug/tracing/events/enable" :
			  "/sys/kernel/tracing/events/enable",
		  why);
}

/* Adds the free bytes of the folder in which cases store their files. */
static void add_disk(struct facts *f)
{
	struct statvfs fs;

	if (statvfs(place_directory(), &fs)) {
		fact_unknown(f, "disk_free_bytes", strerror(errno));
		return;
	}
	json_i64(f->json, "disk_free_bytes", (int64_t)fs.f_bavail * (int64_t)fs.f_frsize);
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

static void add_user(struct facts *f)
{
	const struct passwd *user = getpwuid(geteuid());

	fact_string(f, "user", user ? user->pw_name : NULL, "this user has no name");
	json_bool(f->json, "root", geteuid() == 0);
}

void facts_of_health(struct facts *f)
{
	add_user(f);
	add_afalg_steps(f);
	add_asymmetric(f);
	add_devices(f);
	add_modules(f);
	add_tracing(f);
	/* The Raspberry Pi's firmware tells whether it throttles the CPU. */
	fact_file(f, "throttled", "/sys/devices/platform/soc/soc:firmware/get_throttled",
		  "no firmware here that tells");
	add_disk(f);
	add_masks(f);
	fact_file(f, "rng_available", "/sys/class/misc/hw_random/rng_available",
		  "the kernel knows no hardware random source");
}
