/* SPDX-License-Identifier: BSD-2-Clause */
/* The bench TA's random numbers and kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <teemark/digest.h>
#include <teemark/kernels.h>

#include "bench_client.h"
#include "session.h"
#include "shim.h"

static void test_random(void **state)
{
	static const size_t lens[] = { 0, 1, 16, 2047, 2048, 2049, 5000, TA_WORK_RANDOM_MAX / 3 };
	void *s = *state;

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(OUT, lens[i]), VALUE(3, 0) };
		size_t zeros = 0;

		memset(OUT, 0, lens[i] + 1);
		assert_int_equal(invoke(s, TA_BENCH_CMD_RANDOM, 0x0016, p), TEE_SUCCESS);
		assert_int_equal(p[0].memref.size, lens[i]);
		for (size_t j = 0; j < lens[i]; j++)
			zeros += !OUT[j];
		assert_true(zeros <= lens[i] / 128 + 1);
		assert_int_equal(OUT[lens[i]], 0);
	}
	{
		TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(NULL, 10), VALUE(1, 0) };

		assert_int_equal(invoke(s, TA_BENCH_CMD_RANDOM, 0x0016, p), BAD_PARAMETERS);
	}
}

static void test_kernels(void **state)
{
	static const uint8_t zeros[KERNEL_COPY_BYTES];
	static uint8_t room[KERNEL_COPY_BYTES];
	const struct session *session = *state;

	for (size_t len = 0; len < 10000; len = len * 3 / 2 + 1) {
		uint64_t want[] = {
			kernel_memcpy(room, sizeof(room), IN, len),
			kernel_memtouch(IN, len),
			kernel_intloop(len),
		};

		for (uint32_t kernel = 0; kernel < 5; kernel++) {
			TEE_Param p[TEE_NUM_PARAMS] = { VALUE(kernel, 1 + len % 3),
							MEMREF(IN, len) };
			TEE_Result res = invoke(*state, TA_BENCH_CMD_KERNEL, 0x0251, p);

			if (kernel > 2) {
				assert_int_equal(res, NOT_SUPPORTED);
				continue;
			}
			assert_int_equal(res, TEE_SUCCESS);
			assert_true(((uint64_t)p[2].value.b << 32 | p[2].value.a) == want[kernel]);
			/* Nothing of the client's stays. */
			assert_memory_equal(session->buffer, zeros, sizeof(zeros));
		}
	}
}

uint64_t __real_kernel_intloop(size_t rounds);
uint64_t __wrap_kernel_intloop(size_t rounds);

static unsigned loops;

uint64_t __wrap_kernel_intloop(size_t rounds)
{
	loops++;
	return __real_kernel_intloop(rounds);
}

static void test_each_repetition_is_done(void **state)
{
	for (uint32_t repeat = 1; repeat < 9; repeat *= 2) {
		TEE_Param p[TEE_NUM_PARAMS] = { VALUE(TA_BENCH_KERNEL_INTLOOP, repeat),
						MEMREF(IN, 64) };

		loops = 0;
		assert_int_equal(invoke(*state, TA_BENCH_CMD_KERNEL, 0x0251, p), TEE_SUCCESS);
		assert_int_equal(loops, repeat);
	}
}

static void test_ask(void **state)
{
	const size_t *counted[] = { &shim_lines, &shim_ree_times, &shim_system_times };

	for (uint32_t what = 0; what < 4; what++) {
		for (uint32_t times = 0; times < TA_BENCH_ASK_MAX + 2; times = times * 4 + 1) {
			TEE_Param p[TEE_NUM_PARAMS] = { VALUE(what, times) };
			size_t before = what < 3 ? *counted[what] : 0;
			TEE_Result res = invoke(*state, TA_BENCH_CMD_ASK, 0x0021, p);

			if (what == 3 && times) {
				assert_int_equal(res, NOT_SUPPORTED);
				continue;
			}
			assert_int_equal(res, TEE_SUCCESS);
			assert_int_equal(p[1].value.a, times);
			if (what < 3)
				assert_int_equal(*counted[what] - before, times);
		}
	}
	for (uint32_t i = 0; i < 2; i++) {
		TEE_Param p[TEE_NUM_PARAMS] = { VALUE(0, i ? UINT32_MAX : TA_BENCH_ASK_MAX + 1) };

		assert_int_equal(invoke(*state, TA_BENCH_CMD_ASK, 0x0021, p), BAD_PARAMETERS);
	}
}

/* Each part leaves an operation that works; what is none is refused. */
static void test_digest_parts(void **state)
{
	static const uint8_t empty[] = { 0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14,
					 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24 };

	for (uint32_t part = 0; part < 5; part++) {
		for (uint32_t repeat = 0; repeat < 4; repeat++) {
			TEE_Param p[TEE_NUM_PARAMS] = { VALUE(3, part), VALUE(repeat, 0),
							MEMREF(OUT, 32) };
			TEE_Result res;

			memset(OUT, 0, 32);
			res = invoke(*state, TA_BENCH_CMD_DIGEST_PART, 0x0611, p);
			if (part > 2 || !repeat) {
				assert_int_equal(res, BAD_PARAMETERS);
				continue;
			}
			assert_int_equal(res, TEE_SUCCESS);
			assert_memory_equal(OUT, empty, sizeof(empty));
		}
	}
	for (int i = 0; i < 3; i++) {
		TEE_Param p[TEE_NUM_PARAMS] = { VALUE(i ? 3 : 999, 0), VALUE(i == 1 ? 65537 : 1, 0),
						MEMREF(OUT, i < 2 ? 32 : 31) };
		static const TEE_Result want[] = { NOT_SUPPORTED, BAD_PARAMETERS, SHORT_BUFFER };

		assert_int_equal(invoke(*state, TA_BENCH_CMD_DIGEST_PART, 0x0611, p), want[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_random), TEST(test_kernels),      TEST(test_each_repetition_is_done),
		TEST(test_ask),    TEST(test_digest_parts),
	};

	return cmocka_run_group_tests_name("bench TA: random numbers, kernels, questions", tests,
					   NULL, NULL) != 0;
}
