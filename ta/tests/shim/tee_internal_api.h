/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much of the GlobalPlatform TEE Internal Core API 1.3 as the digest TA
 * uses, for tests on a workstation. It is stricter than a TEE: whatever the
 * specification answers with a panic ends in shim_panic().
 */
#ifndef TEE_INTERNAL_API_H
#define TEE_INTERNAL_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t TEE_Result;

#define TEE_SUCCESS              0x00000000u
#define TEE_ERROR_GENERIC        0xFFFF0000u
#define TEE_ERROR_BAD_PARAMETERS 0xFFFF0006u
#define TEE_ERROR_BAD_STATE      0xFFFF0007u
#define TEE_ERROR_NOT_SUPPORTED  0xFFFF000Au
#define TEE_ERROR_OUT_OF_MEMORY  0xFFFF000Cu
#define TEE_ERROR_SHORT_BUFFER   0xFFFF0010u

#define TEE_NUM_PARAMS 4

#define TEE_PARAM_TYPE_NONE          0
#define TEE_PARAM_TYPE_VALUE_INPUT   1
#define TEE_PARAM_TYPE_VALUE_OUTPUT  2
#define TEE_PARAM_TYPE_VALUE_INOUT   3
#define TEE_PARAM_TYPE_MEMREF_INPUT  5
#define TEE_PARAM_TYPE_MEMREF_OUTPUT 6
#define TEE_PARAM_TYPE_MEMREF_INOUT  7

#define TEE_PARAM_TYPES(t0, t1, t2, t3)                               \
	((uint32_t)(t0) | (uint32_t)(t1) << 4 | (uint32_t)(t2) << 8 | \
	 (uint32_t)(t3) << 12)
#define TEE_PARAM_TYPE_GET(t, i) (((uint32_t)(t) >> ((i)*4)) & 15)

typedef union {
	struct {
		void *buffer;
		size_t size;
	} memref;
	struct {
		uint32_t a;
		uint32_t b;
	} value;
} TEE_Param;

#define TEE_MALLOC_FILL_ZERO 0
#define TEE_MODE_DIGEST      5

#define TEE_CRYPTO_ELEMENT_NONE 0

typedef struct shim_operation *TEE_OperationHandle;

void *TEE_Malloc(size_t size, uint32_t hint);
void TEE_Free(void *buffer);
void TEE_MemMove(void *dest, const void *src, size_t size);
void TEE_MemFill(void *buffer, uint8_t x, size_t size);

TEE_Result TEE_IsAlgorithmSupported(uint32_t alg, uint32_t element);
TEE_Result TEE_AllocateOperation(TEE_OperationHandle *operation, uint32_t alg,
				 uint32_t mode, uint32_t max_key_size);
void TEE_FreeOperation(TEE_OperationHandle operation);
void TEE_ResetOperation(TEE_OperationHandle operation);
void TEE_DigestUpdate(TEE_OperationHandle operation, const void *chunk,
		      size_t size);
TEE_Result TEE_DigestDoFinal(TEE_OperationHandle operation, const void *chunk,
			     size_t size, void *hash, size_t *hash_len);

TEE_Result TA_CreateEntryPoint(void);
void TA_DestroyEntryPoint(void);
TEE_Result TA_OpenSessionEntryPoint(uint32_t types,
				    TEE_Param params[TEE_NUM_PARAMS],
				    void **context);
void TA_CloseSessionEntryPoint(void *context);
TEE_Result TA_InvokeCommandEntryPoint(void *context, uint32_t cmd,
				      uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS]);

#endif
