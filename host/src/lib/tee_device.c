/* SPDX-License-Identifier: BSD-2-Clause */
/* Is there a TEE, may we use it, and does anybody serve it? */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/tee.h>

#include "tee_device.h"

enum { DEVICES = 32 }; /* the kernel's TEE_NUM_DEVICES */

static const char *group_name(gid_t gid)
{
	const struct group *group = getgrgid(gid);

	return group ? group->gr_name : NULL;
}

static int no_permission(struct error *err, const char *path)
{
	const char *group;
	struct stat st;

	error_skip(err, -EACCES, "no-permission", "cannot open %s: %s", path,
		   strerror(EACCES));
	if (!stat(path, &st) && st.st_gid && st.st_mode & S_IRGRP &&
	    (group = group_name(st.st_gid)))
		error_hint(err,
			   "run as root, or join the group that owns it: "
			   "usermod -aG %s USER, then log in again",
			   group);
	else
		error_hint(err,
			   "run as root, or give %s a group (a udev rule) "
			   "that you are a member of",
			   path);
	return -EACCES;
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
		if (!ioctl(fd, TEE_IOC_VERSION, &version) &&
		    version.gen_caps & TEE_GEN_CAP_GP)
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
	error_skip(err, -ENODEV, "no-tee",
		   other ? "the TEE devices of this machine do not speak the "
			   "GlobalPlatform API" :
			   "no TEE device: there is no /dev/tee0");
	error_hint(err, "the kernel needs the optee driver (modprobe optee; "
			"CONFIG_OPTEE) and the firmware must have started "
			"OP-TEE: dmesg | grep -i optee");
	return -ENODEV;
}

enum supplicant tee_supplicant_state(void)
{
	DIR *proc = opendir("/proc");
	enum supplicant state = SUPPLICANT_ABSENT;
	struct dirent *entry;

	if (!proc)
		return SUPPLICANT_UNKNOWN;
	while ((entry = readdir(proc))) {
		/* "PID (comm) S …"; comm holds at most 15 characters */
		char path[300], text[64] = "", *close_paren;
		ssize_t len;
		int fd;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (len <= 0 || !strstr(text, "(tee-supplicant)"))
			continue;
		close_paren = strrchr(text, ')');
		if (!close_paren || close_paren[1] != ' ')
			continue;
		if (close_paren[2] == 'Z' || close_paren[2] == 'X')
			continue;
		if (close_paren[2] != 'T' && close_paren[2] != 't') {
			state = SUPPLICANT_RUNNING;
			break;
		}
		state = SUPPLICANT_STOPPED;
	}
	closedir(proc);
	return state;
}
