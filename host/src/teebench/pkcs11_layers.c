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

struct stretch {
	uint64_t begin, *sum; /* nanoseconds */
};

static void end(const struct stretch *stretch)
{
	*stretch->sum += clock_now_ns() - stretch->begin;
}

/* Calls the library's function of that name; the time that it takes is added to SUM. */
#define LAYER(RESULT, NAME, PARAMETERS, ARGUMENTS, SUM, COUNT)                            \
	RESULT NAME PARAMETERS;                                                           \
	RESULT NAME PARAMETERS                                                            \
	{                                                                                 \
		static RESULT(*real) PARAMETERS;                                          \
		__attribute__((cleanup(end))) struct stretch stretch = { .sum = &(SUM) }; \
                                                                                          \
		if (!real)                                                                \
			find(&real, #NAME);                                               \
		COUNT;                                                                    \
		stretch.begin = clock_now_ns();                                           \
		return real ARGUMENTS;                                                    \
	}

LAYER(TEEC_Result, TEEC_InvokeCommand,
      (TEEC_Session * session, uint32_t command, TEEC_Operation *op, uint32_t *origin),
      (session, command, op, origin), pkcs11_layers.invoke_ns, pkcs11_layers.invokes++)
LAYER(TEEC_Result, TEEC_AllocateSharedMemory, (TEEC_Context * context, TEEC_SharedMemory *shm),
      (context, shm), pkcs11_layers.memory_ns, pkcs11_layers.allocations++)
LAYER(TEEC_Result, TEEC_RegisterSharedMemory, (TEEC_Context * context, TEEC_SharedMemory *shm),
      (context, shm), pkcs11_layers.memory_ns, pkcs11_layers.allocations++)
LAYER(void, TEEC_ReleaseSharedMemory, (TEEC_SharedMemory * shm), (shm), pkcs11_layers.memory_ns, )
