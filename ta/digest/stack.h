/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures how much of the stack was ever used. When the session opens, the unused part is painted;
 * later, what is still painted was not used.
 *
 * The result is exact to 8 bytes, but at least what was in use when the session opened, plus 256
 * bytes below that aren't painted. Only written memory counts: if the lowest bytes of a frame were
 * reserved but never written, they are missed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stack_region {
	uintptr_t low;    /* lowest address of the stack */
	uintptr_t unused; /* [low, unused) is not in use now */
	uintptr_t top;    /* one past its highest address */
};

/*
 * Finds the stack that this runs on; all zeros if it can't be found. This alone depends on the TEE,
 * so it has a file of its own.
 */
void stack_region_find(struct stack_region *region);

void stack_paint(const struct stack_region *region);

/* Returns the bytes from the top to the lowest word written; 0 if the stack isn't known. */
size_t stack_high_water(const struct stack_region *region);
