/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the same calls with and without the CPU's crypto instructions, side by side. Libraries
 * look for a mask in their environment when they are loaded, so each side is a process of its own.
 */
#pragma once

#include <stdint.h>

#include "error.h"

struct json;

enum { MASKS_PAIRS = 2, MASKS_STRETCHES = 5 };

struct masks {
	bool tried;
	const char *variable, *value; /* of the environment */
	uint32_t calls;               /* in each stretch */
	unsigned count;               /* of stretches, of either side */
	uint64_t plain_ns[MASKS_PAIRS * MASKS_STRETCHES];
	uint64_t masked_ns[MASKS_PAIRS * MASKS_STRETCHES];
	char reason[160]; /* why there are none; "": there are */
};

/* Runs the case of that key in processes of this program. */
void masks_compare(const char *key, uint32_t calls, const char *variable, const char *value,
		   struct masks *masks);
/* Adds "masked" to a case's record. */
void masks_put(struct json *j, const struct masks *masks);

/* Times stretches of calls and prints a line each: the work of a process of masks_compare(). */
int masks_stretch(const char *key, const char *calls, struct error *err);
