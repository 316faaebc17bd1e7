/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

/* Four types that exist, and nothing besides. */
static bool types_exist(uint32_t types)
{
	for (uint32_t i = 0; i < TEE_NUM_PARAMS; i++) {
		switch (TEE_PARAM_TYPE_GET(types, i)) {
		case TEE_PARAM_TYPE_NONE:
		case TEE_PARAM_TYPE_VALUE_INPUT:
		case TEE_PARAM_TYPE_VALUE_OUTPUT:
		case TEE_PARAM_TYPE_VALUE_INOUT:
		case TEE_PARAM_TYPE_MEMREF_INPUT:
		case TEE_PARAM_TYPE_MEMREF_OUTPUT:
		case TEE_PARAM_TYPE_MEMREF_INOUT:
			break;
		default:
			return false;
		}
	}
	return types >> 16 == 0;
}

/* Timed by the session's clock: all but the command that is about the clock. */
static TEE_Result run(const struct command *command, struct session *session,
		      TEE_Param params[TEE_NUM_PARAMS])
{
	struct clock *clock = command_clock(session);
	TEE_Result res = TEE_SUCCESS;
	uint64_t begin = 0;

	if (clock->counter == TA_CLOCK_OFF || command->id == TA_CLOCK_CMD)
		return command->run(session, params);
	begin = clock_read(clock);
	res = command->run(session, params);
	clock->ticks += clock_read(clock) - begin;
	return res;
}

TEE_Result command_run(const struct command *commands, struct session *session,
		       uint32_t id, uint32_t types,
		       TEE_Param params[TEE_NUM_PARAMS])
{
	TEE_Result res = TEE_ERROR_NOT_SUPPORTED;

	for (const struct command *command = commands; command->run;
	     command++) {
		if (command->id != id)
			continue;
		res = TEE_ERROR_BAD_PARAMETERS;
		if (command->any_types ? types_exist(types) :
					 command->types == types)
			return run(command, session, params);
	}
	return res;
}

TEE_Result command_nop(struct session *session, TEE_Param *params)
{
	(void)session;
	(void)params;
	return TEE_SUCCESS;
}

TEE_Result command_clock_switch(struct session *session, TEE_Param *params)
{
	return clock_switch(command_clock(session), params);
}
