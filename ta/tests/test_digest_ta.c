/* SPDX-License-Identifier: BSD-2-Clause */
/* The digest TA as its client, its TEE and its enemies see it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

#include <tee_internal_api.h>
#include <teemark/algorithms.h>
#include <teemark/ta_clock.h>
#include <teemark/ta_digest.h>

#include "model.h"
#include "shim.h"
#include "stack.h"

#define ONESHOT TEE_PARAM_TYPES(1, 5, 6, 1)

static const uint32_t impls[] = { TA_DIGEST_IMPL_TEE, TA_DIGEST_IMPL_C };

static uint8_t message[5000];
static uint8_t output[64];

static TEE_Result oneshot(struct model *model, uint32_t alg, uint32_t impl,
			  size_t len, size_t out_len, uint32_t repeat)
{
	TEE_Param p[TEE_NUM_PARAMS] = {
		{ .value = { alg, impl } },
		{ .memref = { message, len } },
		{ .memref = { output, out_len } },
		{ .value = { repeat, 0 } },
	};

	return model_invoke(model, TA_DIGEST_CMD_ONESHOT, ONESHOT, p);
}

static TEE_Result init(struct model *model, uint32_t alg, uint32_t impl)
{
	TEE_Param p[TEE_NUM_PARAMS] = { { .value = { alg, impl } } };

	return model_invoke(model, TA_DIGEST_CMD_INIT, 0x0001, p);
}

static TEE_Result update(struct model *model, size_t offset, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { message + offset,
						      len } } };

	return model_invoke(model, TA_DIGEST_CMD_UPDATE, 0x0005, p);
}

static TEE_Result final(struct model *model, size_t out_len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { [1] = { .memref = { output,
							    out_len } } };

	return model_invoke(model, TA_DIGEST_CMD_FINAL, 0x0060, p);
}

static TEE_Result final_with(struct model *model, size_t offset, size_t len,
			     size_t out_len)
{
	TEE_Param p[TEE_NUM_PARAMS] = {
		{ .memref = { message + offset, len } },
		{ .memref = { output, out_len } },
	};

	return model_invoke(model, TA_DIGEST_CMD_FINAL, 0x0065, p);
}

static TEE_Result stats(struct model *model)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };

	return model_invoke(model, TA_DIGEST_CMD_STATS, 0x0222, p);
}

static int setup(void **state)
{
	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 131 + (i >> 8));
	shim_fail_alloc = 0;
	shim_fail_do_final = 0;
	shim_unsupported_alg = 0;
	*state = model_open();
	return 0;
}

static int teardown(void **state)
{
	model_close(*state);
	assert_int_equal(shim_allocations, 0);
	return 0;
}

/* All 65,536 types of all commands, outside of a stream and within one. */
static void test_every_parameter_type(void **state)
{
	struct model *model = *state;
	size_t calls = 0, successes = 0;

	for (int streaming = 0; streaming < 2; streaming++) {
		for (uint32_t cmd = 0; cmd <= TA_DIGEST_CMD_HEAP + 1; cmd++) {
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
				successes += model_invoke(model, cmd, types,
							  p) == TEE_SUCCESS;
				calls++;
				if (streaming && cmd == TA_DIGEST_CMD_FINAL)
					init(model, 3, TA_DIGEST_IMPL_C);
			}
		}
		assert_int_equal(init(model, 3, TA_DIGEST_IMPL_C), TEE_SUCCESS);
	}
	assert_int_equal(calls, 2 * 9 * 65536);
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
				 clock < 3 ? TEE_SUCCESS :
					     TEE_ERROR_BAD_PARAMETERS);
		assert_int_equal(oneshot(model, 3, 0, 100, 64, 2), TEE_SUCCESS);
		assert_int_equal(oneshot(model, 99, 0, 100, 64, 2),
				 TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(init(model, 3, 1), TEE_SUCCESS);
		assert_int_equal(update(model, 0, 1000), TEE_SUCCESS);
		assert_int_equal(final(model, 64), TEE_SUCCESS);
		assert_int_equal(final(model, 64), TEE_ERROR_BAD_STATE);
		assert_int_equal(stats(model), TEE_SUCCESS);
	}
	for (uint32_t types = 0; types < 65536; types++) {
		TEE_Param p[TEE_NUM_PARAMS] = { { .value = { 1, 1 } } };

		if ((types & 15) < 5)
			assert_int_equal(model_invoke(model, TA_CLOCK_CMD,
						      types, p),
					 types == 0x0221 ?
						 TEE_SUCCESS :
						 TEE_ERROR_BAD_PARAMETERS);
	}
	assert_int_equal(clock_to(model, TA_CLOCK_OFF), TEE_SUCCESS);
}

