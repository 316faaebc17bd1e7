/* SPDX-License-Identifier: BSD-2-Clause */
/* A TA that may be killed: each command does one thing that the TEE may forbid. */
#include <teemark/ta_probe.h>

#include "command.h"
#include "counter.h"

static TEE_Result say(TEE_Param *params, uint64_t count)
{
	params[0].value.a = (uint32_t)count;
	params[0].value.b = (uint32_t)(count >> 32);
	params[1].value.a = counter_frequency();
	params[1].value.b = 0;
	return TEE_SUCCESS;
}

static TEE_Result virtual(struct session *session, TEE_Param *params)
{
	return say(params, counter_virtual());
}

static TEE_Result physical(struct session *session, TEE_Param *params)
{
	return say(params, counter_physical());
}

const size_t session_bytes = sizeof(struct clock);

const struct command commands[] = {
	ROW(TA_PROBE_CMD_NOP, command_nop, NONE),
	ROW(TA_PROBE_CMD_COUNTER_VIRTUAL, virtual, VALUE_OUT, VALUE_OUT),
	ROW(TA_PROBE_CMD_COUNTER_PHYSICAL, physical, VALUE_OUT, VALUE_OUT),
	{ 0 },
};
