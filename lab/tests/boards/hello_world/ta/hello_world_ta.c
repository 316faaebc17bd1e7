/* SPDX-License-Identifier: BSD-2-Clause */
/* Written from the interface of the hello_world of optee_examples. */
#include <tee_internal_api.h>

#include <hello_world_ta.h>

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

TEE_Result TA_InvokeCommandEntryPoint(void *session, uint32_t command, uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS])
{
	const uint32_t value = TEE_PARAM_TYPES(TEE_PARAM_TYPE_VALUE_INOUT, TEE_PARAM_TYPE_NONE,
					       TEE_PARAM_TYPE_NONE, TEE_PARAM_TYPE_NONE);

	(void)session;

	switch (command) {
	case TA_HELLO_WORLD_CMD_INC_VALUE:
		if (types != value)
			return TEE_ERROR_BAD_PARAMETERS;
		params[0].value.a++;
		return TEE_SUCCESS;
	case TA_HELLO_WORLD_CMD_DEC_VALUE:
		if (types != value)
			return TEE_ERROR_BAD_PARAMETERS;
		params[0].value.a--;
		return TEE_SUCCESS;
	case TA_HELLO_WORLD_CMD_PANIC:
		TEE_Panic(0);
		return TEE_ERROR_GENERIC;
	default:
		return TEE_ERROR_BAD_PARAMETERS;
	}
}
