/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>

#include "error.h"

/*
 * Opens the first TEE device that speaks GlobalPlatform, and writes its path; returns the
 * descriptor, or -errno with the reason (err->skip "no-tee" or "no-permission").
 */
int tee_device_open(char *path, size_t path_size, struct error *err);

/*
 * tee-supplicant loads TAs and serves storage. Known by its process name,
 * which everybody may read (unless /proc is mounted with hidepid).
 */
enum supplicant {
	SUPPLICANT_UNKNOWN,
	SUPPLICANT_ABSENT,
	SUPPLICANT_STOPPED, /* by a signal or a debugger */
	SUPPLICANT_RUNNING,
};

enum supplicant tee_supplicant_state(void);

/*
 * Writes the folder in which tee-supplicant looks for TAs, by its arguments (of several, the first
 * that is there); without one that runs, or that was told a folder, OP-TEE's usual one.
 */
void tee_ta_folder(char *folder, size_t size);

/* Writes that folder by a process's arguments, as in /proc/PID/cmdline; a '\0' follows them. */
void tee_ta_folder_of(const char *args, size_t args_size, char *folder, size_t size);
