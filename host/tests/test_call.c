/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of any TA: what a description may say, and that nothing wrong that
 * comes back is taken for a result.
 */
#include "harness.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/digest.h>

#include "call.h"
#include "cases.h"
#include "fake_device.h"
#include "pool.h"
#include "tee_client.h"

#define UUID  "8aaaf200-2450-11e4-abe2-0002a5d5c51b"
#define OK    ":0x00000000"
#define SHORT ":0xffff0010"

/* The TA */

enum {
	INCREMENT,
	COPY,
	HASH,
	DIE,
	INVERT, /* in place */
	NOTHING,
	COUNT, /* another value every time */
	PREPARE,
	PREPARED,  /* not before PREPARE */
	BOAST,     /* a size that nobody asked for */
	HALF_COPY, /* the first half of the bytes, and then nothing */
};

static unsigned calls[16];
static bool dead, is_prepared;

static bool partial(const TEEC_Operation *op, unsigned i)
{
	return TEEC_PARAM_TYPE_GET(op->paramTypes, i) >= TEEC_MEMREF_WHOLE;
}

static uint8_t *data(const TEEC_Operation *op, unsigned i)
{
	return partial(op, i) ? op->params[i].memref.parent->buffer : op->params[i].tmpref.buffer;
}

static size_t *size(TEEC_Operation *op, unsigned i)
{
	return partial(op, i) ? &op->params[i].memref.size : &op->params[i].tmpref.size;
}

static TEEC_Result copy(TEEC_Operation *op)
{
	size_t n = *size(op, 0), room = *size(op, 1);

	*size(op, 1) = n;
	if (room < n)
		return TEEC_ERROR_SHORT_BUFFER;
	if (n)
		memcpy(data(op, 1), data(op, 0), n);
	return TEEC_SUCCESS;
}

static TEEC_Result hash(TEEC_Operation *op)
{
	const struct algorithm *alg = algorithm_by_name("sha256");
	const struct digest_class *class = digest_class_find(DIGEST_CODE_C, alg->id);
	union digest_ctx ctx;

	class->init(&ctx);
	class->update(&ctx, data(op, 0), *size(op, 0));
	class->final(&ctx, data(op, 1));
	return TEEC_SUCCESS;
}

static TEEC_Result answer(uint32_t command, TEEC_Operation *op)
{
	assert_true(command < 16);
	if (dead)
		return TEEC_ERROR_TARGET_DEAD;
	calls[command]++;
	switch (command) {
	case INCREMENT:
		assert_int_equal(op->paramTypes, TEEC_VALUE_INOUT);
		op->params[0].value.a++;
		return TEEC_SUCCESS;
	case COPY:
		return copy(op);
	case HASH:
		return hash(op);
	case DIE:
		dead = true;
		return TEEC_ERROR_TARGET_DEAD;
	case INVERT:
		for (size_t i = 0; i < *size(op, 0); i++)
			data(op, 0)[i] ^= 0xff;
		return TEEC_SUCCESS;
	case NOTHING:
		return TEEC_SUCCESS;
	case COUNT:
		op->params[0].value.a = calls[COUNT];
		return TEEC_SUCCESS;
	case PREPARE:
		is_prepared = true;
		return TEEC_SUCCESS;
	case PREPARED:
		return is_prepared ? TEEC_SUCCESS : TEEC_ERROR_BAD_STATE;
	case BOAST:
		*size(op, 0) = 1000;
		return TEEC_SUCCESS;
	case HALF_COPY:
		memcpy(data(op, 1), data(op, 0), *size(op, 0) / 2);
		return TEEC_SUCCESS;
	default:
		return TEEC_ERROR_NOT_SUPPORTED;
	}
}

static int reset(void **state)
{
	fake_reset(state);
	memset(calls, 0, sizeof(calls));
	dead = is_prepared = false;
	fake->origin = TEEC_ORIGIN_TRUSTED_APP;
	fake->answer = answer;
	return 0;
}

