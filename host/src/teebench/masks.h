/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the same calls with and without the CPU's crypto instructions. Libraries read the mask
 * from an environment variable when they are loaded, so each side runs in a process of its own.
 */
#pragma once

#include "error.h"

struct bench_case;
struct json;
struct pool;

enum { MASKS_PAIRS = 2, MASKS_STRETCHES = 5 };

struct masks {
	bool tried;
	const char *variable, *value; /* environment variable, and the value that sets the mask */
	uint32_t calls;               /* calls in each stretch */
	unsigned count;               /* stretches in each of the arrays */
	uint64_t plain_ns[MASKS_PAIRS * MASKS_STRETCHES];
	uint64_t masked_ns[MASKS_PAIRS * MASKS_STRETCHES];
	char reason[160]; /* why the comparison failed; "": it didn't */
};

/* Times the case of that key in child processes of this program, with and without the mask. */
void masks_compare(const char *key, uint32_t calls, const char *variable, const char *value,
		   struct masks *masks);
/* Adds the object "masked" to a case's record. */
void masks_put(struct json *j, const struct masks *masks);

/* Prints the ns of each stretch of --loops calls; masks_compare() runs this in child processes. */
int masks_stretch(struct bench_case *c, struct pool *pool, struct error *err);