static void test_types_beyond_four_parameters(void **state)
{
	static const uint32_t high[] = { 0x10000, 0x50000, 0x80000000,
					 0xffff0000 };
	struct model *model = *state;

	for (size_t i = 0; i < 4; i++) {
		for (uint32_t cmd = 0; cmd <= TA_DIGEST_CMD_HEAP; cmd++) {
			TEE_Param p[TEE_NUM_PARAMS] = { 0 };

			assert_int_equal(model_invoke(model, cmd, high[i], p),
					 TEE_ERROR_BAD_PARAMETERS);
			assert_int_equal(model_invoke(model, cmd,
						      high[i] | 0x0222, p),
					 TEE_ERROR_BAD_PARAMETERS);
		}
	}
}

static void test_unknown_commands(void **state)
{
	static const uint32_t cmds[] = { 8,          9,          255,
					 256,        65536,      65538,
					 0x7fffffff, 0x80000002, UINT32_MAX };

	for (size_t i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++) {
		TEE_Param p[TEE_NUM_PARAMS] = { 0 };

		assert_int_equal(model_invoke(*state, cmds[i], 0, p),
				 TEE_ERROR_NOT_SUPPORTED);
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
	assert_int_equal(TA_OpenSessionEntryPoint(0x10000, p, &context),
			 TEE_ERROR_BAD_PARAMETERS);
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
	assert_int_equal(model_invoke(model, TA_DIGEST_CMD_INFO, 0x0002, info),
			 TEE_SUCCESS);
	{
		void *session = NULL;

		assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session),
				 TEE_SUCCESS);
		assert_int_equal(TA_InvokeCommandEntryPoint(session,
							    TA_DIGEST_CMD_NOP,
							    0x7631, p),
				 TEE_SUCCESS);
		TA_CloseSessionEntryPoint(session);
	}
	assert_int_equal(p[1].value.a, 3);
	assert_int_equal(p[1].value.b, 4);
	assert_int_equal(p[3].memref.size, SIZE_MAX);
	TA_DestroyEntryPoint();
}

static void test_oneshot(void **state)
{
	struct model *model = *state;

	for (size_t i = 0; i < algorithms_count; i++)
		for (size_t j = 0; j < 2; j++)
			for (size_t len = 0; len < 300; len++)
				assert_int_equal(oneshot(model,
							 algorithms[i].id,
							 impls[j], len, 64,
							 1 + len % 3),
						 algorithms[i].class ==
								 ALG_DIGEST ?
							 TEE_SUCCESS :
							 TEE_ERROR_NOT_SUPPORTED);
	assert_int_equal(stats(model), TEE_SUCCESS);
}

