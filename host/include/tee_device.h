/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "error.h"

/*
 * Opens the first TEE device that speaks the GlobalPlatform API, and writes its path. Returns the
 * descriptor, or -errno with the reason (err->skip "no-tee" or "no-permission").
 */
int tee_device_open(char *path, size_t path_size, struct error *err);

/*
 * State of tee-supplicant, the daemon that loads TAs and serves storage. It is found by its process
 * name, which everybody may read (unless /proc is mounted with hidepid).
 */
enum supplicant {
	SUPPLICANT_UNKNOWN,
	SUPPLICANT_ABSENT,
	SUPPLICANT_STOPPED, /* stopped by a signal or a debugger */
	SUPPLICANT_RUNNING,
};

enum supplicant tee_supplicant_state(void);
