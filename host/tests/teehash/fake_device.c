/* SPDX-License-Identifier: BSD-2-Clause */
/* A TEE device and a supplicant for teehash-tee: there, unless FAKE_NO_TEE. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tee_device.h"

int __wrap_tee_device_open(char *path, size_t path_size, struct error *err);
enum supplicant __wrap_tee_supplicant_state(void);

int __wrap_tee_device_open(char *path, size_t path_size, struct error *err)
{
	if (getenv("FAKE_NO_TEE"))
		return error_skip(err, -ENOENT, "no-tee", "no TEE device");
	if (path_size)
		path[0] = '\0';
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

enum supplicant __wrap_tee_supplicant_state(void)
{
	return SUPPLICANT_RUNNING;
}
