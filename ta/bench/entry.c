/* SPDX-License-Identifier: BSD-2-Clause */
/* What OP-TEE calls: the life of a session. */
#include "session.h"

TEE_Result TA_OpenSessionEntryPoint(uint32_t types,
				    TEE_Param params[TEE_NUM_PARAMS],
				    void **context)
{
	struct session *session = NULL;

	(void)params;

	if (types != TYPES(NONE, NONE, NONE, NONE))
		return TEE_ERROR_BAD_PARAMETERS;

	session = TEE_Malloc(sizeof(*session), TEE_MALLOC_FILL_ZERO);
	if (!session)
		return TEE_ERROR_OUT_OF_MEMORY;
	*context = session;
	return TEE_SUCCESS;
}

void TA_CloseSessionEntryPoint(void *context)
{
	struct session *session = context;

	cipher_close(&session->cipher);
	mac_close(&session->mac);
	asym_close(&session->asym);
	object_close(session);
	TEE_Free(session);
}

TEE_Result TA_InvokeCommandEntryPoint(void *context, uint32_t cmd,
				      uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS])
{
	return command_run(commands, context, cmd, types, params);
}
