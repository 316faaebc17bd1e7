/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock of a session (teemark/ta_clock.h), in the bench TA; the digest TA's
 * is the same code, which model.c follows call by call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <tee_internal_api.h>
#include <teemark/ta_bench.h>
#include <teemark/ta_clock.h>

#include "shim.h"

#define CLOCK  TEE_PARAM_TYPES(1, 2, 2, 0)
#define RANDOM TEE_PARAM_TYPES(6, 1, 0, 0)

static TEE_Result invoke(void *session, uint32_t cmd, uint32_t types, TEE_Param *p)
{
	return TA_InvokeCommandEntryPoint(session, cmd, types, p);
}

static void *open_session(void)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };
	void *session = NULL;

	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
	return session;
}

/* Returns what was counted; hz is as it came out. */
static uint64_t clock_to(void *session, uint32_t clock, uint32_t *hz)
{
	TEE_Param p[TEE_NUM_PARAMS] = {
		{ .value = { clock, 0 } },
		{ .value = { 0xaaaaaaaa, 0xaaaaaaaa } },
		{ .value = { 0xaaaaaaaa, 0xaaaaaaaa } },
	};

	assert_int_equal(invoke(session, TA_CLOCK_CMD, CLOCK, p), TEE_SUCCESS);
	assert_int_equal(p[2].value.b, 0);
	*hz = p[2].value.a;
	return p[1].value.a | (uint64_t)p[1].value.b << 32;
}

static void nop(void *session)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };

	assert_int_equal(invoke(session, TA_BENCH_CMD_NOP, 0, p), TEE_SUCCESS);
}

/* A handler that works: as long as the bytes are many. */
static TEE_Result work(void *session, size_t bytes)
{
	static uint8_t out[4096];
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { out, bytes } }, { .value = { 1, 0 } } };

	return invoke(session, TA_BENCH_CMD_RANDOM, RANDOM, p);
}

static int setup(void **state)
{
	shim_counter_readings = 0;
	shim_counters_set(0);
	*state = open_session();
	return 0;
}

static int teardown(void **state)
{
	TA_CloseSessionEntryPoint(*state);
	assert_int_equal(shim_allocations, 0);
	return 0;
}

/* Where the TEE forbids the counter, a reading would end the TA. */
static void test_off_reads_no_counter(void **state)
{
	uint32_t hz = 1;

	for (int i = 0; i < 3; i++)
		nop(*state);
	assert_int_equal(work(*state, 100), TEE_SUCCESS);
	assert_int_equal(clock_to(*state, TA_CLOCK_OFF, &hz), 0);
	assert_int_equal(hz, 0);
	/* Nor does switching one on. */
	assert_int_equal(clock_to(*state, TA_CLOCK_VIRTUAL, &hz), 0);
	assert_int_equal(hz, 0);
	assert_int_equal(shim_counter_readings, 0);

	nop(*state);
	clock_to(*state, TA_CLOCK_OFF, &hz);
	shim_counter_readings = 0;
	nop(*state);
	assert_int_equal(clock_to(*state, TA_CLOCK_OFF, &hz), 0);
	assert_int_equal(shim_counter_readings, 0);
}

/* The handlers' time, from the first to the last, each with its own step. */
static void test_counts_handlers(void **state)
{
	static const uint32_t steps[] = {
		[TA_CLOCK_VIRTUAL] = SHIM_VIRTUAL_STEP, [TA_CLOCK_PHYSICAL] = SHIM_PHYSICAL_STEP
	};

	for (uint32_t clock = TA_CLOCK_VIRTUAL; clock <= TA_CLOCK_PHYSICAL; clock++) {
		uint32_t hz;

		clock_to(*state, clock, &hz);
		nop(*state);
		assert_int_equal(work(*state, 1000), TEE_SUCCESS);
		assert_int_equal(work(*state, 24), TEE_SUCCESS);
		/* Asked again it goes on, from nothing. */
		assert_int_equal(clock_to(*state, clock, &hz), steps[clock] * (3 + 1000 + 24));
		assert_int_equal(hz, SHIM_HZ);
		assert_int_equal(clock_to(*state, clock, &hz), 0);
		nop(*state);
		/* The last call's time goes with the switch. */
		assert_int_equal(clock_to(*state, TA_CLOCK_OFF, &hz), steps[clock]);
		assert_int_equal(hz, SHIM_HZ);
		assert_int_equal(clock_to(*state, TA_CLOCK_OFF, &hz), 0);
		assert_int_equal(hz, 0);
	}
}

static void test_from_one_to_the_other(void **state)
{
	uint32_t hz;

	shim_counters_set(5000000000);
	clock_to(*state, TA_CLOCK_VIRTUAL, &hz);
	nop(*state);
	assert_int_equal(clock_to(*state, TA_CLOCK_PHYSICAL, &hz), SHIM_VIRTUAL_STEP);
	nop(*state);
	nop(*state);
	assert_int_equal(clock_to(*state, TA_CLOCK_OFF, &hz), 2 * SHIM_PHYSICAL_STEP);
}

