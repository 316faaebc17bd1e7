/* SPDX-License-Identifier: BSD-2-Clause */
/* What OP-TEE calls: the life of a session. */
#include <tee_internal_api.h>

#include "commands.h"

TEE_Result TA_OpenSessionEntryPoint(uint32_t types,
				    TEE_Param params[TEE_NUM_PARAMS],
				    void **context)
{
	struct session *session = NULL;

	(void)params;

	if (types != TEE_PARAM_TYPES(TEE_PARAM_TYPE_NONE, TEE_PARAM_TYPE_NONE,
				     TEE_PARAM_TYPE_NONE, TEE_PARAM_TYPE_NONE))
		return TEE_ERROR_BAD_PARAMETERS;

	session = TEE_Malloc(sizeof(*session), TEE_MALLOC_FILL_ZERO);
	if (!session)
		return TEE_ERROR_OUT_OF_MEMORY;
	stack_region_find(&session->stack);
	stack_paint(&session->stack);
	*context = session;
	return TEE_SUCCESS;
}

void TA_CloseSessionEntryPoint(void *context)
{
	struct session *session = context;

	digest_slot_close(&session->oneshot);
	digest_slot_close(&session->stream);
	TEE_Free(session);
}

TEE_Result TA_InvokeCommandEntryPoint(void *context, uint32_t cmd,
				      uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS])
{
	return command_run(commands, context, cmd, types, params);
}
