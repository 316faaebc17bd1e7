/* SPDX-License-Identifier: BSD-2-Clause */
/* A TA that does nothing and has memory: ta_size.h. */
#include <tee_internal_api.h>

#include <teemark/ta_size.h>

#define NONE      TEE_PARAM_TYPE_NONE
#define NO_PARAMS TEE_PARAM_TYPES(NONE, NONE, NONE, NONE)

TEE_Result TA_OpenSessionEntryPoint(uint32_t types,
				    TEE_Param params[TEE_NUM_PARAMS],
				    void **context)
{
	(void)params;

	*context = NULL;
	return types == NO_PARAMS ? TEE_SUCCESS : TEE_ERROR_BAD_PARAMETERS;
}

void TA_CloseSessionEntryPoint(void *context)
{
	(void)context;
}

TEE_Result TA_InvokeCommandEntryPoint(void *context, uint32_t cmd,
				      uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS])
{
	(void)context;
	(void)params;

	if (cmd != TA_SIZE_CMD_NOP)
		return TEE_ERROR_NOT_SUPPORTED;
	return types == NO_PARAMS ? TEE_SUCCESS : TEE_ERROR_BAD_PARAMETERS;
}
