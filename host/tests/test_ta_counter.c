/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding the counter that a TA may read, and asking a TA's clock. */
#include "harness.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <teemark/ta_probe.h>

#include "clock.h"
#include "fake_device.h"
#include "ta_counter.h"
#include "tee_client.h"

#define DEAD TEEC_ERROR_TARGET_DEAD

/* A counter as the probe TA has it. */
struct counter {
	TEEC_Result result;
	uint32_t hz;  /* as the firmware says */
	double speed; /* of what it really runs at */
};

static struct counter virtual, physical;
static unsigned asked_virtual, asked_physical;

static TEEC_Result answer_probe(uint32_t command, TEEC_Operation *op)
{
	bool is_virtual = command == TA_PROBE_CMD_COUNTER_VIRTUAL;
	const struct counter *c = is_virtual ? &virtual : &physical;
	/* Far from 0, and through the 32 bits of a value. */
	uint64_t count =
		(uint64_t)((double)clock_now_ns() / 1e9 * c->speed * c->hz) + (UINT64_C(1) << 52);

	asked_virtual += is_virtual;
	asked_physical += !is_virtual;
	assert_int_equal(op->paramTypes, TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT, TEEC_VALUE_OUTPUT,
							  TEEC_NONE, TEEC_NONE));
	op->params[0].value.a = (uint32_t)count;
	op->params[0].value.b = (uint32_t)(count >> 32);
	op->params[1].value.a = c->hz;
	return c->result;
}

static int reset(void **state)
{
	fake_reset(state);
	fake->origin = TEEC_ORIGIN_TEE;
	fake->answer = answer_probe;
	virtual = physical = (struct counter){ 0, 62500000, 1.0 };
	asked_virtual = asked_physical = 0;
	return 0;
}

static void test_the_virtual_one(void **state)
{
	static const uint32_t rates[] = { 1000000, 19200000, 62500000, 1000000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		struct ta_counter counter;

		virtual.hz = rates[i];
		ta_counter_find(&counter);
		assert_int_equal(counter.clock, TA_CLOCK_VIRTUAL);
		assert_int_equal(counter.hz, rates[i]);
		assert_string_equal(counter.reason, "");
		fake_is_closed();
	}
	/* Its being readable is enough: the other is left alone. */
	assert_int_equal(asked_physical, 0);
}

static void test_else_the_physical_one(void **state)
{
	struct ta_counter counter;

	(void)state;
	virtual.result = DEAD;
	ta_counter_find(&counter);
	assert_int_equal(counter.clock, TA_CLOCK_PHYSICAL);
	assert_int_equal(counter.hz, 62500000);
	/* An instance that died is asked no more. */
	assert_int_equal(asked_virtual, 1);
	fake_is_closed();
}

static void test_both_forbidden(void **state)
{
	struct ta_counter counter;

	(void)state;
	virtual.result = physical.result = DEAD;
	ta_counter_find(&counter);
	assert_int_equal(counter.clock, TA_CLOCK_OFF);
	assert_non_null(strstr(counter.reason, "ends a TA that reads"));
	assert_int_equal(asked_virtual, 1);
	assert_int_equal(asked_physical, 1);
	fake_is_closed();
}

/* The counter must count time: another speed, no speed, none at all are refused. */
static void test_not_in_step(void **state)
{
	static const double speeds[] = { 0.0, 0.5, 0.9, 1.1, 2.0, 1000.0 };
	struct ta_counter counter;

	(void)state;
	physical.result = DEAD;
	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		/* On a busy machine the bounds are wide for those close by. */
		for (int tries = 0; tries < 5; tries++) {
			virtual.speed = speeds[i];
			ta_counter_find(&counter);
			fake_is_closed();
			if (!counter.clock)
				break;
		}
		assert_int_equal(counter.clock, TA_CLOCK_OFF);
		assert_non_null(strstr(counter.reason, "CNTVCT_EL0"));
		assert_non_null(strstr(counter.reason, "not in step"));
	}
	physical.result = 0;
	ta_counter_find(&counter);
	assert_int_equal(counter.clock, TA_CLOCK_PHYSICAL);
}

static void test_no_frequency(void **state)
{
	struct ta_counter counter;

	(void)state;
	virtual.hz = physical.hz = 0;
	ta_counter_find(&counter);
	assert_int_equal(counter.clock, TA_CLOCK_OFF);
	assert_non_null(strstr(counter.reason, "CNTFRQ_EL0 is 0"));
	fake_is_closed();
}

static void test_nobody_to_ask(void **state)
{
	static const struct {
		uint32_t result;
		const char *said;
	} troubles[] = {
		{ TEEC_ERROR_ITEM_NOT_FOUND, "with the probe TA" },
		{ TEEC_ERROR_SECURITY, "with the probe TA" },
		{ TEEC_ERROR_OUT_OF_MEMORY, "TEE_ERROR_OUT_OF_MEMORY" },
	};
	struct ta_counter counter;

	(void)state;
	for (size_t i = 0; i < sizeof(troubles) / sizeof(*troubles); i++) {
		fake->open = troubles[i].result;
		ta_counter_find(&counter);
		assert_int_equal(counter.clock, TA_CLOCK_OFF);
		assert_non_null(strstr(counter.reason, troubles[i].said));
		fake_is_closed();
	}
	assert_int_equal(asked_virtual + asked_physical, 0);
	fake->open = 0;
	virtual.result = TEEC_ERROR_NOT_SUPPORTED;
	ta_counter_find(&counter);
	assert_int_equal(counter.clock, TA_CLOCK_OFF);
	assert_non_null(strstr(counter.reason, "TEE_ERROR_NOT_SUPPORTED"));
	assert_int_equal(asked_physical, 0);
	fake_is_closed();
}

