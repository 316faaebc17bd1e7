/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TA to be sacrificed: each command does one thing that may be forbidden.
 * It has no state.
 */
#include <tee_internal_api.h>

#include <teemark/ta_probe.h>

#include "counter.h"

#define NONE      TEE_PARAM_TYPE_NONE
#define VALUE_OUT TEE_PARAM_TYPE_VALUE_OUTPUT

#define NO_PARAMS TEE_PARAM_TYPES(NONE, NONE, NONE, NONE)

static TEE_Result counter(TEE_Param params[TEE_NUM_PARAMS],
			  uint64_t (*read)(void))
{
	uint64_t count = read();

	params[0].value.a = (uint32_t)count;
	params[0].value.b = (uint32_t)(count >> 32);
	params[1].value.a = counter_frequency();
	params[1].value.b = 0;
	return TEE_SUCCESS;
}

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
	uint32_t wanted = NO_PARAMS;

	(void)context;

	if (cmd > TA_PROBE_CMD_COUNTER_PHYSICAL)
		return TEE_ERROR_NOT_SUPPORTED;
	if (cmd == TA_PROBE_CMD_COUNTER_VIRTUAL ||
	    cmd == TA_PROBE_CMD_COUNTER_PHYSICAL)
		wanted = TEE_PARAM_TYPES(VALUE_OUT, VALUE_OUT, NONE, NONE);
	if (types != wanted)
		return TEE_ERROR_BAD_PARAMETERS;

	switch (cmd) {
	case TA_PROBE_CMD_COUNTER_VIRTUAL:
		return counter(params, counter_virtual);
	case TA_PROBE_CMD_COUNTER_PHYSICAL:
		return counter(params, counter_physical);
	default:
		return TEE_SUCCESS;
	}
}