/* One case */

static const struct case_options defaults = {
	.samples = 3,
	.repeats = { 1 },
	.n_repeats = 1,
};

/* Measures as the measuring core does; returns 0 if all samples were right. */
static int measure(struct bench_case *c, struct pool *pool, struct error *err)
{
	uint32_t loops = c->loops_max == 1 ? 1 : 3;
	int ret = case_prepare(c, pool, err);

	if (!ret)
		ret = case_ready(c, 1, err);
	if (!ret)
		ret = case_run(c, 1, 1, err);
	if (!ret)
		ret = case_verify(c, err);
	for (int i = 0; !ret && i < 3; i++) {
		ret = case_ready(c, loops, err);
		if (!ret)
			ret = case_run(c, loops, 1, err);
		if (!ret)
			ret = case_check(c, err);
	}
	return ret;
}

static int measure_text(const char *parameters, const char *call, struct error *err)
{
	struct cases cases = { 0 };
	struct pool pool = { 0 };
	char line[4096];
	int ret;

	snprintf(line, sizeof(line), "call/x/tee/%s call=%s;%s", parameters, UUID, call);
	ret = cases_add_line(&cases, line, 1, &defaults, err);
	if (!ret)
		ret = cases_expand(&cases, err);
	if (!ret)
		ret = case_parse(&cases.list[0], &pool, err);
	if (!ret)
		ret = measure(&cases.list[0], &pool, err);
	if (cases.count)
		case_teardown(&cases.list[0]);
	pool_close(&pool);
	cases_free(&cases);
	fake_is_closed();
	return ret;
}

static void right(const char *parameters, const char *call)
{
	struct error err = { 0 };

	if (measure_text(parameters, call, &err))
		fail_msg("%s: %s", call, err.what);
}

static void wrong(const char *call, const char *said)
{
	struct error err = { 0 };

	dead = false;
	assert_int_not_equal(measure_text("none", call, &err), 0);
	if (!strstr(err.what, said))
		fail_msg("%s: %s", call, err.what);
}

static void test_right_results(void **state)
{
	static const char *const kinds[] = { "temporary", "allocated" };
	char text[256];

	(void)state;
	right("none", "run:0" OK ";value-inout:41:7:42:7");
	right("none", "run:0" OK ";value-inout:4294967295:0:0:any;none");
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
			 "run:1" OK ";memory-in:%s:5000:message;memory-out:%s:6000:message:5000",
			 kinds[i], kinds[i]);
		right("5000", text);
		snprintf(text, sizeof(text),
			 "run:2" OK ";memory-in:%s:0:message;memory-out:%s:32:sha256-of-0:any",
			 kinds[i], kinds[i]);
		right("0", text);
		snprintf(text, sizeof(text),
			 "run:4" OK ";memory-inout:%s:3:hex-00f0ff:hex-ff0f00:3", kinds[i]);
		right("3", text);
		snprintf(text, sizeof(text), "run:4" OK ";memory-inout:%s:100:fill-0f:fill-f0:100",
			 kinds[i]);
		right("100", text);
	}
	/* The digests of the empty message, and of bytes that come back. */
	right("none", "run:1" OK ";memory-in:temporary:3:hex-616263;"
		      "memory-out:temporary:3:digest-ba7816bf8f01cfea414140de"
		      "5dae2223b00361a396177a9cb410ff61f20015ad:3");
	right("none", "run:1" SHORT ";memory-in:temporary:8:message;memory-out:temporary:0:any:8");
	right("none", "run:5" OK);
	assert_int_equal(calls[NOTHING], 1 + 3 * 3);
	right("none", "setup:7" OK ";before:5" OK ";run:8" OK);
	assert_int_equal(calls[PREPARE], 1);
	assert_int_equal(calls[PREPARED], 1 + 3);
	assert_int_equal(calls[NOTHING], 1 + 3 * 3 + 1 + 3);
}

