/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry points that OP-TEE calls: beginning and end of instance and sessions, and commands. */
#include "command.h"

#include "counter.h"

/*
 * Returns true if `types` is four types that exist, with no other bits set. If the command touches
 * its buffers, each buffer with a size must also have an address.
 */
static bool params_ok(uint32_t types, const TEE_Param params[TEE_NUM_PARAMS], bool touched)
{
	for (uint32_t i = 0; i < TEE_NUM_PARAMS; i++) {
		switch (TEE_PARAM_TYPE_GET(types, i)) {
		case TEE_PARAM_TYPE_NONE:
		case TEE_PARAM_TYPE_VALUE_INPUT:
		case TEE_PARAM_TYPE_VALUE_OUTPUT:
		case TEE_PARAM_TYPE_VALUE_INOUT:
			break;
		case TEE_PARAM_TYPE_MEMREF_INPUT:
		case TEE_PARAM_TYPE_MEMREF_OUTPUT:
		case TEE_PARAM_TYPE_MEMREF_INOUT:
			if (touched && params[i].memref.size && !params[i].memref.buffer)
				return false;
			break;
		default:
			return false;
		}
	}
	return types >> 16 == 0;
}

static uint64_t clock_read(const struct clock *clock)
{
	return clock->counter == TA_CLOCK_PHYSICAL ? counter_physical() : counter_virtual();
}

/* Runs a command, timed by the session's clock unless the command is about the clock. */
static TEE_Result run(const struct command *command, struct session *session,
		      TEE_Param params[TEE_NUM_PARAMS])
{
	struct clock *clock = (struct clock *)session;
	TEE_Result res = TEE_SUCCESS;
	uint64_t begin = 0;

	if (clock->counter == TA_CLOCK_OFF || command->id == TA_CLOCK_CMD)
		return command->run(session, params);
	begin = clock_read(clock);
	res = command->run(session, params);
	clock->ticks += clock_read(clock) - begin;
	return res;
}

TEE_Result TA_InvokeCommandEntryPoint(void *session, uint32_t id, uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS])
{
	TEE_Result res = TEE_ERROR_NOT_SUPPORTED;

	for (const struct command *row = commands; row->run; row++) {
		bool any = row->types == ANY_TYPES;

		if (row->id != id)
			continue;
		res = TEE_ERROR_BAD_PARAMETERS;
		if ((any || row->types == types) && params_ok(types, params, !any))
			return run(row, session, params);
	}
	return res;
}

TEE_Result command_nop(struct session *session, TEE_Param *params)
{
	return TEE_SUCCESS;
}

TEE_Result command_clock_switch(struct session *session, TEE_Param *params)
{
	struct clock *clock = (struct clock *)session;
	bool was_on = clock->counter != TA_CLOCK_OFF;
	uint32_t counter = params[0].value.a;

	if (counter > TA_CLOCK_PHYSICAL)
		return TEE_ERROR_BAD_PARAMETERS;
	params[1].value.a = (uint32_t)clock->ticks;
	params[1].value.b = (uint32_t)(clock->ticks >> 32);
	params[2].value.a = was_on ? counter_frequency() : 0;
	params[2].value.b = 0;
	*clock = (struct clock){ .counter = counter };
	return TEE_SUCCESS;
}

__attribute__((weak)) TEE_Result session_open(struct session *session)
{
	return TEE_SUCCESS;
}

__attribute__((weak)) void session_close(struct session *session)
{
}

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

	if (types != TYPES(NONE))
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

/*
 * OP-TEE's start-up code calls this to prepare the TEE Arithmetical API. OP-TEE's own version would
 * link 40 KB of code, and 14 KB of memory that every call maps anew. A TA without such arithmetic
 * defines this empty version instead. If the TA did use TEE_BigInt…(), the linker would report a
 * double definition.
 */
void _TEE_MathAPI_Init(void);

void _TEE_MathAPI_Init(void)
{
}