static void test_oneshot_repeat_bounds(void **state)
{
	struct model *model = *state;

	assert_int_equal(oneshot(model, 3, 1, 10, 32, 0),
			 TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(oneshot(model, 3, 1, 10, 32, TA_DIGEST_REPEAT_MAX + 1),
			 TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(oneshot(model, 3, 1, 10, 32, UINT32_MAX),
			 TEE_ERROR_BAD_PARAMETERS);
	assert_int_equal(oneshot(model, 3, 1, 0, 32, TA_DIGEST_REPEAT_MAX),
			 TEE_SUCCESS);
	assert_int_equal(stats(model), TEE_SUCCESS);
}

static void test_unknown_algorithms(void **state)
{
	static const uint32_t algs[] = { 0,         99,         65535,
					 65536 + 3, 0x50000004, UINT32_MAX };
	static const uint32_t bad_impls[] = { TA_DIGEST_IMPL_CE, 3, 32, 33, 256,
					      UINT32_MAX };
	struct model *model = *state;

	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(oneshot(model, algs[i], 0, 10, 64, 1),
				 TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(init(model, algs[i], 1),
				 TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(oneshot(model, 3, bad_impls[i], 10, 64, 1),
				 TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(init(model, 3, bad_impls[i]),
				 TEE_ERROR_NOT_SUPPORTED);
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
	assert_int_equal(TA_InvokeCommandEntryPoint(session,
						    TA_DIGEST_CMD_ONESHOT,
						    ONESHOT, p),
			 TEE_ERROR_NOT_SUPPORTED);
	TA_CloseSessionEntryPoint(session);
	assert_int_equal(oneshot(model, 3, TA_DIGEST_IMPL_C, 9, 64, 1),
			 TEE_SUCCESS);
}

static void test_short_buffers(void **state)
{
	struct model *model = *state;

	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];

		if (alg->class != ALG_DIGEST)
			continue;
		for (size_t out = 0; out < alg->out_bytes; out++) {
			assert_int_equal(oneshot(model, alg->id, i % 2, 100,
						 out, 1),
					 TEE_ERROR_SHORT_BUFFER);
			/* The stream goes on, with nothing taken in. */
			assert_int_equal(init(model, alg->id, i % 2),
					 TEE_SUCCESS);
			assert_int_equal(update(model, 0, out), TEE_SUCCESS);
			assert_int_equal(final_with(model, 0, 100, out),
					 TEE_ERROR_SHORT_BUFFER);
			assert_int_equal(update(model, 7, 90), TEE_SUCCESS);
			assert_int_equal(final(model, alg->out_bytes),
					 TEE_SUCCESS);
		}
	}
}

static void test_hostile_sizes(void **state)
{
	static const size_t sizes[] = {
		1, 32, 4096, SIZE_MAX / 2, SIZE_MAX - 7, SIZE_MAX
	};
	struct model *model = *state;

	for (size_t i = 0; i < 6; i++) {
		TEE_Param p[TEE_NUM_PARAMS] = {
			{ .value = { 3, i % 2 } },
			{ .memref = { NULL, sizes[i] } },
			{ .memref = { output, 32 } },
			{ .value = { 1, 0 } },
		};
		TEE_Param q[TEE_NUM_PARAMS] = { { .memref = { NULL,
							      sizes[i] } } };
		TEE_Param r[TEE_NUM_PARAMS] = {
			{ .memref = { message, 10 } },
			{ .memref = { NULL, sizes[i] } },
		};

		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_ONESHOT,
					      ONESHOT, p),
				 TEE_ERROR_BAD_PARAMETERS);
		p[1] = r[0];
		p[2] = r[1];
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_ONESHOT,
					      ONESHOT, p),
				 sizes[i] < 32 ? TEE_ERROR_SHORT_BUFFER :
						 TEE_ERROR_BAD_PARAMETERS);
		assert_int_equal(init(model, 3, i % 2), TEE_SUCCESS);
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_UPDATE,
					      0x0005, q),
				 TEE_ERROR_BAD_PARAMETERS);
		model_invoke(model, TA_DIGEST_CMD_FINAL, 0x0065, r);
		/* Ended, unless the buffer was merely too short. */
		assert_int_equal(update(model, 0, 1),
				 sizes[i] < 32 ? TEE_SUCCESS :
						 TEE_ERROR_BAD_STATE);
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
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_ONESHOT,
					      ONESHOT, p),
				 TEE_SUCCESS);
		assert_int_equal(init(model, 5, impl), TEE_SUCCESS);
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_UPDATE,
					      0x0005, empty),
				 TEE_SUCCESS);
		p[1].memref.size = 64;
		p[1].memref.buffer = output;
		assert_int_equal(model_invoke(model, TA_DIGEST_CMD_FINAL,
					      0x0065,
					      (TEE_Param[]){ empty[0], p[1],
							     empty[2],
							     empty[3] }),
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
		assert_int_equal(final_with(model, 0, 5, 64),
				 TEE_ERROR_BAD_STATE);
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
		assert_int_equal(oneshot(model, 5, !impl, 500, 64, 3),
				 TEE_SUCCESS);
		assert_int_equal(oneshot(model, 1, impl, 500, 64, 1),
				 TEE_SUCCESS);
		assert_int_equal(final_with(model, 9, 200, 64), TEE_SUCCESS);
		/* An init that fails ends the stream. */
		assert_int_equal(init(model, 3, impl), TEE_SUCCESS);
		assert_int_equal(init(model, 99, impl),
				 TEE_ERROR_NOT_SUPPORTED);
		assert_int_equal(update(model, 0, 10), TEE_ERROR_BAD_STATE);
	}
	assert_int_equal(stats(model), TEE_SUCCESS);
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

