/* SPDX-License-Identifier: BSD-2-Clause */

#include "fips140.h"

enum { BITS = 8 * FIPS140_BYTES };

static unsigned bit(const uint8_t *block, unsigned i)
{
	return block[i / 8] >> (7 - i % 8) & 1;
}

static bool monobit(const uint8_t *block)
{
	unsigned ones = 0;

	for (unsigned i = 0; i < BITS; i++)
		ones += bit(block, i);
	return ones > 9725 && ones < 10275;
}

/* Returns whether X is in bounds; X = 16/5000 * (sum of the squared half-byte counts) - 5000. */
static bool poker(const uint8_t *block)
{
	unsigned count[16] = { 0 }, squares = 0;
	double x;

	for (unsigned i = 0; i < FIPS140_BYTES; i++) {
		count[block[i] >> 4]++;
		count[block[i] & 15]++;
	}
	for (unsigned i = 0; i < 16; i++)
		squares += count[i] * count[i];
	x = 16.0 / 5000.0 * squares - 5000.0;
	return x > 2.16 && x < 46.17;
}

/* Returns whether the runs of each length are in bounds, and no run has 26 bits or more. */
static bool runs(const uint8_t *block)
{
	static const struct {
		unsigned least, most;
	} allowed[6] = { { 2315, 2685 }, { 1114, 1386 }, { 527, 723 },
			 { 240, 384 },   { 103, 209 },   { 103, 209 } };
	unsigned count[2][6] = { { 0 } };

	for (unsigned i = 0; i < BITS;) {
		unsigned value = bit(block, i), len = 0;

		while (i < BITS && bit(block, i) == value) {
			i++;
			len++;
		}
		if (len >= 26)
			return false;
		count[value][len > 6 ? 5 : len - 1]++;
	}
	for (unsigned value = 0; value < 2; value++)
		for (unsigned i = 0; i < 6; i++)
			if (count[value][i] < allowed[i].least || count[value][i] > allowed[i].most)
				return false;
	return true;
}

bool fips140_passes(const uint8_t block[FIPS140_BYTES])
{
	return monobit(block) && poker(block) && runs(block);
}

unsigned fips140_bound(unsigned blocks)
{
	const double p = FIPS140_FALSE_ALARM;
	double term = 1, sum;
	unsigned k = 0;

	/* pow() would need glibc 2.29 or newer. */
	for (unsigned i = 0; i < blocks; i++)
		term *= 1 - p;
	sum = term;
	/* Computes the binomial term of k + 1 from the term of k. */
	while (1 - sum > 1e-6 && k < blocks) {
		term *= (double)(blocks - k) / (k + 1) * p / (1 - p);
		sum += term;
		k++;
	}
	return k;
}
