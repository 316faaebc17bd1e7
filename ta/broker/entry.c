/* SPDX-License-Identifier: BSD-2-Clause */
/* What OP-TEE calls, and the commands of ta_broker.h. */
#include <bytes.h>

#include "cache.h"
#include "commands.h"
#include "registry.h"

static TEE_Result info(struct session *session, TEE_Param *params)
{
	const struct table *table = &session->broker->table;

	params[0].value.a = TA_BROKER_ABI;
	params[0].value.b = 0;
	for (uint32_t row = 0; row < table->used; row++)
		params[0].value.b += table->rows[row].tag != 0;
	return TEE_SUCCESS;
}

static TEE_Result extensions(struct session *session, TEE_Param *params)
{
	(void)params;

	if (!gcm_ce)
		return TEE_ERROR_NOT_SUPPORTED;
	session->class = gcm_ce;
	return TEE_SUCCESS;
}

static TEE_Result statistics(struct session *session, TEE_Param *params)
{
	const struct tz_statistics *all = &session->broker->statistics;
	TEE_Result res = check_output(&params[0], sizeof(*all));

	if (!res)
		put_output(&params[0], all, sizeof(*all));
	return res;
}

static const struct command commands[] = {
	{ .id = TA_BROKER_CMD_NOP, .any_types = true, .run = command_nop },
	{ .id = TA_BROKER_CMD_INFO,
	  .types = TYPES(VALUE_OUT, NONE, NONE, NONE),
	  .run = info },
	{ .id = TA_BROKER_CMD_IDENTITY,
	  .types = TYPES(MEMREF_OUT, NONE, NONE, NONE),
	  .run = identity },
	{ .id = TA_BROKER_CMD_CLAIM,
	  .types = TYPES(MEMREF_IN, NONE, NONE, NONE),
	  .run = claim },
	{ .id = TA_BROKER_CMD_ORDER,
	  .types = TYPES(MEMREF_IN, NONE, NONE, NONE),
	  .run = order },
	{ .id = TA_BROKER_CMD_FORWARD,
	  .types = TYPES(MEMREF_IN, MEMREF_IN, MEMREF_OUT, VALUE_INOUT),
	  .run = forward },
	{ .id = TA_BROKER_CMD_STATISTICS,
	  .types = TYPES(MEMREF_OUT, NONE, NONE, NONE),
	  .run = statistics },
	{ .id = TA_BROKER_CMD_EXTENSIONS,
	  .types = TYPES(NONE, NONE, NONE, NONE),
	  .run = extensions },
	{ .id = TA_BROKER_CMD_LIST,
	  .types = TYPES(VALUE_INOUT, MEMREF_OUT, NONE, NONE),
	  .run = list },
	COMMAND_CLOCK_ROW,
	{ 0 },
};

/* The one instance's; sessions share it. */
static struct broker *shared;

TEE_Result TA_CreateEntryPoint(void)
{
	shared = TEE_Malloc(sizeof(*shared), TEE_MALLOC_FILL_ZERO);
	return shared ? TEE_SUCCESS : TEE_ERROR_OUT_OF_MEMORY;
}

void TA_DestroyEntryPoint(void)
{
	wipe(shared, sizeof(*shared));
	TEE_Free(shared);
	shared = NULL;
}

TEE_Result TA_OpenSessionEntryPoint(uint32_t types,
				    TEE_Param params[TEE_NUM_PARAMS],
				    void **context)
{
	struct session *session = NULL;
	TEE_Result res = TEE_SUCCESS;

	(void)params;
	if (types != TYPES(NONE, NONE, NONE, NONE))
		return TEE_ERROR_BAD_PARAMETERS;
	res = registry_open(shared);
	if (res)
		return res;
	session = TEE_Malloc(sizeof(*session), TEE_MALLOC_FILL_ZERO);
	if (!session)
		return TEE_ERROR_OUT_OF_MEMORY;
	session->broker = shared;
	session->class = &gcm_c;
	shared->sessions++;
	*context = session;
	return TEE_SUCCESS;
}

/*
 * With the last session the instance ends; OP-TEE doesn't wait for what an
 * instance would store then, so it is stored here.
 */
void TA_CloseSessionEntryPoint(void *context)
{
	TEE_Free(context);
	if (--shared->sessions)
		return;
	registry_save(shared);
	registry_close(shared);
	cache_clear(shared);
}

TEE_Result TA_InvokeCommandEntryPoint(void *context, uint32_t cmd,
				      uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS])
{
	return command_run(commands, context, cmd, types, params);
}

/* No arithmetic of the TEE's: ta/common/startup.c says why this is here. */
void _TEE_MathAPI_Init(void);

void _TEE_MathAPI_Init(void)
{
}
