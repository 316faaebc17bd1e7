/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can keep a measurement from working, or from meaning something: each
 * step of an AF_ALG socket, the devices' permissions, modules, tracing, disk.
 */
#include <errno.h>
#include <grp.h>
#include <mntent.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/if_alg.h>

#include "facts.h"
#include "place.h"

#ifndef AF_ALG
#define AF_ALG 38
#endif
#ifndef SOL_ALG
#define SOL_ALG 279
#endif

/* "hash accept: 2 No such file or directory", "hash accept: ok" */
static bool step(struct lines *lines, const char *what, bool ok)
{
	int code = errno;

	if (ok)
		lines_add(lines, "%s: ok", what);
	else
		lines_add(lines, "%s: %d %s", what, code, strerror(code));
	return ok;
}

static void try_hash(struct lines *lines, int bound)
{
	uint8_t digest[64];
	int op = accept(bound, NULL, NULL);

	if (!step(lines, "hash accept", op >= 0))
		return;
	if (step(lines, "hash send", send(op, "abc", 3, 0) == 3))
		step(lines, "hash receive",
		     read(op, digest, sizeof(digest)) > 0);
	close(op);
}

/* Each step of each type of socket, up to the first that fails. */
static void add_afalg_steps(struct facts *f)
{
	static const struct {
		const char *type, *name, *what;
	} kinds[] = {
		{ "hash", "sha256", "hash bind" },
		{ "skcipher", "cbc(aes)", "skcipher bind" },
		{ "aead", "gcm(aes)", "aead bind" },
		{ "rng", "stdrng", "rng bind" },
	};
	struct lines lines = { 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct sockaddr_alg sa = { .salg_family = AF_ALG };
		int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		if (fd < 0 || i == 0)
			step(&lines, "socket", fd >= 0);
		if (fd < 0)
			break;
		strcpy((char *)sa.salg_type, kinds[i].type);
		strcpy((char *)sa.salg_name, kinds[i].name);
		if (step(&lines, kinds[i].what,
			 !bind(fd, (struct sockaddr *)&sa, sizeof(sa))) &&
		    i == 0)
			try_hash(&lines, fd);
		close(fd);
	}
	fact_list(f, "afalg_steps", lines.text, "nothing was tried");
	free(lines.text);
}

static void name_mode(mode_t mode, char text[10])
{
	static const char all[] = "rwxrwxrwx";

	for (int i = 0; i < 9; i++)
		text[i] = mode & 1u << (8 - i) ? all[i] : '-';
	text[9] = '\0';
}

/* "/dev/tee0 rw-rw---- root tee" */
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
		lines_add(&lines, "%s %s %s %s", paths[i], mode,
			  user ? user->pw_name : uid,
			  group ? group->gr_name : gid);
	}
	fact_list(f, "devices", lines.text, NULL);
	free(lines.text);
}

static bool is_of_interest(const char *module)
{
	static const char *const words[] = {
		"tee", "optee", "alg",   "crypto", "sha",
		"aes", "ghash", "omap",  "caam",   "virtio_crypto",
		"rng", "drbg",  "kcapi",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(module, words[i]))
			return true;
	return false;
}

static void add_modules(struct facts *f)
{
	struct lines loaded = { 0 }, there = { 0 };
	struct utsname u;
	char path[200], name[64], *line = NULL;
	size_t room = 0;
	FILE *file = fopen(facts_path("/proc/modules"), "re");

	while (file && getline(&line, &room, file) >= 0)
		if (sscanf(line, "%63s", name) == 1 && is_of_interest(name))
			lines_add(&loaded, "%s", name);
	fact_list(f, "modules", loaded.text,
		  file ? NULL : "the kernel has no modules");
	if (file)
		fclose(file);
	free(loaded.text);
	/* A line "kernel/crypto/af_alg.ko.xz: …" for each. */
	file = NULL;
	if (!uname(&u)) {
		snprintf(path, sizeof(path), "/lib/modules/%.100s/modules.dep",
			 u.release);
		file = fopen(facts_path(path), "re");
	}
	while (file && getline(&line, &room, file) >= 0) {
		char *slash, *dot;

		line[strcspn(line, ":\n")] = '\0';
		slash = strrchr(line, '/');
		dot = slash ? strchr(slash, '.') : NULL;
		if (!dot)
			continue;
		*dot = '\0';
		if (is_of_interest(slash + 1))
			lines_add(&there, "%s", slash + 1);
	}
	fact_list(f, "modules_there", there.text,
		  file ? NULL :
			 "no list of modules for this kernel in "
			 "/lib/modules");
	if (file)
		fclose(file);
	free(there.text);
	free(line);
}

static void add_tracing(struct facts *f)
{
	static const char *const mounts[] = { "/sys/kernel/tracing",
					      "/sys/kernel/debug/tracing" };
	char path[80], *tracer = NULL, *on = NULL;

	for (size_t i = 0; i < 2 && !tracer; i++) {
		snprintf(path, sizeof(path), "%s/current_tracer", mounts[i]);
		tracer = read_line(path);
		snprintf(path, sizeof(path), "%s/events/enable", mounts[i]);
		on = tracer ? read_line(path) : NULL;
	}
	fact_string(f, "tracer", tracer,
		    "tracefs isn't mounted, or only root may read it");
	fact_string(f, "trace_events", on,
		    "tracefs isn't mounted, or only root may read it");
	free(tracer);
	free(on);
}

/* Raspberry Pi's firmware says whether it slows the CPU down. */
static void add_throttled(struct facts *f)
{
	char *text = read_line("/sys/devices/platform/soc/soc:firmware/"
			       "get_throttled");

	fact_string(f, "throttled", text, "no firmware here that tells");
	free(text);
}

/* Of the folder that cases write to. */
static void add_disk(struct facts *f)
{
	struct statvfs fs;

	if (statvfs(place_directory(), &fs)) {
		fact_unknown(f, "disk_free_bytes", strerror(errno));
		return;
	}
	fact_number(f, "disk_free_bytes",
		    (int64_t)fs.f_bavail * (int64_t)fs.f_frsize);
}

/* The environment's, as OpenSSL reads it. */
static void add_masks(struct facts *f)
{
	static const char *const names[] = { "OPENSSL_armcap",
					     "OPENSSL_ia32cap", "OPENSSL_CONF",
					     "OPENSSL_MODULES" };
	struct lines lines = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (getenv(names[i]))
			lines_add(&lines, "%s=%s", names[i], getenv(names[i]));
	fact_list(f, "openssl_environment", lines.text, NULL);
	free(lines.text);
}

static void add_user(struct facts *f)
{
	const struct passwd *user = getpwuid(geteuid());

	fact_string(f, "user", user ? user->pw_name : NULL,
		    "this user has no name");
	fact_bool(f, "root", geteuid() == 0);
}

void facts_of_health(struct facts *f)
{
	char *rngs = read_line("/sys/class/misc/hw_random/rng_available");

	add_user(f);
	add_afalg_steps(f);
	add_devices(f);
	add_modules(f);
	add_tracing(f);
	add_throttled(f);
	add_disk(f);
	add_masks(f);
	fact_string(f, "rng_available", rngs,
		    "the kernel knows no hardware random source");
	free(rngs);
}
