/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out whether there is a TEE, if this user may open it, and if tee-supplicant runs. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
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

enum supplicant tee_supplicant_state(void)
{
	DIR *proc = opendir("/proc");
	enum supplicant found = SUPPLICANT_ABSENT;
	struct dirent *entry;

	if (!proc)
		return SUPPLICANT_UNKNOWN;
	while (found != SUPPLICANT_RUNNING && (entry = readdir(proc))) {
		char state = isdigit((unsigned char)entry->d_name[0]) ? state_of(entry->d_name) :
									'\0';

		if (state == 'T' || state == 't')
			found = SUPPLICANT_STOPPED;
		else if (state && state != 'Z' && state != 'X')
			found = SUPPLICANT_RUNNING;
	}
	closedir(proc);
	return found;
}
