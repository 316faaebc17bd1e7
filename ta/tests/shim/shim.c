/* SPDX-License-Identifier: BSD-2-Clause */
/* The API over libc and libcrypto. */
#include "shim.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tee_internal_api.h>
#include <teemark/algorithms.h>

#include "stack.h"

unsigned int shim_fail_alloc;
unsigned int shim_fail_do_final;
uint32_t shim_unsupported_alg;
size_t shim_allocations;
size_t shim_operations_made;

struct shim_operation {
	EVP_MD_CTX *ctx;
	const EVP_MD *md;
};

void shim_panic(const char *what)
{
	fprintf(stderr, "TEE_Panic: %s\n", what);
	abort();
}

static bool fails(unsigned int *countdown)
{
	if (!*countdown)
		return false;
	if (*countdown > 1) {
		--*countdown;
		return false;
	}
	return true;
}

void *TEE_Malloc(size_t size, uint32_t hint)
{
	void *p = NULL;

	if (hint != TEE_MALLOC_FILL_ZERO)
		shim_panic("TEE_Malloc: hint");
	if (fails(&shim_fail_alloc))
		return NULL;
	p = calloc(1, size);
	shim_allocations += p != NULL;
	return p;
}

void TEE_Free(void *buffer)
{
	shim_allocations -= buffer != NULL;
	free(buffer);
}

void TEE_MemMove(void *dest, const void *src, size_t size)
{
	memmove(dest, src, size);
}

void TEE_MemFill(void *buffer, uint8_t x, size_t size)
{
	memset(buffer, x, size);
}

static const EVP_MD *find_md(uint32_t alg)
{
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].class == ALG_DIGEST &&
		    algorithms[i].tee == alg)
			return EVP_get_digestbyname(algorithms[i].evp);
	return NULL;
}

TEE_Result TEE_IsAlgorithmSupported(uint32_t alg, uint32_t element)
{
	if (element != TEE_CRYPTO_ELEMENT_NONE || alg == shim_unsupported_alg ||
	    !find_md(alg))
		return TEE_ERROR_NOT_SUPPORTED;
	return TEE_SUCCESS;
}

TEE_Result TEE_AllocateOperation(TEE_OperationHandle *operation, uint32_t alg,
				 uint32_t mode, uint32_t max_key_size)
{
	struct shim_operation *op = NULL;

	if (mode != TEE_MODE_DIGEST || max_key_size)
		shim_panic("TEE_AllocateOperation: mode or key size");
	if (TEE_IsAlgorithmSupported(alg, 0) != TEE_SUCCESS)
		return TEE_ERROR_NOT_SUPPORTED;
	shim_operations_made++;
	op = TEE_Malloc(sizeof(*op), TEE_MALLOC_FILL_ZERO);
	if (!op)
		return TEE_ERROR_OUT_OF_MEMORY;
	op->md = find_md(alg);
	op->ctx = EVP_MD_CTX_new();
	*operation = op;
	TEE_ResetOperation(op);
	return TEE_SUCCESS;
}

void TEE_FreeOperation(TEE_OperationHandle operation)
{
	if (!operation)
		return;
	EVP_MD_CTX_free(operation->ctx);
	TEE_Free(operation);
}

void TEE_ResetOperation(TEE_OperationHandle operation)
{
	if (!operation)
		shim_panic("TEE_ResetOperation: null handle");
	if (EVP_DigestInit_ex(operation->ctx, operation->md, NULL) != 1)
		shim_panic("EVP_DigestInit_ex");
}

void TEE_DigestUpdate(TEE_OperationHandle operation, const void *chunk,
		      size_t size)
{
	if (!operation || (size && !chunk))
		shim_panic("TEE_DigestUpdate: null");
	if (EVP_DigestUpdate(operation->ctx, chunk, size) != 1)
		shim_panic("EVP_DigestUpdate");
}

TEE_Result TEE_DigestDoFinal(TEE_OperationHandle operation, const void *chunk,
			     size_t size, void *hash, size_t *hash_len)
{
	size_t need = 0;

	if (!operation || (size && !chunk) || !hash || !hash_len)
		shim_panic("TEE_DigestDoFinal: null");
	need = EVP_MD_get_size(operation->md);
	if (fails(&shim_fail_do_final))
		return TEE_ERROR_GENERIC;
	if (*hash_len < need) {
		*hash_len = need;
		return TEE_ERROR_SHORT_BUFFER;
	}
	TEE_DigestUpdate(operation, chunk, size);
	if (EVP_DigestFinal_ex(operation->ctx, hash, NULL) != 1)
		shim_panic("EVP_DigestFinal_ex");
	*hash_len = need;
	TEE_ResetOperation(operation);
	return TEE_SUCCESS;
}

/* A stack of its own for the marks; nothing runs on it. */
void stack_region_find(struct stack_region *region)
{
	static uint64_t stack[1024];

	region->low = (uintptr_t)stack;
	region->unused = (uintptr_t)(stack + 1000);
	region->top = (uintptr_t)(stack + 1024);
}
