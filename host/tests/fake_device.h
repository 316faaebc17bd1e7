/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests of code that calls a TEE stand on this: a TEE device that is there, a
 * supplicant in any state, and fake_libteec, which is loaded as libteec is.
 */
#pragma once

#include "fake_libteec.h"
#include "tee_device.h"

extern struct fake_libteec *fake;
extern enum supplicant fake_supplicant;

/* Finds what all tests need, before the first. */
int fake_find(void **state);

/* Before each: nothing is open, nothing fails, the supplicant runs. */
int fake_reset(void **state);

/* Fails if a session or a context was left open. */
void fake_is_closed(void);
