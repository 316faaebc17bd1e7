/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages, whole and in pieces, right and wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <teemark/algorithms.h>
#include <teemark/digest.h>

#include "digest_client.h"
#include "shim.h"

/* The TEE has every digest of the table, and portable C some. */
static bool has(const struct algorithm *alg, uint32_t impl)
{
	return alg->class == ALG_DIGEST &&
	       (impl == TA_DIGEST_IMPL_TEE || digest_class_find(DIGEST_CODE_C, alg->id));
}

static void test_oneshot(void **state)
{
	struct model *model = *state;

	for (size_t i = 0; i < algorithms_count; i++)
		for (size_t j = 0; j < 2; j++)
			for (size_t len = 0; len < 300; len++)
				assert_int_equal(oneshot(model, algorithms[i].id, impls[j], len, 64,
							 1 + len % 3),
						 has(&algorithms[i], impls[j]) ?
							 TEE_SUCCESS :
							 TEE_ERROR_NOT_SUPPORTED);
	assert_int_equal(stack(model), TEE_SUCCESS);
}

static void test_oneshot_repeat_bounds(void **state)
{
	struct model *model = *state;

	assert_int_equal(oneshot(model, 3, 1, 10, 32, 0), TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(oneshot(model, 3, 1, 10, 32, TA_REPEAT_MAX + 1), TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(oneshot(model, 3, 1, 10, 32, UINT32_MAX), TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(oneshot(model, 3, 1, 0, 32, TA_REPEAT_MAX), TEE_SUCCESS);
	/* 5000 bytes: the last number of repetitions, and one more. */
	assert_int_equal(oneshot(model, 3, 1, 5000, 32, TA_WORK_MAX / 5000), TEE_SUCCESS);
	assert_int_equal(oneshot(model, 3, 1, 5000, 32, TA_WORK_MAX / 5000 + 1),
			 TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(oneshot(model, 3, 1, 5000, 32, TA_REPEAT_MAX), TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(stack(model), TEE_SUCCESS);
}

static void test_unknown_algorithms(void **state)
{
	static const uint32_t algs[] = { 0, 99, 65535, 65536 + 3, 0x50000004, UINT32_MAX };
	static const uint32_t bad_impls[] = { TA_DIGEST_IMPL_CE, 3, 32, 33, 256, UINT32_MAX };
	struct model *model = *state;

	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(oneshot(model, algs[i], 0, 10, 64, 1), TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(init(model, algs[i], 1), TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(oneshot(model, 3, bad_impls[i], 10, 64, 1),
				 TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(init(model, 3, bad_impls[i]), TEE_ERROR_NOT_SUPPORTED);
	}
}

static void test_algorithm_the_tee_lacks(void **state)
{
	struct model *model = *state;
	TEE_Param p[TEE_NUM_PARAMS] = {
		{ .value = { 3, TA_DIGEST_IMPL_TEE } },
		{ .memref = { message, 9 } },
		{ .memref = { output, 64 } },
		{ .value = { 1, 0 } },
	};
	void *session = NULL;

	shim_unsupported_alg = algorithm_by_id(3)->tee;
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_ONESHOT, ONESHOT, p),
			 TEE_ERROR_NOT_SUPPORTED);
	TA_CloseSessionEntryPoint(session);
	assert_int_equal(oneshot(model, 3, TA_DIGEST_IMPL_C, 9, 64, 1), TEE_SUCCESS);
}

static void test_short_buffers(void **state)
{
	struct model *model = *state;

	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];

		if (!has(alg, i % 2))
			continue;
		for (size_t out = 0; out < alg->out_bytes; out++) {
			assert_int_equal(oneshot(model, alg->id, i % 2, 100, out, 1),
					 TEE_ERROR_SHORT_BUFFER);
			/* The stream goes on, with nothing taken in. */
			assert_int_equal(init(model, alg->id, i % 2), TEE_SUCCESS);
			assert_int_equal(update(model, 0, out), TEE_SUCCESS);
			assert_int_equal(final_with(model, 0, 100, out), TEE_ERROR_SHORT_BUFFER);
			assert_int_equal(update(model, 7, 90), TEE_SUCCESS);
			assert_int_equal(final(model, alg->out_bytes), TEE_SUCCESS);
		}
	}
}

static void test_hostile_sizes(void **state)
{
	static const size_t sizes[] = { 1, 32, 4096, SIZE_MAX / 2, SIZE_MAX - 7, SIZE_MAX };
	struct model *model = *state;

	for (size_t i = 0; i < 6; i++) {
		TEE_Param p[TEE_NUM_PARAMS] = {
			{ .value = { 3, i % 2 } },
			{ .memref = { NULL, sizes[i] } },
			{ .memref = { output, 32 } },
			{ .value = { 1, 0 } },
		};
		TEE_Param q[TEE_NUM_PARAMS] = { { .memref = { NULL, sizes[i] } } };
		TEE_Param r[TEE_NUM_PARAMS] = {
			{ .memref = { message, 10 } },
			{ .memref = { NULL, sizes[i] } },
		};

		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_ONESHOT, ONESHOT, p),
				 TEE_ERROR_BAD_PARAMETERS);
		p[1] = r[0];
		p[2] = r[1];
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_ONESHOT, ONESHOT, p),
				 TEE_ERROR_BAD_PARAMETERS);
		assert_int_equal(init(model, 3, i % 2), TEE_SUCCESS);
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_UPDATE, 0x0005, q),
				 TEE_ERROR_BAD_PARAMETERS);
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_FINAL, 0x0065, r),
				 TEE_ERROR_BAD_PARAMETERS);
		/* The stream is as it was. */
		assert_int_equal(update(model, 0, 1), TEE_SUCCESS);
	}
}

