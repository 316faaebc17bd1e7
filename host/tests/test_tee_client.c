/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests what people read when the TEE doesn't do what they want. */
#include "harness.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_device.h"
#include "tee_client.h"

static const TEEC_UUID uuid = { 1, 2, 3, { 4 } };

static int open_it(struct tee_session **s, struct error *err)
{
	memset(err, 0, sizeof(*err));
	return tee_session_open(s, &uuid, "the test TA", err);
}

/* Runs first: no session could be opened yet in this process. */
static void test_no_answer_is_not_waited_for(void **state)
{
	static const struct {
		enum supplicant supplicant;
		const char *what, *hint;
	} cases[] = {
		{ SUPPLICANT_ABSENT, "tee-supplicant is not running", "start it" },
		{ SUPPLICANT_STOPPED, "tee-supplicant is stopped", "kill -CONT" },
		{ SUPPLICANT_RUNNING, "no answer within 1 s", "start it" },
	};
	struct tee_session *s;
	struct error err;

	(void)state;
	setenv("TEEMARK_TEE_TIMEOUT", "1", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned opens = fake->opens;

		fake->hang = 1;
		fake_supplicant = cases[i].supplicant;
		assert_int_equal(open_it(&s, &err), -ETIMEDOUT);
		assert_null(s);
		assert_string_equal(err.skip, "no-supplicant");
		assert_non_null(strstr(err.what, cases[i].what));
		assert_non_null(strstr(err.hint, cases[i].hint));
		fake->hang = 0;
		while (fake->opens == opens) /* the one that hung goes, before the next one hangs */
			sched_yield();
	}
	unsetenv("TEEMARK_TEE_TIMEOUT");
}

static void test_refusals_are_told_apart(void **state)
{
	static const struct {
		uint32_t result;
		int code;
		enum supplicant supplicant;
		const char *skip, *what, *hint;
	} cases[] = {
		{ TEEC_ERROR_ITEM_NOT_FOUND, -ENOENT, SUPPLICANT_RUNNING, "no-ta",
		  "TEE_ERROR_ITEM_NOT_FOUND", "00000001-0002-0003-0400-000000000000.ta" },
		{ TEEC_ERROR_ITEM_NOT_FOUND, -ENOENT, SUPPLICANT_ABSENT, "no-ta", "the test TA",
		  "start tee-supplicant" },
		{ TEEC_ERROR_SECURITY, -EKEYREJECTED, SUPPLICANT_RUNNING, "ta-rejected",
		  "TEE_ERROR_SECURITY", "sign" },
		{ TEEC_ERROR_COMMUNICATION, -ECOMM, SUPPLICANT_ABSENT, "no-supplicant",
		  "TEE_ERROR_COMMUNICATION", "start tee-supplicant" },
		{ TEEC_ERROR_OUT_OF_MEMORY, -ENOMEM, SUPPLICANT_RUNNING, NULL,
		  "TEE_ERROR_OUT_OF_MEMORY", "fewer sessions" },
		{ TEEC_ERROR_TARGET_DEAD, -EHOSTDOWN, SUPPLICANT_RUNNING, NULL,
		  "TEE_ERROR_TARGET_DEAD", "secure console" },
		{ TEEC_ERROR_BUSY, -EBUSY, SUPPLICANT_RUNNING, NULL, "TEE_ERROR_BUSY",
		  "try again" },
	};
	struct tee_session *s;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fake->open = cases[i].result;
		fake->origin = TEEC_ORIGIN_TEE;
		fake_supplicant = cases[i].supplicant;
		assert_int_equal(open_it(&s, &err), cases[i].code);
		assert_null(s);
		if (cases[i].skip)
			assert_string_equal(err.skip, cases[i].skip);
		else
			assert_null(err.skip);
		assert_non_null(strstr(err.what, cases[i].what));
		assert_non_null(strstr(err.what, "from: TEE"));
		assert_non_null(strstr(err.hint, cases[i].hint));
		assert_int_equal(err.tee_result, cases[i].result);
	}
	fake_is_closed();
}

static void test_no_context(void **state)
{
	struct tee_session *s;
	struct error err;

	(void)state;
	fake->initialize = TEEC_ERROR_ITEM_NOT_FOUND;
	assert_int_equal(open_it(&s, &err), -ENOENT);
	assert_non_null(strstr(err.what, "cannot connect to the TEE"));
	assert_int_equal(fake->contexts, 0);
}

static void test_a_session(void **state)
{
	TEEC_Operation op = { 0 };
	TEEC_SharedMemory *shm;
	struct tee_session *s;
	struct error err;

	(void)state;
	assert_int_equal(open_it(&s, &err), 0);
	assert_true(s->context_ns > 0);
	assert_true(s->open_ns > 0);
	assert_int_equal(fake->contexts, 1);
	assert_int_equal(fake->sessions, 1);

	assert_int_equal(tee_invoke(s, 1, &op, "do it", &err), 0);
	fake->invoke = TEEC_ERROR_TARGET_DEAD;
	fake->origin = TEEC_ORIGIN_TEE;
	assert_int_equal(tee_invoke(s, 1, &op, "do it", &err), -EHOSTDOWN);
	assert_non_null(strstr(err.what, "cannot do it: TEE_ERROR_TARGET_DEAD"));

	assert_int_equal(tee_shm_alloc(s, 4096, TEEC_MEM_INPUT, &shm, &err), 0);
	assert_non_null(shm->buffer);
	tee_shm_free(s, shm);
	fake->allocate = TEEC_ERROR_OUT_OF_MEMORY;
	assert_int_equal(tee_shm_alloc(s, 4096, TEEC_MEM_INPUT, &shm, &err), -ENOMEM);
	assert_null(shm);
	assert_non_null(strstr(err.what, "4096 bytes"));
	tee_shm_free(s, NULL);

	tee_session_close(s);
	tee_session_close(NULL);
	fake_is_closed();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_no_answer_is_not_waited_for, fake_reset),
		cmocka_unit_test_setup(test_refusals_are_told_apart, fake_reset),
		cmocka_unit_test_setup(test_no_context, fake_reset),
		cmocka_unit_test_setup(test_a_session, fake_reset),
	};

	return cmocka_run_group_tests(tests, fake_find, NULL);
}
