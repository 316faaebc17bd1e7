/* SPDX-License-Identifier: BSD-2-Clause */
/* How long it takes to find out that a random source is slow, and that it isn't. */
#include "harness.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "pool.h"
#include "stop.h"
#include "workloads.h"

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

/* Prepares a case of 1 MiB; returns 0, or the word of the skip. */
static const char *prepare(uint64_t (*costs)(size_t len), unsigned at)
{
	const struct workload *rng = workload_by_name("rng");
	struct backend source = *backend_by_name("getrandom");
	struct bench_case c = {
		.workload = rng,
		.backend = &source,
		.bytes = 1 << 20,
		.options = { .samples = 3 },
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
		cmocka_unit_test(test_a_signal_ends_it_after_the_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