static void test_out_of_memory(void **state)
{
	/* From p + 1 on it also serves UPDATE and FINAL. */
	TEE_Param p[TEE_NUM_PARAMS + 1] = {
		{ .value = { 3, TA_DIGEST_IMPL_TEE } },
		{ .memref = { message, 9 } },
		{ .memref = { output, 64 } },
		{ .value = { 1, 0 } },
	};
	void *session = NULL;

	(void)state;
	shim_fail_alloc = 1;
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session),
			 TEE_ERROR_OUT_OF_MEMORY);
	assert_null(session);

	shim_fail_alloc = 2;
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
	/* Twice: what could not be opened is not taken for open. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(TA_InvokeCommandEntryPoint(session,
							    TA_DIGEST_CMD_ONESHOT,
							    ONESHOT, p),
				 TEE_ERROR_OUT_OF_MEMORY);
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_INIT,
						    0x0001, p),
			 TEE_ERROR_OUT_OF_MEMORY);
	assert_int_equal(TA_InvokeCommandEntryPoint(session,
						    TA_DIGEST_CMD_UPDATE,
						    0x0005, p + 1),
			 TEE_ERROR_BAD_STATE);
	/* Portable code takes no memory, and there is some again later. */
	p[0].value.b = TA_DIGEST_IMPL_C;
	assert_int_equal(TA_InvokeCommandEntryPoint(session,
						    TA_DIGEST_CMD_ONESHOT,
						    ONESHOT, p),
			 TEE_SUCCESS);
	shim_fail_alloc = 0;
	p[0].value.b = TA_DIGEST_IMPL_TEE;
	p[2].memref.size = 64;
	assert_int_equal(TA_InvokeCommandEntryPoint(session,
						    TA_DIGEST_CMD_ONESHOT,
						    ONESHOT, p),
			 TEE_SUCCESS);
	TA_CloseSessionEntryPoint(session);
}

