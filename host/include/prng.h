/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small generator for the order of samples and for test messages: the same
 * numbers on every machine. Not for secrets.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct prng {
	uint64_t state; /* set this to the seed */
};

uint64_t prng_next(struct prng *prng);
/* Returns a uniformly distributed number in 0 … n-1; n > 0. */
uint32_t prng_below(struct prng *prng, uint32_t n);
void prng_fill(struct prng *prng, void *data, size_t len);