static void test_wrong_results(void **state)
{
	(void)state;
	wrong("run:0" OK ";value-inout:41:7:43:7", "value a of p0 is 42, not 43");
	wrong("run:0" OK ";value-inout:41:7:42:8", "value b of p0 is 7, not 8");
	wrong("run:15" OK, "command 15 failed: TEE_ERROR_NOT_SUPPORTED");
	wrong("run:5:0xffff0006", "command 5 succeeded, where the result TEE_ERROR_BAD_PARAMETERS");
	wrong("run:15:0xffff0006", "doesn't return TEE_ERROR_BAD_PARAMETERS");
	wrong("setup:15" OK ";run:5" OK, "set-up command 15 failed");
	wrong("run:8" OK, "TEE_ERROR_BAD_STATE");
	wrong("run:3" OK, "TEE_ERROR_TARGET_DEAD");
	wrong("run:1" OK ";memory-in:temporary:3:hex-616263;memory-out:temporary:3:hex-616264:3",
	      "byte 2 of p1 is 63, not 64");
	wrong("run:1" OK ";memory-in:temporary:3:hex-616263;memory-out:temporary:8:hex-61626364:4",
	      "the size of p1 is 3, not 4");
	wrong("run:1" OK ";memory-in:temporary:3:hex-616263;"
	      "memory-out:temporary:3:digest-aa7816bf8f01cfea414140de"
	      "5dae2223b00361a396177a9cb410ff61f20015ad:3",
	      "have the SHA-256 ba7816bf");
	/* It writes nothing: what was there must not do. */
	wrong("run:5" OK ";memory-out:temporary:4:fill-a5:4", "byte 0 of p0 is 5a");
	wrong("run:10" OK ";memory-in:temporary:64:message;memory-out:temporary:64:message:64",
	      "byte 32 of p1");
	wrong("run:9" OK ";memory-out:temporary:4:any:4", "the size of p0 is 1000, not 4");
	wrong("run:9" OK ";memory-out:temporary:4:digest-ba7816bf8f01cfea414140"
	      "de5dae2223b00361a396177a9cb410ff61f20015ad:any",
	      "has 1000 bytes, and room for 4");
	/* Right at first, and then not. */
	wrong("run:6" OK ";value-out:1:any", "value a of p0 is");
	/* The result of another than the TA. */
	fake->origin = TEEC_ORIGIN_TEE;
	wrong("run:1" SHORT ";memory-in:temporary:8:message;memory-out:temporary:0:any:8",
	      "from the trusted application");
}

/* Another case goes on in a new session. */
static void test_a_ta_that_dies_takes_no_other_case_along(void **state)
{
	static const char *const lines[] = {
		"call/good/tee/none call=" UUID ";run:5" OK,
		"call/bad/tee/none call=" UUID ";run:3" OK,
	};
	struct cases cases = { 0 };
	struct pool pool = { 0 };
	struct error err = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(cases_add_line(&cases, lines[i], 1, &defaults, &err), 0);
		assert_int_equal(case_parse(&cases.list[i], &pool, &err), 0);
	}
	assert_int_equal(measure(&cases.list[0], &pool, &err), 0);
	assert_int_equal(fake->sessions, 1);
	assert_int_not_equal(measure(&cases.list[1], &pool, &err), 0);
	assert_int_equal(fake->sessions, 1);
	dead = false; /* as a new session finds it */
	assert_int_equal(case_ready(&cases.list[0], 1, &err), 0);
	assert_int_equal(case_run(&cases.list[0], 1, 1, &err), 0);
	for (int i = 0; i < 2; i++)
		case_teardown(&cases.list[i]);
	assert_int_equal(fake->sessions, 0);
	pool_close(&pool);
	cases_free(&cases);
}

