/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>

#include "fake_device.h"

struct fake_libteec *fake;
enum supplicant fake_supplicant;

int __wrap_tee_device_open(char *path, size_t size, struct error *err);
enum supplicant __wrap_tee_supplicant_state(void);

int __wrap_tee_device_open(char *path, size_t size, struct error *err)
{
	(void)err;
	assert_true(size > 9);
	strcpy(path, "/dev/tee0");
	return open("/dev/null", O_RDWR);
}

enum supplicant __wrap_tee_supplicant_state(void)
{
	return fake_supplicant;
}

int fake_find(void **state)
{
	void *handle = dlopen("libteec.so.2", RTLD_NOW);

	(void)state;
	fake = handle ? dlsym(handle, "fake_libteec") : NULL;
	return fake ? 0 : -1;
}

int fake_reset(void **state)
{
	(void)state;
	memset(fake, 0, sizeof(*fake));
	fake_supplicant = SUPPLICANT_RUNNING;
	return 0;
}

void fake_is_closed(void)
{
	assert_int_equal(fake->sessions, 0);
	assert_int_equal(fake->contexts, 0);
}
