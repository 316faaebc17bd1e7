/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "digest_client.h"
#include "shim.h"

uint8_t message[5000];
uint8_t output[64];

TEE_Result oneshot(struct model *model, uint32_t alg, uint32_t impl, size_t len, size_t out_len,
		   uint32_t repeat)
{
	TEE_Param p[TEE_NUM_PARAMS] = {
		{ .value = { alg, impl } },
		{ .memref = { message, len } },
		{ .memref = { output, out_len } },
		{ .value = { repeat, 0 } },
	};

	return model_invoke(model, TA_DIGEST_CMD_ONESHOT, ONESHOT, p);
}

TEE_Result init(struct model *model, uint32_t alg, uint32_t impl)
{
	TEE_Param p[TEE_NUM_PARAMS] = { { .value = { alg, impl } } };

	return model_invoke(model, TA_DIGEST_CMD_INIT, 0x0001, p);
}

TEE_Result update(struct model *model, size_t offset, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { { .memref = { message + offset, len } } };

	return model_invoke(model, TA_DIGEST_CMD_UPDATE, 0x0005, p);
}

TEE_Result final(struct model *model, size_t out_len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { [1] = { .memref = { output, out_len } } };

	return model_invoke(model, TA_DIGEST_CMD_FINAL, 0x0060, p);
}

TEE_Result final_with(struct model *model, size_t offset, size_t len, size_t out_len)
{
	TEE_Param p[TEE_NUM_PARAMS] = {
		{ .memref = { message + offset, len } },
		{ .memref = { output, out_len } },
	};

	return model_invoke(model, TA_DIGEST_CMD_FINAL, 0x0065, p);
}

TEE_Result stack(struct model *model)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };

	return model_invoke(model, TA_DIGEST_CMD_STACK, 0x0002, p);
}

int setup(void **state)
{
	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 131 + (i >> 8));
	shim_fail_alloc = 0;
	shim_fail_do_final = 0;
	shim_unsupported_alg = 0;
	*state = model_open();
	return 0;
}

int teardown(void **state)
{
	model_close(*state);
	assert_int_equal(shim_allocations, 0);
	return 0;
}