/* A call that fails in its handler took its time; one that is refused none. */
static void test_failures(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };
	uint32_t hz;

	clock_to(*state, TA_CLOCK_VIRTUAL, &hz);
	assert_int_equal(invoke(*state, TA_BENCH_CMD_STORAGE_CLOSE, 0, p), TEE_ERROR_BAD_STATE);
	assert_int_equal(invoke(*state, TA_BENCH_CMD_STORAGE_CLOSE, 1, p),
			 TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(invoke(*state, 99, 0, p), TEE_ERROR_NOT_SUPPORTED);
	assert_int_equal(clock_to(*state, TA_CLOCK_OFF, &hz), SHIM_VIRTUAL_STEP);
}

/* A clock that there is not changes nothing, and says nothing. */
static void test_unknown_clocks(void **state)
{
	static const uint32_t unknown[] = { 3, 4, 0x80000001, UINT32_MAX };
	uint32_t hz;

	clock_to(*state, TA_CLOCK_PHYSICAL, &hz);
	nop(*state);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		TEE_Param p[TEE_NUM_PARAMS] = {
			{ .value = { unknown[i], 0 } },
			{ .value = { 21, 22 } },
			{ .value = { 23, 24 } },
		};

		assert_int_equal(invoke(*state, TA_CLOCK_CMD, CLOCK, p), TEE_ERROR_BAD_PARAMETERS);
		assert_int_equal(p[1].value.a, 21);
		assert_int_equal(p[1].value.b, 22);
		assert_int_equal(p[2].value.a, 23);
		assert_int_equal(p[2].value.b, 24);
	}
	assert_int_equal(clock_to(*state, TA_CLOCK_OFF, &hz), SHIM_PHYSICAL_STEP);
}

/* Ticks of 33 bits and more come out whole. */
static void test_long_times(void **state)
{
	enum { TIMES = TA_WORK_RANDOM_MAX / 2048 };
	uint64_t bytes = 0;
	uint32_t hz;

	clock_to(*state, TA_CLOCK_VIRTUAL, &hz);
	while (bytes * SHIM_VIRTUAL_STEP <= UINT64_C(3) << 32) {
		static uint8_t out[2048];
		TEE_Param p[TEE_NUM_PARAMS] = {
			{ .memref = { out, sizeof(out) } },
			{ .value = { TIMES, 0 } },
		};

		assert_int_equal(invoke(*state, TA_BENCH_CMD_RANDOM, RANDOM, p), TEE_SUCCESS);
		bytes += TIMES * sizeof(out);
		if (bytes == TIMES * sizeof(out))
			shim_counters_set(UINT64_MAX - 5); /* it wraps, too */
	}
	assert_int_equal(clock_to(*state, TA_CLOCK_OFF, &hz),
			 bytes * SHIM_VIRTUAL_STEP + bytes / (TIMES * 2048) * SHIM_VIRTUAL_STEP);
}

/* All 65,536 types, with every clock. */
static void test_every_parameter_type(void **state)
{
	for (uint32_t clock = 0; clock <= TA_CLOCK_PHYSICAL; clock++) {
		size_t accepted = 0;
		uint32_t hz;

		clock_to(*state, clock, &hz);
		for (uint32_t types = 0; types < 65536; types++) {
			TEE_Param p[TEE_NUM_PARAMS] = { 0 };
			TEE_Result res;

			p[0].value.a = clock;
			for (int i = 0; i < TEE_NUM_PARAMS; i++)
				if (TEE_PARAM_TYPE_GET(types, i) > 3)
					p[i].memref.size = 64;
			res = invoke(*state, TA_CLOCK_CMD, types, p);
			accepted += res == TEE_SUCCESS;
			assert_true(res == TEE_SUCCESS || res == TEE_ERROR_BAD_PARAMETERS);
		}
		assert_int_equal(accepted, 1);
	}
}

static void test_sessions_are_apart(void **state)
{
	void *other = open_session();
	uint32_t hz;

	clock_to(*state, TA_CLOCK_VIRTUAL, &hz);
	nop(other);
	assert_int_equal(clock_to(other, TA_CLOCK_OFF, &hz), 0);
	assert_int_equal(hz, 0);
	nop(*state);
	nop(other);
	assert_int_equal(clock_to(*state, TA_CLOCK_OFF, &hz), SHIM_VIRTUAL_STEP);
	TA_CloseSessionEntryPoint(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_off_reads_no_counter),  TEST(test_counts_handlers),
		TEST(test_from_one_to_the_other), TEST(test_failures),
		TEST(test_unknown_clocks),        TEST(test_long_times),
		TEST(test_every_parameter_type),  TEST(test_sessions_are_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
