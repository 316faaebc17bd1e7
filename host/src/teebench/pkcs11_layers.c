/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that teebench exports under libteec's names: the dynamic loader binds a PKCS #11 module
 * to them. teebench itself finds libteec's own functions by dlsym(), and never calls these.
 */
#include <dlfcn.h>

#include <tee_client_api.h>

#include "clock.h"
#include "pkcs11.h"

struct pkcs11_layers pkcs11_layers;

/* Sets *function to the address of libteec's own function `name`. */
static void find(void *function, const char *name)
{
	void *symbol = dlsym(dlopen("libteec.so.2", RTLD_NOW), name);

	memcpy(function, &symbol, sizeof(symbol));
}

struct stretch {
	uint64_t begin, *sum; /* in nanoseconds */
};

static void end(const struct stretch *stretch)
{
	*stretch->sum += clock_now_ns() - stretch->begin;
}

/* Defines function NAME: calls libteec's NAME, adds its nanoseconds to SUM, and executes COUNT. */
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
