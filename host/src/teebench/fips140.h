/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The four statistical tests of FIPS 140-2 (change notice 1, 4.9.1): monobit, poker, runs, long
 * run. They find a broken source of random bits; they don't tell how much entropy a source has.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FIPS140_BYTES = 2500 }; /* size of a block: 20,000 bits */

/* Share of a good source's blocks that fail the tests: 0.08 %. */
#define FIPS140_FALSE_ALARM 0.0008

bool fips140_passes(const uint8_t block[FIPS140_BYTES]);

/*
 * Returns how many of `blocks` blocks may fail before the source counts as broken. A good source
 * exceeds this number once in a million times (binomial distribution).
 */
unsigned fips140_bound(unsigned blocks);
