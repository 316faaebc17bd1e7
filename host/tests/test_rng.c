/* SPDX-License-Identifier: BSD-2-Clause */
/* How long it takes to find out that a random source is slow, and that it isn't. */
#include "harness.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "pool.h"
#include "prng.h"
#include "stop.h"
#include "workload.h"

#define MS     1000000ull
#define SECOND (1000 * MS)

uint64_t __wrap_clock_now_ns(void);

static uint64_t now;
static unsigned draws, signal_at;
static uint64_t (*cost)(size_t len);

uint64_t __wrap_clock_now_ns(void)
{
	return now;
}

static int draw(struct session *session, const struct buffer *out, size_t len, uint32_t repeat,
		struct error *err)
{
	(void)session;
	(void)out;
	(void)repeat;
	(void)err;
	now += cost(len);
	if (++draws == signal_at)
		stop_reason = SIGINT;
	return 0;
}

static uint32_t samples = 3;

/* Prepares a case of 1 MiB; returns 0, or the word of the skip. */
static const char *prepare(uint64_t (*costs)(size_t len), unsigned at)
{
	const struct workload *rng = workload_by_name("rng");
	struct backend source = *backend_by_name("getrandom");
	struct bench_case c = {
		.workload = rng,
		.backend = &source,
		.bytes = 1 << 20,
		.options = { .samples = samples },
	};
	struct error err = { 0 };
	struct pool pool = { 0 };
	int ret;

	source.random = draw;
	now = draws = 0;
	stop_reason = 0;
	signal_at = at;
	cost = costs;
	ret = case_prepare(&c, &pool, &err);
	assert_int_equal(!ret, !err.skip);
	case_teardown(&c);
	pool_close(&pool);
	stop_reason = 0;
	return err.skip;
}

static uint64_t three_bytes_a_second(size_t len)
{
	return len * SECOND / 3;
}

static uint64_t kilobytes_a_second(size_t len)
{
	return len * MS;
}

static uint64_t busy_machine(size_t len)
{
	return draws % 3 ? 80 * MS : len;
}

/* A first draw for what seeding costs, and one that tells. */
static void test_a_very_slow_source_is_asked_twice(void **state)
{
	(void)state;
	assert_string_equal(prepare(three_bytes_a_second, 0), "too-slow");
	assert_int_equal(draws, 2);
	assert_true(now < 45 * SECOND);
}

static void test_a_slow_source_is_asked_until_noise_is_ruled_out(void **state)
{
	(void)state;
	assert_string_equal(prepare(kilobytes_a_second, 0), "too-slow");
	assert_int_equal(draws, 4);
}

static void test_a_busy_machine_is_not_a_slow_source(void **state)
{
	(void)state;
	assert_null(prepare(busy_machine, 0));
}

static uint64_t megabyte_a_second(size_t len)
{
	return len * 1000;
}

/* The limit is a minute for all samples of the case, which are a second each. */
static void test_all_samples_are_to_fit_a_minute(void **state)
{
	(void)state;
	samples = 40;
	assert_null(prepare(megabyte_a_second, 0));
	samples = 60;
	assert_string_equal(prepare(megabyte_a_second, 0), "too-slow");
	samples = 3;
}

static struct prng good = { .state = 7 };
static enum { GOOD, MORE_ONES, FEWER_ONES } source_is;

static int draw_blocks(struct session *session, const struct buffer *out, size_t len,
		       uint32_t repeat, struct error *err)
{
	(void)session;
	(void)repeat;
	(void)err;
	for (size_t i = 0; i < len; i++)
		prng_fill(&good, out->data + i, 1);
	for (size_t i = 0; source_is != GOOD && i < len; i += 16)
		out->data[i] =
			(uint8_t)(source_is == MORE_ONES ? out->data[i] | 1 : out->data[i] & ~1);
	return 0;
}

/* A source passes that is as good as chance, and none of which 0.4 % too many or few bits are ones. */
static void test_blocks_tell_a_good_source_from_a_broken_one(void **state)
{
	(void)state;
	for (source_is = GOOD; source_is <= FEWER_ONES; source_is++) {
		struct backend source = *backend_by_name("getrandom");
		struct bench_case c = {
			.key = "rng/random/getrandom/64",
			.workload = workload_by_name("rng"),
			.backend = &source,
			.bytes = 64,
			.options = { .samples = 3 },
		};
		struct error err = { 0 };
		struct pool pool = { 0 };

		source.random = draw_blocks;
		assert_int_equal(case_prepare(&c, &pool, &err), 0);
		assert_int_equal(case_ready(&c, 1, &err), 0);
		assert_int_equal(case_run(&c, 1, 1, &err), 0);
		assert_int_equal(case_verify(&c, &err), source_is == GOOD ? 0 : -EBADMSG);
		case_teardown(&c);
		pool_close(&pool);
	}
}

static void test_a_signal_ends_it_after_the_draw(void **state)
{
	(void)state;
	for (unsigned at = 1; at <= 3; at++) {
		assert_null(prepare(kilobytes_a_second, at));
		assert_int_equal(draws, at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_very_slow_source_is_asked_twice),
		cmocka_unit_test(test_a_slow_source_is_asked_until_noise_is_ruled_out),
		cmocka_unit_test(test_a_busy_machine_is_not_a_slow_source),
		cmocka_unit_test(test_all_samples_are_to_fit_a_minute),
		cmocka_unit_test(test_blocks_tell_a_good_source_from_a_broken_one),
		cmocka_unit_test(test_a_signal_ends_it_after_the_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
