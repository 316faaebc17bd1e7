/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TA that takes known amounts of memory: command 0 nothing, 1 STACK_BYTES of stack, 2 HEAP_BYTES of
 * heap, 3 MORE_BYTES of stack, 4 MORE_HEAP_BYTES of heap. Each byte is written and read.
 */
#include <tee_internal_api.h>

enum { STACK_BYTES = 1000, MORE_BYTES = 2000, HEAP_BYTES = 10000, MORE_HEAP_BYTES = 12000 };

TEE_Result TA_CreateEntryPoint(void)
{
	return TEE_SUCCESS;
}

void TA_DestroyEntryPoint(void)
{
}

TEE_Result TA_OpenSessionEntryPoint(uint32_t types, TEE_Param params[TEE_NUM_PARAMS],
				    void **session)
{
	(void)types;
	(void)params;
	*session = NULL;
	return TEE_SUCCESS;
}

void TA_CloseSessionEntryPoint(void *session)
{
	(void)session;
}

static uint32_t fill(volatile uint8_t *bytes, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)i;
	for (size_t i = 0; i < n; i++)
		sum += bytes[i];
	return sum;
}

static uint32_t __attribute__((noinline)) on_stack(void)
{
	volatile uint8_t bytes[STACK_BYTES];

	return fill(bytes, sizeof(bytes));
}

static uint32_t __attribute__((noinline)) on_more_stack(void)
{
	volatile uint8_t bytes[MORE_BYTES];

	return fill(bytes, sizeof(bytes));
}

static TEE_Result on_heap(size_t bytes, uint32_t *sum)
{
	uint8_t *heap = TEE_Malloc(bytes, TEE_MALLOC_FILL_ZERO);

	if (!heap)
		return TEE_ERROR_OUT_OF_MEMORY;
	*sum = fill(heap, bytes);
	TEE_Free(heap);
	return TEE_SUCCESS;
}

TEE_Result TA_InvokeCommandEntryPoint(void *session, uint32_t command, uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS])
{
	(void)session;
	if (types != TEE_PARAM_TYPES(TEE_PARAM_TYPE_VALUE_OUTPUT, 0, 0, 0))
		return TEE_ERROR_BAD_PARAMETERS;
	switch (command) {
	case 0:
		params[0].value.a = 0;
		return TEE_SUCCESS;
	case 1:
		params[0].value.a = on_stack();
		return TEE_SUCCESS;
	case 2:
		return on_heap(HEAP_BYTES, &params[0].value.a);
	case 3:
		params[0].value.a = on_more_stack();
		return TEE_SUCCESS;
	case 4:
		return on_heap(MORE_HEAP_BYTES, &params[0].value.a);
	default:
		return TEE_ERROR_BAD_PARAMETERS;
	}
}
