/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014.
 */
#include "prng.h"

uint64_t prng_next(struct prng *prng)
{
	uint64_t z = prng->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t prng_below(struct prng *prng, uint32_t n)
{
	/* Draws again if the number would make small results more likely. */
	uint32_t unfair = (uint32_t)-n % n;
	uint32_t x;

	do
		x = (uint32_t)(prng_next(prng) >> 32);
	while (x < unfair);
	return x % n;
}

void prng_fill(struct prng *prng, void *data, size_t len)
{
	uint8_t *p = data;

	while (len) {
		uint64_t x = prng_next(prng);

		/* Takes x byte by byte, so that all byte orders give the same. */
		for (int i = 0; i < 8 && len; i++, len--, x >>= 8)
			*p++ = (uint8_t)x;
	}
}
