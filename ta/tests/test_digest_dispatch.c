/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands, their parameters, and the clock that may count them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <teemark/ta_clock.h>

#include "digest_client.h"

/* All 65,536 types of all commands, outside of a stream and within one. */
static void test_every_parameter_type(void **state)
{
	struct model *model = *state;
	size_t calls = 0, successes = 0;

	for (int streaming = 0; streaming < 2; streaming++) {
		for (uint32_t cmd = 0; cmd <= TA_DIGEST_CMD_STACK + 1; cmd++) {
			for (uint32_t types = 0; types < 65536; types++) {
				TEE_Param p[TEE_NUM_PARAMS];

				for (int i = 0; i < TEE_NUM_PARAMS; i++) {
					if (TEE_PARAM_TYPE_GET(types, i) < 5) {
						p[i].value.a = 1;
						p[i].value.b = 1;
						continue;
					}
					p[i].memref.buffer = message;
					p[i].memref.size = 64;
				}
				successes += model_invoke(model, cmd, types, p) == TEE_SUCCESS;
				calls++;
				if (streaming && cmd == TA_DIGEST_CMD_FINAL)
					init(model, 3, TA_DIGEST_IMPL_C);
			}
		}
		assert_int_equal(init(model, 3, TA_DIGEST_IMPL_C), TEE_SUCCESS);
	}
	assert_int_equal(calls, 2 * 8 * 65536);
	/* 7^4 of NOP, twice; INFO, ONESHOT, INIT, STATS; a stream's. */
	assert_int_equal(successes, 2 * 2401 + 2 * 4 + 5);
}

static TEE_Result clock_to(struct model *model, uint32_t clock)
{
	TEE_Param p[TEE_NUM_PARAMS] = { { .value = { clock, 0 } } };

	return model_invoke(model, TA_CLOCK_CMD, 0x0221, p);
}

/* The model knows how often its counter is read: by no call while it is off. */
static void test_with_a_clock(void **state)
{
	struct model *model = *state;

	for (uint32_t clock = 0; clock < 4; clock++) {
		assert_int_equal(clock_to(model, clock),
				 clock < 3 ? TEE_SUCCESS : TEE_ERROR_BAD_PARAMETERS);
		assert_int_equal(oneshot(model, 3, 0, 100, 64, 2), TEE_SUCCESS);
		assert_int_equal(oneshot(model, 99, 0, 100, 64, 2), TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(init(model, 3, 1), TEE_SUCCESS);
		assert_int_equal(update(model, 0, 1000), TEE_SUCCESS);
		assert_int_equal(final(model, 64), TEE_SUCCESS);
		assert_int_equal(final(model, 64), TEE_ERROR_BAD_STATE);
		assert_int_equal(stack(model), TEE_SUCCESS);
	}
	for (uint32_t types = 0; types < 65536; types++) {
		TEE_Param p[TEE_NUM_PARAMS] = { { .value = { 1, 1 } } };

		if ((types & 15) < 5)
			assert_int_equal(model_invoke(model, TA_CLOCK_CMD, types, p),
					 types == 0x0221 ? TEE_SUCCESS : TEE_ERROR_BAD_PARAMETERS);
	}
	assert_int_equal(clock_to(model, TA_CLOCK_OFF), TEE_SUCCESS);
}

static void test_types_beyond_four_parameters(void **state)
{
	static const uint32_t high[] = { 0x10000, 0x50000, 0x80000000, 0xffff0000 };
	struct model *model = *state;

	for (size_t i = 0; i < 4; i++) {
		for (uint32_t cmd = 0; cmd <= TA_DIGEST_CMD_STACK; cmd++) {
			TEE_Param p[TEE_NUM_PARAMS] = { 0 };

			assert_int_equal(model_invoke(model, cmd, high[i], p),
					 TEE_ERROR_BAD_PARAMETERS);
			assert_int_equal(model_invoke(model, cmd, high[i] | 0x0222, p),
					 TEE_ERROR_BAD_PARAMETERS);
		}
	}
}

static void test_unknown_commands(void **state)
{
	static const uint32_t cmds[] = { 7,     8,          255,        256,       65536,
					 65538, 0x7fffffff, 0x80000002, UINT32_MAX };

	for (size_t i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++) {
		TEE_Param p[TEE_NUM_PARAMS] = { 0 };

		assert_int_equal(model_invoke(*state, cmds[i], 0, p), TEE_ERROR_NOT_SUPPORTED);
	}
}

static void test_open_with_parameters(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };
	void *context = NULL;

	(void)state;
	for (uint32_t types = 1; types < 65536; types++)
		assert_int_equal(TA_OpenSessionEntryPoint(types, p, &context),
				 TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(TA_OpenSessionEntryPoint(0x10000, p, &context), TEE_ERROR_BAD_PARAMETERS);
	assert_null(context);
}

static void test_nop_and_info(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS] = {
		{ .value = { 1, 2 } },
		{ .value = { 3, 4 } },
		{ .memref = { (void *)16, 1 } }, /* never read */
		{ .memref = { NULL, SIZE_MAX } },
	};
	struct model *model = *state;
	TEE_Param info[TEE_NUM_PARAMS] = { 0 };

	/* Not through the model, which would copy the memrefs. */
	assert_int_equal(TA_CreateEntryPoint(), TEE_SUCCESS);
	assert_int_equal(model_invoke(model, TA_DIGEST_CMD_INFO, 0x0002, info), TEE_SUCCESS);
	{
		void *session = NULL;

		assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
		assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_NOP, 0x7631, p),
				 TEE_SUCCESS);
		TA_CloseSessionEntryPoint(session);
	}
	assert_int_equal(p[1].value.a, 3);
	assert_int_equal(p[1].value.b, 4);
	assert_int_equal(p[3].memref.size, SIZE_MAX);
	TA_DestroyEntryPoint();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_parameter_type),         TEST(test_with_a_clock),
		TEST(test_types_beyond_four_parameters), TEST(test_unknown_commands),
		TEST(test_open_with_parameters),         TEST(test_nop_and_info),
	};

	return cmocka_run_group_tests_name("digest TA: dispatch", tests, NULL, NULL) != 0;
}
