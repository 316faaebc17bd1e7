/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures how much of the stack was ever used: what lies unused when the session
 * opens is painted, and what is still painted later was not used.
 *
 * The mark is exact to 8 bytes, and it has a floor: what was in use when the
 * session opened, and 256 bytes below that which are not painted. It sees what
 * was written: a frame whose lowest bytes were reserved and never written
 * counts for less.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stack_region {
	uintptr_t low;    /* lowest address of the stack */
	uintptr_t unused; /* [low, unused) is not in use at the moment */
	uintptr_t top;    /* one past its highest address */
};

/*
 * Finds the stack this runs on; all zeros where it can't be told. It is in another file than the
 * rest, since it alone depends on the TEE.
 */
void stack_region_find(struct stack_region *region);

void stack_paint(const struct stack_region *region);

/* Returns the bytes from the top to the lowest word that was written; 0 if that isn't known. */
size_t stack_high_water(const struct stack_region *region);
