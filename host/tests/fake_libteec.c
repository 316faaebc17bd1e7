/* SPDX-License-Identifier: BSD-2-Clause */
/* A libteec for tests: answers what the test sets here. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tee_client_api.h>

#include "fake_libteec.h"

struct fake_libteec fake_libteec;

TEEC_Result TEEC_InitializeContext(const char *name, TEEC_Context *context)
{
	(void)name;
	memset(context, 0x5a, sizeof(*context));
	if (!fake_libteec.initialize)
		fake_libteec.contexts++;
	return fake_libteec.initialize;
}

void TEEC_FinalizeContext(TEEC_Context *context)
{
	(void)context;
	fake_libteec.contexts--;
}

TEEC_Result TEEC_OpenSession(TEEC_Context *context, TEEC_Session *session,
			     const TEEC_UUID *destination, uint32_t method, const void *data,
			     TEEC_Operation *operation, uint32_t *origin)
{
	(void)context;
	(void)session;
	(void)destination;
	(void)method;
	(void)data;
	(void)operation;
	while (fake_libteec.hang)
		usleep(1000);
	fake_libteec.opens++;
	*origin = fake_libteec.origin;
	if (!fake_libteec.open)
		fake_libteec.sessions++;
	return fake_libteec.open;
}

void TEEC_CloseSession(TEEC_Session *session)
{
	(void)session;
	fake_libteec.sessions--;
}

TEEC_Result TEEC_InvokeCommand(TEEC_Session *session, uint32_t command, TEEC_Operation *operation,
			       uint32_t *origin)
{
	(void)session;
	*origin = fake_libteec.origin;
	if (fake_libteec.answer)
		return fake_libteec.answer(command, operation);
	return fake_libteec.invoke;
}

TEEC_Result TEEC_RegisterSharedMemory(TEEC_Context *context, TEEC_SharedMemory *shm)
{
	(void)context;
	(void)shm;
	return TEEC_ERROR_NOT_SUPPORTED;
}

TEEC_Result TEEC_AllocateSharedMemory(TEEC_Context *context, TEEC_SharedMemory *shm)
{
	(void)context;
	if (fake_libteec.allocate)
		return fake_libteec.allocate;
	shm->buffer = calloc(1, shm->size);
	return shm->buffer ? TEEC_SUCCESS : TEEC_ERROR_OUT_OF_MEMORY;
}

void TEEC_ReleaseSharedMemory(TEEC_SharedMemory *shm)
{
	free(shm->buffer);
}

void TEEC_RequestCancellation(TEEC_Operation *operation)
{
	(void)operation;
}
