/* SPDX-License-Identifier: BSD-2-Clause */
/* The bench TA's dispatcher: parameter types, unknown commands, bounds that all commands share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench_client.h"
#include "shim.h"

/* All that there are. */
enum { CMDS = TA_BENCH_CMD_ASYM_VERIFY + 1 };

/*
 * All 65,536 types of all commands, in a new session and in a ready one. In
 * the ready one just the right types get anything but BAD_PARAMETERS.
 */
static void test_every_parameter_type(void **state)
{
	size_t calls = 0, accepted[CMDS] = { 0 };

	for (int ready = 0; ready < 2; ready++) {
		for (uint32_t cmd = 0; cmd < CMDS; cmd++) {
			for (uint32_t types = 0; types < 65536; types++) {
				TEE_Param p[TEE_NUM_PARAMS];
				TEE_Result res;

				if (ready && types % 1024 == 0)
					make_ready(*state);
				for (int i = 0; i < TEE_NUM_PARAMS; i++) {
					if (TEE_PARAM_TYPE_GET(types, i) < 5) {
						p[i].value.a = 1;
						p[i].value.b = 1;
						continue;
					}
					p[i].memref.buffer = shared + 64 * i;
					p[i].memref.size = 64;
				}
				res = invoke(*state, cmd, types, p);
				calls++;
				accepted[cmd] += res != BAD_PARAMETERS && res != NOT_SUPPORTED;
			}
		}
	}
	assert_int_equal(calls, 2 * CMDS * 65536);
	assert_int_equal(accepted[TA_BENCH_CMD_NOP], 2 * 2401);
	assert_int_equal(accepted[TA_BENCH_CMD_INFO], 2);
	/* No such row; but 1 is a digest, NOT_SUPPORTED. */
	assert_int_equal(accepted[TA_BENCH_CMD_CIPHER_PREPARE], 0);
	assert_int_equal(accepted[TA_BENCH_CMD_MAC_SET_KEY], 0);
	/* BAD_STATE when new, success or BAD_STATE when ready. */
	assert_int_equal(accepted[TA_BENCH_CMD_CIPHER_UPDATE], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_MAC], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_STORAGE_CLOSE], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_RANDOM], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_KERNEL], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_ASK], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_INCREMENT], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_STORAGE_FETCH], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_DIGEST_PART], 2);
	for (uint32_t cmd = 0; cmd < CMDS; cmd++)
		if (cmd)
			assert_true(accepted[cmd] <= 4);
}

static void test_types_beyond_four_parameters(void **state)
{
	static const uint32_t high[] = { 0x10000, 0x50000, 0x80000000, 0xffff0000 };

	for (size_t i = 0; i < 4; i++) {
		for (uint32_t cmd = 0; cmd < CMDS; cmd++) {
			TEE_Param p[TEE_NUM_PARAMS] = { 0 };
			TEE_Result res = invoke(*state, cmd, high[i], p);

			assert_true(res == BAD_PARAMETERS || res == NOT_SUPPORTED);
		}
	}
}

static void test_unknown_commands(void **state)
{
	static const uint32_t cmds[] = { 3,
					 9,
					 16,
					 25,
					 39,
					 41,
					 51,
					 255,
					 256,
					 65546,
					 65536,
					 0x7fffffff,
					 10 + 0x80000000u,
					 UINT32_MAX };

	for (size_t i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
		assert_int_equal(call_plain(*state, cmds[i]), NOT_SUPPORTED);
}

static void test_open_with_parameters(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };
	void *context = NULL;

	(void)state;
	for (uint32_t types = 1; types < 0x20000; types++)
		assert_int_equal(TA_OpenSessionEntryPoint(types, p, &context), BAD_PARAMETERS);
	assert_null(context);
	shim_fail_alloc = 1;
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &context), TEE_ERROR_OUT_OF_MEMORY);
}