static void test_no_such_ta(void **state)
{
	struct error err = { 0 };

	(void)state;
	fake->open = TEEC_ERROR_ITEM_NOT_FOUND;
	assert_int_not_equal(measure_text("none", "run:5" OK, &err), 0);
	assert_string_equal(err.skip, "no-ta");
}

static void test_bad_descriptions(void **state)
{
	static const char *const bad[] = {
		"",
		"8aaaf200-2450-11e4-abe2-0002a5d5c51",
		UUID,
		UUID ";none",
		UUID ";setup:1" OK,
		UUID ";run:1",
		UUID ";run:1:x",
		UUID ";run:1:",
		UUID ";run:4294967296" OK,
		UUID ";run:-1" OK,
		UUID ";run: 1" OK,
		UUID ";run:1" OK ":1",
		UUID ";run:1" OK ";run:1" OK,
		UUID ";run:1" OK ";none;none;none;none;none",
		UUID ";run:1" OK ";float:1",
		UUID ";run:1" OK ";memory-up:1",
		UUID ";run:1" OK ";",
		UUID ";run:1" OK ";value-in:1",
		UUID ";run:1" OK ";value-in:1:2:3",
		UUID ";run:1" OK ";value-out:1",
		UUID ";run:1" OK ";memory-in",
		UUID ";run:1" OK ";memory-in:paged:1:message",
		UUID ";run:1" OK ";memory-in:temporary:1:noise",
		UUID ";run:1" OK ";memory-in:temporary:1:any",
		UUID ";run:1" OK ";memory-in:temporary:1:hex-0",
		UUID ";run:1" OK ";memory-in:temporary:1:hex-0000",
		UUID ";run:1" OK ";memory-in:temporary:1:fill-000",
		UUID ";run:1" OK ";memory-in:temporary:67108865:message",
		UUID ";run:1" OK ";memory-out:temporary:4:md5-of-0:any",
		UUID ";run:1" OK ";memory-out:temporary:64:sha256-of-4:any",
		UUID ";run:1" OK ";memory-out:temporary:64:sha256-of-0:any",
		UUID ";run:1" OK ";memory-out:temporary:64:sha256-of-1:any;value-in:1:1",
		UUID ";run:1" OK ";memory-out:temporary:4:sha256-of-1:any;"
		     "memory-in:temporary:1:message",
		UUID ";run:1" OK ";memory-out:temporary:4:hex-00:2",
		UUID ";run:1" OK ";memory-out:temporary:4:message:5",
		UUID ";run:1" OK ";memory-out:temporary:4:message:any",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = { 0 };
		struct call call;

		if (call_parse(&call, bad[i], &err) != -EINVAL)
			fail_msg("%s is taken", bad[i]);
		call_free(&call);
	}
}

static void test_a_case_line_says_what_to_call(void **state)
{
	static const struct {
		const char *line, *said;
	} bad[] = {
		{ "call/x/tee/none", "isn't said" },
		{ "call/x/c/none call=" UUID ";run:1" OK, "backend tee only" },
		{ "call/x/tee/1k call=" UUID ";run:1" OK, "not a decimal" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cases cases = { 0 };
		struct pool pool = { 0 };
		struct error err = { 0 };

		assert_int_equal(cases_add_line(&cases, bad[i].line, 1, &defaults, &err), 0);
		assert_int_equal(case_parse(&cases.list[0], &pool, &err), -EINVAL);
		if (!strstr(err.what, bad[i].said))
			fail_msg("%s: %s", bad[i].line, err.what);
		cases_free(&cases);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_right_results, reset),
		cmocka_unit_test_setup(test_wrong_results, reset),
		cmocka_unit_test_setup(test_a_ta_that_dies_takes_no_other_case_along, reset),
		cmocka_unit_test_setup(test_no_such_ta, reset),
		cmocka_unit_test_setup(test_bad_descriptions, reset),
		cmocka_unit_test_setup(test_a_case_line_says_what_to_call, reset),
	};

	return cmocka_run_group_tests(tests, fake_find, NULL);
}