static void test_tee_that_fails(void **state)
{
	/* From p + 1 on it also serves UPDATE and FINAL. */
	TEE_Param p[TEE_NUM_PARAMS + 1] = {
		{ .value = { 3, TA_DIGEST_IMPL_TEE } },
		{ .memref = { message, 9 } },
		{ .memref = { output, 64 } },
		{ .value = { 5, 0 } },
	};
	uint8_t want[32];
	void *session = NULL;

	(void)state;
	memset(output, 0x11, sizeof(output));
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
	/* In the third repetition: no digest comes out. */
	shim_fail_do_final = 3;
	assert_int_equal(TA_InvokeCommandEntryPoint(session,
						    TA_DIGEST_CMD_ONESHOT,
						    ONESHOT, p),
			 TEE_ERROR_GENERIC);
	for (size_t i = 0; i < sizeof(output); i++)
		assert_int_equal(output[i], 0x11);
	assert_int_equal(p[2].memref.size, 64);

	shim_fail_do_final = 1;
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_INIT,
						    0x0001, p),
			 TEE_SUCCESS);
	assert_int_equal(TA_InvokeCommandEntryPoint(session,
						    TA_DIGEST_CMD_FINAL, 0x0065,
						    p + 1),
			 TEE_ERROR_GENERIC);
	assert_int_equal(TA_InvokeCommandEntryPoint(session,
						    TA_DIGEST_CMD_UPDATE,
						    0x0005, p + 1),
			 TEE_ERROR_BAD_STATE);

	/* What the failed ones took in is not in the next. */
	shim_fail_do_final = 0;
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_INIT,
						    0x0001, p),
			 TEE_SUCCESS);
	assert_int_equal(TA_InvokeCommandEntryPoint(session,
						    TA_DIGEST_CMD_FINAL, 0x0065,
						    p + 1),
			 TEE_SUCCESS);
	EVP_Digest(message, 9, want, NULL, EVP_sha256(), NULL);
	assert_memory_equal(output, want, 32);
	TA_CloseSessionEntryPoint(session);
}

static volatile int stop;

static void *scribble(void *memory)
{
	volatile uint8_t *p = memory;

	for (uint32_t x = 1; !stop; x = x * 1664525 + 1013904223)
		p[(x >> 8) % sizeof(message)] = (uint8_t)(x >> 24);
	return NULL;
}

/* The normal world writes to the message while it is being read. */
static void test_memory_that_changes(void **state)
{
	pthread_t thread;
	void *session = NULL;
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };

	(void)state;
	stop = 0;
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
	assert_int_equal(pthread_create(&thread, NULL, scribble, message), 0);
	for (uint32_t i = 0; i < 2000; i++) {
		p[0].value.a = 1 + i % 9;
		p[0].value.b = i % 2;
		p[1].memref.buffer = message;
		p[1].memref.size = sizeof(message) - i % 200;
		p[2].memref.buffer = output;
		p[2].memref.size = 64;
		p[3].value.a = 1;
		assert_int_equal(TA_InvokeCommandEntryPoint(session,
							    TA_DIGEST_CMD_ONESHOT,
							    ONESHOT, p),
				 TEE_SUCCESS);
		assert_int_equal(p[2].memref.size,
				 algorithm_by_id(1 + i % 9)->out_bytes);
	}
	stop = 1;
	pthread_join(thread, NULL);
	TA_CloseSessionEntryPoint(session);
}

static void test_stack_mark(void **state)
{
	uint64_t stack[64];
	struct stack_region region = {
		.low = (uintptr_t)stack,
		.unused = (uintptr_t)(stack + 48),
		.top = (uintptr_t)(stack + 64),
	};
	struct stack_region unknown = { 0 };

	(void)state;
	memset(stack, 0, sizeof(stack));
	stack_paint(&region);
	assert_int_equal(stack[48], 0);
	assert_int_equal(stack_high_water(&region), 16 * 8);
	stack[30] = 1;
	stack[40] = 2;
	assert_int_equal(stack_high_water(&region), 34 * 8);
	stack[0] = 0;
	assert_int_equal(stack_high_water(&region), 64 * 8);
	stack_paint(&unknown);
	assert_int_equal(stack_high_water(&unknown), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_parameter_type),
		TEST(test_with_a_clock),
		TEST(test_types_beyond_four_parameters),
		TEST(test_unknown_commands),
		TEST(test_open_with_parameters),
		TEST(test_nop_and_info),
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
		TEST(test_out_of_memory),
		TEST(test_tee_that_fails),
		TEST(test_memory_that_changes),
		TEST(test_stack_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
