/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests what goes wrong around the TA: no memory, a TEE that fails, memory that changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

#include <teemark/algorithms.h>

#include "digest_client.h"
#include "shim.h"
#include "stack.h"

/* The TEE is asked. From the second on these also serve UPDATE and FINAL. */
static void a_message(TEE_Param params[TEE_NUM_PARAMS + 1], uint32_t times)
{
	const TEE_Param all[TEE_NUM_PARAMS + 1] = {
		{ .value = { 3, TA_DIGEST_IMPL_TEE } },
		{ .memref = { message, 9 } },
		{ .memref = { output, 64 } },
		{ .value = { times, 0 } },
	};

	memcpy(params, all, sizeof(all));
}

static void test_out_of_memory(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS + 1];
	void *session = NULL;

	(void)state;
	a_message(p, 1);
	shim_fail_alloc = 1;
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_ERROR_OUT_OF_MEMORY);
	assert_null(session);

	shim_fail_alloc = 2;
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
	/* Twice: what could not be opened is not taken for open. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_ONESHOT, ONESHOT,
							    p),
				 TEE_ERROR_OUT_OF_MEMORY);
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_INIT, 0x0001, p),
			 TEE_ERROR_OUT_OF_MEMORY);
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_UPDATE, 0x0005, p + 1),
			 TEE_ERROR_BAD_STATE);
	/* Portable code takes no memory, and there is some again later. */
	p[0].value.b = TA_DIGEST_IMPL_C;
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_ONESHOT, ONESHOT, p),
			 TEE_SUCCESS);
	shim_fail_alloc = 0;
	p[0].value.b = TA_DIGEST_IMPL_TEE;
	p[2].memref.size = 64;
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_ONESHOT, ONESHOT, p),
			 TEE_SUCCESS);
	TA_CloseSessionEntryPoint(session);
}

static void test_tee_that_fails(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS + 1];
	uint8_t want[32];
	void *session = NULL;

	(void)state;
	a_message(p, 5);
	memset(output, 0x11, sizeof(output));
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
	/* In the third repetition: no digest comes out. */
	shim_fail_do_final = 3;
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_ONESHOT, ONESHOT, p),
			 TEE_ERROR_GENERIC);
	for (size_t i = 0; i < sizeof(output); i++)
		assert_int_equal(output[i], 0x11);
	assert_int_equal(p[2].memref.size, 64);

	shim_fail_do_final = 1;
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_INIT, 0x0001, p),
			 TEE_SUCCESS);
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_FINAL, 0x0065, p + 1),
			 TEE_ERROR_GENERIC);
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_UPDATE, 0x0005, p + 1),
			 TEE_ERROR_BAD_STATE);

	/* The next message has nothing of what the failed ones took in. */
	shim_fail_do_final = 0;
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_INIT, 0x0001, p),
			 TEE_SUCCESS);
	assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_FINAL, 0x0065, p + 1),
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
		assert_int_equal(TA_InvokeCommandEntryPoint(session, TA_DIGEST_CMD_ONESHOT, ONESHOT,
							    p),
				 TEE_SUCCESS);
		assert_int_equal(p[2].memref.size, algorithm_by_id(1 + i % 9)->out_bytes);
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

/* OP-TEE's library has this function where it was built with statistics. */
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_out_of_memory),
		TEST(test_tee_that_fails),
		TEST(test_memory_that_changes),
		TEST(test_stack_mark),
	};

	return cmocka_run_group_tests_name("digest TA: trouble", tests, NULL, NULL) != 0;
}