static void test_nobody_is_waited_for(void **state)
{
	static const enum supplicant away[] = { SUPPLICANT_ABSENT, SUPPLICANT_STOPPED };
	struct ta_counter counter;

	(void)state;
	fake->hang = 1;
	for (size_t i = 0; i < sizeof(away) / sizeof(*away); i++) {
		fake_supplicant = away[i];
		ta_counter_find(&counter);
		assert_int_equal(counter.clock, TA_CLOCK_OFF);
		assert_non_null(strstr(counter.reason, "tee-supplicant"));
	}
	fake->hang = 0;
	/* Where /proc tells nothing it is tried. */
	fake_supplicant = SUPPLICANT_UNKNOWN;
	ta_counter_find(&counter);
	assert_int_equal(counter.clock, TA_CLOCK_VIRTUAL);
	fake_is_closed();
}

static void test_ticks_to_ns(void **state)
{
	static const struct {
		uint32_t hz;
		uint64_t ticks, ns;
	} known[] = {
		{ 62500000, 1, 16 },
		{ 62500000, UINT64_C(62500000) * 86400, UINT64_C(86400000000000) },
		{ 19200000, 1, 52 },
		{ 19200000, 19200001, 1000000052 },
		{ 24000000, UINT64_C(24000000) * 300000000 + 23999999,
		  UINT64_C(300000000999999958) },
		{ UINT32_MAX, UINT32_MAX - 1u, 999999999 },
		{ 1, 3, UINT64_C(3000000000) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct ta_counter counter = { .clock = TA_CLOCK_VIRTUAL, .hz = known[i].hz };

		assert_int_equal(ta_counter_ns(&counter, known[i].ticks), known[i].ns);
	}
}

/* A TA with a clock: says what it was told before, and 5e9 ticks. */
static uint32_t told;
static uint32_t clock_hz;

static TEEC_Result answer_clock(uint32_t command, TEEC_Operation *op)
{
	const uint64_t ticks = UINT64_C(5000000000);

	if (command != TA_CLOCK_CMD)
		return TEEC_ERROR_NOT_SUPPORTED;
	assert_int_equal(op->paramTypes, TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, TEEC_VALUE_OUTPUT,
							  TEEC_VALUE_OUTPUT, TEEC_NONE));
	op->params[2].value.a = told ? clock_hz : 0;
	op->params[1].value.a = told ? (uint32_t)ticks : 0;
	op->params[1].value.b = told ? (uint32_t)(ticks >> 32) : 0;
	told = op->params[0].value.a;
	return TEEC_SUCCESS;
}

static TEEC_Result answer_nothing(uint32_t command, TEEC_Operation *op)
{
	(void)command;
	(void)op;
	return TEEC_ERROR_NOT_SUPPORTED;
}

static void test_the_clock_of_a_session(void **state)
{
	const struct ta_counter counter = { .clock = TA_CLOCK_PHYSICAL, .hz = 50000000 };
	static const TEEC_UUID uuid = { 1, 2, 3, { 4 } };
	struct error err = { 0 };
	struct tee_session *tee;
	uint64_t ns = 0;

	(void)state;
	fake->answer = answer_clock;
	told = TA_CLOCK_OFF;
	clock_hz = counter.hz;
	assert_int_equal(tee_session_open(&tee, &uuid, "the TA", &err), 0);
	assert_int_equal(ta_counter_start(&counter, tee, &err), 0);
	assert_int_equal(told, TA_CLOCK_PHYSICAL);
	assert_int_equal(ta_counter_stop(&counter, tee, &ns, &err), 0);
	assert_int_equal(ns, UINT64_C(100000000000));
	assert_int_equal(told, TA_CLOCK_OFF);

	/* Off says 0 Hz; another frequency would make other times. */
	assert_int_equal(ta_counter_stop(&counter, tee, &ns, &err), -EPROTO);
	assert_int_equal(ta_counter_start(&counter, tee, &err), 0);
	clock_hz = 49999999;
	assert_int_equal(ta_counter_stop(&counter, tee, &ns, &err), -EPROTO);
	assert_non_null(strstr(err.what, "49999999 Hz"));

	/* A TA that was built before there were clocks. */
	fake->answer = answer_nothing;
	assert_int_equal(ta_counter_start(&counter, tee, &err), -EOPNOTSUPP);
	tee_session_close(tee);
	fake_is_closed();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_virtual_one, reset),
		cmocka_unit_test_setup(test_else_the_physical_one, reset),
		cmocka_unit_test_setup(test_both_forbidden, reset),
		cmocka_unit_test_setup(test_not_in_step, reset),
		cmocka_unit_test_setup(test_no_frequency, reset),
		cmocka_unit_test_setup(test_nobody_to_ask, reset),
		cmocka_unit_test_setup(test_nobody_is_waited_for, reset),
		cmocka_unit_test_setup(test_ticks_to_ns, reset),
		cmocka_unit_test_setup(test_the_clock_of_a_session, reset),
	};

	return cmocka_run_group_tests(tests, fake_find, NULL);
}