static void test_nop_and_info(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(1, 2), MEMREF(16, 1), MEMREF(NULL, SIZE_MAX),
					VALUE(3, 4) };
	TEE_Param info[TEE_NUM_PARAMS] = { 0 };

	assert_int_equal(invoke(*state, TA_BENCH_CMD_NOP, 0x1651, p), TEE_SUCCESS);
	assert_int_equal(p[0].value.a, 1);
	assert_int_equal(p[3].value.b, 4);
	assert_int_equal(p[2].memref.size, SIZE_MAX);
	assert_int_equal(invoke(*state, TA_BENCH_CMD_INFO, 0x0002, info), TEE_SUCCESS);
	assert_int_equal(info[0].value.a, TA_BENCH_ABI);
	assert_int_equal(info[0].value.b, TA_BENCH_AE_DECRYPT_MAX);
}

static void test_increment(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(UINT32_MAX - 1, 7) };

	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(p[0].value.a, UINT32_MAX - 1 + i);
		assert_int_equal(invoke(*state, TA_BENCH_CMD_INCREMENT, 0x0003, p), TEE_SUCCESS);
	}
	assert_int_equal(p[0].value.a, 1);
	assert_int_equal(p[0].value.b, 7);
}

/* Every command that repeats, with this length and so many repetitions. */
static void check_work(void *s, size_t len, uint32_t repeat, TEE_Result want,
		       TEE_Result want_random)
{
	TEE_Param random[TEE_NUM_PARAMS] = { MEMREF(OUT, len), VALUE(repeat, 0) };
	TEE_Param kernel[TEE_NUM_PARAMS] = { VALUE(2, repeat), MEMREF(IN, len) };
	uint8_t iv[16] = { 0 };
	size_t n = len;

	assert_int_equal(call_update(s, IN, len, OUT, &n, repeat), want);
	n = len;
	assert_int_equal(call_message(s, iv, 0, IN, len, OUT, &n, repeat), want);
	n = 64;
	assert_int_equal(call_mac(s, IN, len, &n, repeat), want);
	assert_int_equal(invoke(s, TA_BENCH_CMD_KERNEL, 0x0251, kernel), want);
	assert_int_equal(invoke(s, TA_BENCH_CMD_RANDOM, 0x0016, random), want_random);
}

static void test_bounds_of_work(void **state)
{
	static const uint32_t bad[] = { 0, TA_REPEAT_MAX + 1, UINT32_MAX };
	void *s = *state;

	make_ready(s);
	for (size_t i = 0; i < 3; i++)
		check_work(s, 64, bad[i], BAD_PARAMETERS, BAD_PARAMETERS);
	/* Up to the limit, and one beyond it, of 64 KiB and of 64 bytes. */
	check_work(s, 64 << 10, TA_WORK_MAX >> 16, TEE_SUCCESS, BAD_PARAMETERS);
	check_work(s, 64 << 10, (TA_WORK_MAX >> 16) + 1, BAD_PARAMETERS, BAD_PARAMETERS);
	check_work(s, 64, TA_WORK_RANDOM_MAX >> 6, TEE_SUCCESS, TEE_SUCCESS);
	check_work(s, 64, (TA_WORK_RANDOM_MAX >> 6) + 1, TEE_SUCCESS, BAD_PARAMETERS);
	/* This hung a TEE until it was switched off. */
	check_work(s, 1 << 20, 1 << 20, BAD_PARAMETERS, BAD_PARAMETERS);
	check_work(s, SIZE_MAX, TA_REPEAT_MAX, BAD_PARAMETERS, BAD_PARAMETERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_parameter_type), TEST(test_types_beyond_four_parameters),
		TEST(test_unknown_commands),     TEST(test_open_with_parameters),
		TEST(test_nop_and_info),         TEST(test_increment),
		TEST(test_bounds_of_work),
	};

	return cmocka_run_group_tests_name("bench TA: dispatch", tests, NULL, NULL) != 0;
}
