/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <string.h>

#include "prng.h"

/* Published first outputs for seed 1234567 (rosettacode.org, "Splitmix64"). */
static void test_known_numbers(void **state)
{
	struct prng prng;

	(void)state;
	prng.state = 1234567;
	assert_true(prng_next(&prng) == 6457827717110365317u);
	assert_true(prng_next(&prng) == 3203168211198807973u);
	assert_true(prng_next(&prng) == 9817491932198370423u);
	assert_true(prng_next(&prng) == 4593380528125082431u);
	assert_true(prng_next(&prng) == 16408922859458223821u);
}

static void test_below_is_below_and_reaches_all(void **state)
{
	unsigned seen[7] = { 0 };
	struct prng prng;

	(void)state;
	prng.state = 1;
	for (int i = 0; i < 7000; i++) {
		uint32_t x = prng_below(&prng, 7);

		assert_in_range(x, 0, 6);
		seen[x]++;
	}
	for (int i = 0; i < 7; i++)
		assert_in_range(seen[i], 850, 1150);
	assert_int_equal(prng_below(&prng, 1), 0);
}

static void test_a_shorter_fill_begins_the_same(void **state)
{
	uint8_t a[100], b[37];
	struct prng prng;

	(void)state;
	prng.state = 5;
	prng_fill(&prng, a, sizeof(a));
	prng.state = 5;
	prng_fill(&prng, b, sizeof(b));
	assert_memory_equal(a, b, sizeof(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_numbers),
		cmocka_unit_test(test_below_is_below_and_reaches_all),
		cmocka_unit_test(test_a_shorter_fill_begins_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
