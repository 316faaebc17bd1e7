/* SPDX-License-Identifier: BSD-2-Clause */
/* OP-TEE calls these: the life of an instance and of its sessions. */
#include "command.h"

TEE_Result TA_CreateEntryPoint(void)
{
	return TEE_SUCCESS;
}

void TA_DestroyEntryPoint(void)
{
}

TEE_Result TA_OpenSessionEntryPoint(uint32_t types, TEE_Param params[TEE_NUM_PARAMS],
				    void **context)
{
	struct session *session = NULL;
	TEE_Result res = TEE_SUCCESS;

	(void)params;
	if (types != TYPES(NONE, NONE, NONE, NONE))
		return TEE_ERROR_BAD_PARAMETERS;
	session = TEE_Malloc(session_bytes, TEE_MALLOC_FILL_ZERO);
	if (!session)
		return TEE_ERROR_OUT_OF_MEMORY;
	res = session_open(session);
	if (res)
		TEE_Free(session);
	else
		*context = session;
	return res;
}

void TA_CloseSessionEntryPoint(void *context)
{
	session_close(context);
	TEE_Free(context);
}

TEE_Result TA_InvokeCommandEntryPoint(void *context, uint32_t cmd, uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS])
{
	return command_run(context, cmd, types, params);
}

/*
 * OP-TEE's start-up code calls this to prepare the TEE Arithmetical API, and
 * with it come 40 KB of code and 14 KB of memory that every call maps anew. A
 * TA that does no such arithmetic defines it itself and gets none of them.
 * Should the TA use TEE_BigInt…(), the linker reports this as defined twice.
 */
void _TEE_MathAPI_Init(void);

void _TEE_MathAPI_Init(void)
{
}
