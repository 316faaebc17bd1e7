/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libteec's functions, exported by teebench: a PKCS #11 module that is loaded
 * is bound to these. teebench itself asks the library for its functions by
 * dlsym() and never comes here.
 */
#include <dlfcn.h>
#include <string.h>

#include <tee_client_api.h>

#include "clock.h"
#include "pkcs11.h"

struct pkcs11_layers pkcs11_layers;

/* Finds the library's own function, into *function. */
static void find(void *function, const char *name)
{
	void *symbol = dlsym(dlopen("libteec.so.2", RTLD_NOW), name);

	memcpy(function, &symbol, sizeof(symbol));
}

TEEC_Result TEEC_InvokeCommand(TEEC_Session *session, uint32_t command, TEEC_Operation *op,
			       uint32_t *origin);
TEEC_Result TEEC_InvokeCommand(TEEC_Session *session, uint32_t command, TEEC_Operation *op,
			       uint32_t *origin)
{
	static TEEC_Result (*real)(TEEC_Session * session, uint32_t command, TEEC_Operation * op,
				   uint32_t * origin);
	uint64_t begin;
	TEEC_Result res;

	if (!real)
		find(&real, "TEEC_InvokeCommand");
	begin = clock_now_ns();
	res = real(session, command, op, origin);
	pkcs11_layers.invoke_ns += clock_now_ns() - begin;
	pkcs11_layers.invokes++;
	return res;
}

#define MEMORY(name)                                                                         \
	TEEC_Result name(TEEC_Context *context, TEEC_SharedMemory *shm);                     \
	TEEC_Result name(TEEC_Context *context, TEEC_SharedMemory *shm)                      \
	{                                                                                    \
		static TEEC_Result (*real)(TEEC_Context * context, TEEC_SharedMemory * shm); \
		uint64_t begin;                                                              \
		TEEC_Result res;                                                             \
                                                                                             \
		if (!real)                                                                   \
			find(&real, #name);                                                  \
		begin = clock_now_ns();                                                      \
		res = real(context, shm);                                                    \
		pkcs11_layers.memory_ns += clock_now_ns() - begin;                           \
		pkcs11_layers.allocations++;                                                 \
		return res;                                                                  \
	}

MEMORY(TEEC_AllocateSharedMemory)
MEMORY(TEEC_RegisterSharedMemory)

void TEEC_ReleaseSharedMemory(TEEC_SharedMemory *shm);
void TEEC_ReleaseSharedMemory(TEEC_SharedMemory *shm)
{
	static void (*real)(TEEC_SharedMemory * shm);
	uint64_t begin;

	if (!real)
		find(&real, "TEEC_ReleaseSharedMemory");
	begin = clock_now_ns();
	real(shm);
	pkcs11_layers.memory_ns += clock_now_ns() - begin;
}
