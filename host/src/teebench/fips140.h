/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The four statistical tests of FIPS 140-2 (change notice 1, 4.9.1): monobit,
 * poker, runs, long run. A smoke test that finds what is broken; it tells
 * nothing of how much entropy there is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FIPS140_BYTES = 2500 }; /* a block: 20,000 bits */

/* A good source fails this share of blocks: 0.08 %. */
#define FIPS140_FALSE_ALARM 0.0008

bool fips140_passes(const uint8_t block[FIPS140_BYTES]);

/*
 * Returns how many of `blocks` a good source fails at most: it fails more once in a million times
 * (binomial distribution).
 */
unsigned fips140_bound(unsigned blocks);
