/* SPDX-License-Identifier: BSD-2-Clause */
/* Who did the work: interrupts that come with the calls, beside those of the idle machine. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "json.h"
#include "witness.h"

uint64_t __wrap_clock_now_ns(void);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
			   struct timespec *rest);
int __wrap_interrupts_read(struct interrupts *read, struct error *err);

static uint64_t now;
/* A device that calls raise, a timer that time raises, and a line that nothing raises. */
static uint64_t device = 1000000, calls_per_interrupt;
static uint64_t timer_each_ns;
static uint64_t call_ns;
static uint64_t calls_made;

uint64_t __wrap_clock_now_ns(void)
{
	return now;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
			   struct timespec *rest)
{
	(void)clock;
	(void)flags;
	(void)rest;
	now += (uint64_t)wanted->tv_nsec;
	return 0;
}

int __wrap_interrupts_read(struct interrupts *read, struct error *err)
{
	const struct interrupt_line lines[] = {
		{ "40", "GIC 72 omap-sham", device },
		{ "11", "GIC 27 arch_timer", now / timer_each_ns },
		{ "9", "GIC 5 quiet", 77 },
	};

	(void)err;
	read->list = malloc(sizeof(lines));
	assert_non_null(read->list);
	memcpy(read->list, lines, sizeof(lines));
	read->count = 3;
	return 0;
}

static int run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	(void)c;
	(void)repeat;
	(void)err;
	now += loops * call_ns;
	calls_made += loops;
	if (calls_per_interrupt)
		device += loops / calls_per_interrupt;
	return 0;
}

/* Watches calls of 100 us; the timer rises each `timer_ns`, the device each n-th call. */
static void watch(uint64_t timer_ns, uint64_t n, struct idle_evidence *idle, struct evidence *found)
{
	const struct measure m = { .now_ns = __wrap_clock_now_ns };
	const struct measure_target target = { .run = run };
	struct error err = { 0 };

	now = 5000000000;
	call_ns = 100000;
	timer_each_ns = timer_ns;
	calls_per_interrupt = n;
	calls_made = 0;
	*idle = (struct idle_evidence){ 0 };
	*found = (struct evidence){ 0 };
	witness_idle(idle);
	assert_int_equal(idle->ns, 20000000);
	assert_int_equal(witness_calls(&m, &target, 1, call_ns, idle, found, &err), 0);
	assert_true(found->known);
}

static void forget(struct idle_evidence *idle, struct evidence *found)
{
	witness_free(found);
	interrupts_free(&idle->raised);
}

/* A second stretch asks who else worked; it is made only where a line rises with the calls. */
static void test_a_line_that_rises_with_the_calls_is_looked_into(void **state)
{
	static const struct {
		uint64_t timer_ns, n;
		bool shown;
	} rows[] = {
		{ 4000000, 0, false },                        /* the timer alone, as when idle */
		{ 4000000, 2, true },                         /* an interrupt for two calls */
		{ 4000000, 7, true },  { 4000000, 9, false }, /* too few to tell */
		{ 10000, 0, false }, /* a fast timer: ten for each call, and as many when idle */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct idle_evidence idle;
		struct evidence found;

		watch(rows[i].timer_ns, rows[i].n, &idle, &found);
		assert_int_equal(found.calls, 200);
		assert_int_equal(calls_made, rows[i].shown ? 400 : 200);
		forget(&idle, &found);
	}
}

/* A slow stretch has more of the idle machine's interrupts than 20 ms have. */
static void test_idle_interrupts_are_those_of_as_long_a_time(void **state)
{
	struct idle_evidence idle;
	struct evidence found;
	const struct measure m = { .now_ns = __wrap_clock_now_ns };
	const struct measure_target target = { .run = run };
	struct error err = { 0 };

	(void)state;
	watch(1000000, 0, &idle, &found);
	forget(&idle, &found);
	/* 8 calls of 20 ms: 160 interrupts of the timer, and 20 in the idle time. */
	idle = (struct idle_evidence){ 0 };
	call_ns = 20000000;
	witness_idle(&idle);
	calls_made = 0;
	assert_int_equal(witness_calls(&m, &target, 1, call_ns, &idle, &found, &err), 0);
	assert_int_equal(calls_made, 8);
	forget(&idle, &found);
}

static void test_the_record_has_what_rose(void **state)
{
	struct idle_evidence idle;
	struct evidence found;
	struct json j = { 0 };

	(void)state;
	watch(5000000, 2, &idle, &found);
	json_object(&j, NULL);
	witness_put(&j, &found, &idle);
	json_object_end(&j);
	assert_non_null(strstr(j.text, "\"calls\":200,\"ns\":20000000,"));
	assert_non_null(strstr(j.text, "\"idle_ns\":20000000,\"interrupts\":["
				       "{\"line\":\"40\",\"name\":\"GIC 72 omap-sham\","
				       "\"count\":100,\"idle\":0},"
				       "{\"line\":\"11\",\"name\":\"GIC 27 arch_timer\","
				       "\"count\":4,\"idle\":4}]"));
	json_free(&j);
	forget(&idle, &found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_that_rises_with_the_calls_is_looked_into),
		cmocka_unit_test(test_idle_interrupts_are_those_of_as_long_a_time),
		cmocka_unit_test(test_the_record_has_what_rose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