static void test_empty_null_buffers(void **state)
{
	struct model *model = *state;
	TEE_Param empty[TEE_NUM_PARAMS] = { 0 };
	TEE_Param p[TEE_NUM_PARAMS] = {
		{ .value = { 5, 0 } },
		{ .memref = { NULL, 0 } },
		{ .memref = { output, 64 } },
		{ .value = { 2, 0 } },
	};

	for (uint32_t impl = 0; impl < 2; impl++) {
		p[0].value.b = impl;
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_ONESHOT, ONESHOT, p),
				 TEE_SUCCESS);
		assert_int_equal(init(model, 5, impl), TEE_SUCCESS);
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_UPDATE, 0x0005, empty),
				 TEE_SUCCESS);
		p[1].memref.size = 64;
		p[1].memref.buffer = output;
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_FINAL, 0x0065,
					      (TEE_Param[]){ empty[0], p[1], empty[2], empty[3] }),
				 TEE_SUCCESS);
		p[1] = empty[0];
	}
}

static void test_sequence(void **state)
{
	struct model *model = *state;

	for (uint32_t impl = 0; impl < 2; impl++) {
		/* Before init. */
		assert_int_equal(update(model, 0, 10), TEE_ERROR_BAD_STATE);
		assert_int_equal(final(model, 64), TEE_ERROR_BAD_STATE);
		assert_int_equal(final_with(model, 0, 5, 64), TEE_ERROR_BAD_STATE);
		/* Final twice. */
		assert_int_equal(init(model, 3, impl), TEE_SUCCESS);
		assert_int_equal(final(model, 32), TEE_SUCCESS);
		assert_int_equal(final(model, 32), TEE_ERROR_BAD_STATE);
		/* A new init drops what was there, also of another kind. */
		assert_int_equal(init(model, 3, impl), TEE_SUCCESS);
		assert_int_equal(update(model, 0, 1000), TEE_SUCCESS);
		assert_int_equal(init(model, 3, impl), TEE_SUCCESS);
		assert_int_equal(update(model, 0, 77), TEE_SUCCESS);
		assert_int_equal(final(model, 32), TEE_SUCCESS);
		assert_int_equal(init(model, 3, impl), TEE_SUCCESS);
		assert_int_equal(update(model, 0, 77), TEE_SUCCESS);
		assert_int_equal(init(model, 5, !impl), TEE_SUCCESS);
		assert_int_equal(update(model, 3, 77), TEE_SUCCESS);
		/* A oneshot in the middle takes nothing from the stream. */
		assert_int_equal(oneshot(model, 5, !impl, 500, 64, 3), TEE_SUCCESS);
		assert_int_equal(oneshot(model, 1, impl, 500, 64, 1), TEE_SUCCESS);
		assert_int_equal(final_with(model, 9, 200, 64), TEE_SUCCESS);
		/* An init that fails ends the stream. */
		assert_int_equal(init(model, 3, impl), TEE_SUCCESS);
		assert_int_equal(init(model, 99, impl), TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(update(model, 0, 10), TEE_ERROR_BAD_STATE);
	}
	assert_int_equal(stack(model), TEE_SUCCESS);
}

/* Two sessions are two instances: neither sees the other's stream. */
static void test_sessions_are_apart(void **state)
{
	struct model *a = *state;
	struct model *b = model_open();

	assert_int_equal(init(a, 3, 0), TEE_SUCCESS);
	assert_int_equal(update(b, 0, 1), TEE_ERROR_BAD_STATE);
	assert_int_equal(init(b, 4, 1), TEE_SUCCESS);
	assert_int_equal(update(a, 0, 100), TEE_SUCCESS);
	assert_int_equal(update(b, 50, 200), TEE_SUCCESS);
	assert_int_equal(final(b, 64), TEE_SUCCESS);
	model_close(b);
	assert_int_equal(final(a, 64), TEE_SUCCESS);
}

static void test_operation_is_kept(void **state)
{
	struct model *model = *state;
	size_t before = shim_operations_made;

	for (int i = 0; i < 5; i++)
		oneshot(model, 3, TA_DIGEST_IMPL_TEE, 10 * i, 64, 4);
	assert_int_equal(shim_operations_made - before, 1);
	oneshot(model, 5, TA_DIGEST_IMPL_TEE, 10, 64, 1);
	assert_int_equal(shim_operations_made - before, 2);
	oneshot(model, 5, TA_DIGEST_IMPL_C, 10, 64, 1);
	oneshot(model, 5, TA_DIGEST_IMPL_TEE, 10, 64, 1);
	assert_int_equal(shim_operations_made - before, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_oneshot),
		TEST(test_oneshot_repeat_bounds),
		TEST(test_unknown_algorithms),
		TEST(test_algorithm_the_tee_lacks),
		TEST(test_short_buffers),
		TEST(test_hostile_sizes),
		TEST(test_empty_null_buffers),
		TEST(test_sequence),
		TEST(test_sessions_are_apart),
		TEST(test_operation_is_kept),
	};

	return cmocka_run_group_tests_name("digest TA: message", tests, NULL, NULL) != 0;
}
