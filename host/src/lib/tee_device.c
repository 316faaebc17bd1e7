/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out whether there is a TEE, if this user may open it, and if tee-supplicant runs. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/tee.h>

#include "tee_device.h"

enum { DEVICES = 32 }; /* most devices /dev/teeN: the kernel's TEE_NUM_DEVICES */

static int no_permission(struct error *err, const char *path)
{
	struct group *group = NULL;
	struct stat st;

	if (!stat(path, &st) && st.st_gid && st.st_mode & S_IRGRP)
		group = getgrgid(st.st_gid);
	return error_skip(err, -EACCES, "no-permission",
			  group ? "cannot open %s: %s\nrun as root, or join the group that owns "
				  "it: usermod -aG %s USER, then log in again" :
				  "cannot open %s: %s\nrun as root, or give %s a "
				  "group (a udev rule) that you are a member of",
			  path, strerror(EACCES), group ? group->gr_name : path);
}

int tee_device_open(char *path, size_t path_size, struct error *err)
{
	struct error denied = { 0 };
	bool other = false;

	for (int i = 0; i < DEVICES; i++) {
		struct tee_ioctl_version_data version = { 0 };
		int fd;

		snprintf(path, path_size, "/dev/tee%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			if (errno == EACCES || errno == EPERM)
				no_permission(&denied, path);
			continue;
		}
		if (!ioctl(fd, TEE_IOC_VERSION, &version) && version.gen_caps & TEE_GEN_CAP_GP)
			return fd;
		other = true;
		close(fd);
	}
	path[0] = '\0';
	if (denied.code) {
		if (err)
			*err = denied;
		return denied.code;
	}
	return error_skip(err, -ENODEV, "no-tee",
			  "%s\nthe kernel needs the optee driver (modprobe optee; CONFIG_OPTEE) "
			  "and the firmware must have started OP-TEE: dmesg | grep -i optee",
			  other ? "the TEE devices of this machine do not "
				  "speak the GlobalPlatform API" :
				  "no TEE device: there is no /dev/tee0");
}

/*
 * Returns the process's state, the S in "PID (comm) S …", or '\0' if the process isn't
 * tee-supplicant. comm holds at most 15 characters.
 */
static char state_of(const char *pid)
{
	char path[300], comm[17] = "", state = '\0';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return '\0';
	if (fscanf(file, "%*d (%16[^)]) %c", comm, &state) != 2 || strcmp(comm, "tee-supplicant"))
		state = '\0';
	fclose(file);
	return state;
}

/* Returns tee-supplicant's state, and writes its PID, or "" if there is none. */
static enum supplicant find_supplicant(char *pid, size_t size)
{
	DIR *proc = opendir("/proc");
	enum supplicant found = SUPPLICANT_ABSENT;
	struct dirent *entry;

	pid[0] = '\0';
	if (!proc)
		return SUPPLICANT_UNKNOWN;
	while (found != SUPPLICANT_RUNNING && (entry = readdir(proc))) {
		char state = isdigit((unsigned char)entry->d_name[0]) ? state_of(entry->d_name) :
									'\0';

		if (state == 'T' || state == 't')
			found = SUPPLICANT_STOPPED;
		else if (state && state != 'Z' && state != 'X')
			found = SUPPLICANT_RUNNING;
		if (state)
			snprintf(pid, size, "%s", entry->d_name);
	}
	closedir(proc);
	return found;
}

enum supplicant tee_supplicant_state(void)
{
	char pid[256];

	return find_supplicant(pid, sizeof(pid));
}

/* Returns the value of option `at`: --LONG V, --LONG=V, -S V or -SV; NULL: another option. */
static const char *value_of(const char *at, const char *end, const char *names[2])
{
	const char *next = at + strlen(at) + 1;

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(names[i]);

		if (strcmp(at, names[i]) == 0)
			return next < end ? next : NULL;
		if (strncmp(at, names[i], n) == 0 && (i == 1 || at[n] == '='))
			return at + n + (i == 0);
	}
	return NULL;
}

void tee_ta_folder_of(const char *args, size_t args_size, char *folder, size_t size)
{
	const char *paths = NULL;

	snprintf(folder, size, "/lib/optee_armtz");
	for (const char *at = args, *end = args + args_size; at < end; at += strlen(at) + 1) {
		const char *path = value_of(at, end, (const char *[2]){ "--ta-path", "-l" });
		const char *dir = value_of(at, end, (const char *[2]){ "--ta-dir", "-t" });

		if (path)
			paths = path;
		else if (dir)
			snprintf(folder, size, "/lib/%s", dir);
	}
	if (!paths)
		return;
	for (const char *at = paths;; at += strcspn(at, ":") + 1) {
		snprintf(folder, size, "%.*s", (int)strcspn(at, ":"), at);
		if (access(folder, F_OK) == 0)
			return;
		if (!strchr(at, ':'))
			break;
	}
	snprintf(folder, size, "%.*s", (int)strcspn(paths, ":"), paths);
}

void tee_ta_folder(char *folder, size_t size)
{
	char pid[256], path[300], args[2048];
	size_t got = 0;
	FILE *file;

	find_supplicant(pid, sizeof(pid));
	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	file = pid[0] ? fopen(path, "re") : NULL;
	if (file) {
		got = fread(args, 1, sizeof(args) - 1, file);
		fclose(file);
	}
	args[got] = '\0';
	tee_ta_folder_of(args, got, folder, size);
}
