/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <string.h>

#include "fips140.h"
#include "prng.h"

static void test_random_blocks_pass(void **state)
{
	uint8_t block[FIPS140_BYTES];
	struct prng prng;
	unsigned failed = 0;

	(void)state;
	prng.state = 7;
	for (unsigned i = 0; i < 1000; i++) {
		prng_fill(&prng, block, sizeof(block));
		failed += !fips140_passes(block);
	}
	assert_in_range(failed, 0, fips140_bound(1000));
}

/* Each is refused by one of the four tests. */
static void test_what_is_not_random_fails(void **state)
{
	uint8_t block[FIPS140_BYTES];
	struct prng prng;

	(void)state;
	memset(block, 0, sizeof(block));
	assert_false(fips140_passes(block));
	memset(block, 0x55, sizeof(block)); /* as many ones as zeros */
	assert_false(fips140_passes(block));
	for (size_t i = 0; i < sizeof(block); i++)
		memcpy(block + i, "what people write\n" + i % 18, 1);
	assert_false(fips140_passes(block));

	/* A run of 26 in what is random otherwise; one of 25 is allowed. */
	prng.state = 7;
	prng_fill(&prng, block, sizeof(block));
	assert_true(fips140_passes(block));
	block[99] &= 0xfe;
	memset(block + 100, 0xff, 3);
	block[103] = 0x80 | (block[103] & 0x3f);
	assert_true(fips140_passes(block));
	block[103] = 0xc0 | (block[103] & 0x1f);
	assert_false(fips140_passes(block));

	/* One bit of 32 stuck: 3 % more ones. */
	prng_fill(&prng, block, sizeof(block));
	for (size_t i = 0; i < sizeof(block); i += 2)
		block[i] |= 1;
	assert_false(fips140_passes(block));
}

static unsigned ones_of(const uint8_t *block)
{
	unsigned ones = 0;

	for (size_t i = 0; i < FIPS140_BYTES; i++)
		ones += (unsigned)__builtin_popcount(block[i]);
	return ones;
}

/* Clears bits in random places until there are so many ones. */
static void lose_ones(uint8_t *block, unsigned ones, struct prng *prng)
{
	while (ones_of(block) > ones) {
		uint32_t bit = prng_below(prng, 8 * FIPS140_BYTES);

		block[bit / 8] &= (uint8_t) ~(1u << bit % 8);
	}
}

/* More than 9,725 ones; all other tests are passed on both sides. */
static void test_as_many_ones_as_are_allowed(void **state)
{
	uint8_t block[FIPS140_BYTES];
	struct prng prng = { .state = 7 };

	(void)state;
	prng_fill(&prng, block, sizeof(block));
	lose_ones(block, 9726, &prng);
	assert_int_equal(ones_of(block), 9726);
	assert_true(fips140_passes(block));
	lose_ones(block, 9725, &prng);
	assert_false(fips140_passes(block));
}

/* Half-bytes 3 that become 5 are as many ones and zeros, and hardly other runs. */
static void test_half_bytes_that_come_too_often(void **state)
{
	uint8_t block[FIPS140_BYTES];
	struct prng prng = { .state = 7 };
	unsigned changed = 0;

	(void)state;
	prng_fill(&prng, block, sizeof(block));
	for (size_t i = 0; changed < 90; i++)
		if (block[i] >> 4 == 3) {
			block[i] = (uint8_t)(0x50 | (block[i] & 15));
			changed++;
		}
	assert_false(fips140_passes(block));
	/* A third as many are chance. */
	for (size_t i = 0; changed > 30; i++)
		if (block[i] >> 4 == 5) {
			block[i] = (uint8_t)(0x30 | (block[i] & 15));
			changed--;
		}
	assert_true(fips140_passes(block));
}

/* P(X > k) <= 1e-6 of a binomial distribution with p = 0.0008. */
static void test_the_bound(void **state)
{
	(void)state;
	assert_int_equal(fips140_bound(0), 0);
	assert_int_equal(fips140_bound(1), 1);
	assert_int_equal(fips140_bound(100), 4);
	assert_int_equal(fips140_bound(1000), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_blocks_pass),
		cmocka_unit_test(test_what_is_not_random_fails),
		cmocka_unit_test(test_as_many_ones_as_are_allowed),
		cmocka_unit_test(test_half_bytes_that_come_too_often),
		cmocka_unit_test(test_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
