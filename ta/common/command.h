/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of a TA as a table: which parameter types each takes, who runs it.
 * A handler is called with the types of its row and with nothing else checked.
 *
 * Shared memory belongs to the normal world and may change at any time. So
 * what decides something (a name, a key, an IV) is copied first, and the rest
 * is given to who reads it once or decides nothing by it.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <tee_internal_api.h>

#include "clock.h"

#define NONE        TEE_PARAM_TYPE_NONE
#define VALUE_IN    TEE_PARAM_TYPE_VALUE_INPUT
#define VALUE_OUT   TEE_PARAM_TYPE_VALUE_OUTPUT
#define VALUE_INOUT TEE_PARAM_TYPE_VALUE_INOUT
#define MEMREF_IN   TEE_PARAM_TYPE_MEMREF_INPUT
#define MEMREF_OUT  TEE_PARAM_TYPE_MEMREF_OUTPUT

#define TYPES TEE_PARAM_TYPES

/* size_t since OP-TEE 3.20, uint32_t before: as in a memref. */
typedef __typeof__(((TEE_Param *)0)->memref.size) tee_size;

/* Each TA's own; its first member is its clock: COMMAND_SESSION(). */
struct session;

#define COMMAND_SESSION(type)                                \
	_Static_assert(__builtin_offsetof(type, clock) == 0, \
		       "a session begins with its clock")

static inline struct clock *command_clock(struct session *session)
{
	return (struct clock *)session;
}

/* The row of an id may come more than once, with other types. */
struct command {
	uint32_t id;
	uint32_t types;
	bool any_types; /* whatever types there are; touches no parameter */
	TEE_Result (*run)(struct session *session, TEE_Param *params);
};

/* Finds the row by id and types, and runs it; the last row has no `run`. */
TEE_Result command_run(const struct command *commands, struct session *session,
		       uint32_t id, uint32_t types,
		       TEE_Param params[TEE_NUM_PARAMS]);

/* The empty call: its row has any_types. */
TEE_Result command_nop(struct session *session, TEE_Param *params);

/* TA_CLOCK_CMD; a row of every TA that has sessions. */
TEE_Result command_clock_switch(struct session *session, TEE_Param *params);

#define COMMAND_CLOCK_ROW                                             \
	{                                                             \
		.id = TA_CLOCK_CMD,                                   \
		.types = TYPES(VALUE_IN, VALUE_OUT, VALUE_OUT, NONE), \
		.run = command_clock_switch,                          \
	}

/* A buffer as the client gave it. */
struct input {
	const uint8_t *data;
	size_t len;
};

static inline TEE_Result get_input(struct input *in, const TEE_Param *param)
{
	in->data = param->memref.buffer;
	in->len = param->memref.size;
	if (in->len && !in->data)
		return TEE_ERROR_BAD_PARAMETERS;
	/* An empty buffer's address need not be one that may be read. */
	if (!in->len)
		in->data = NULL;
	return TEE_SUCCESS;
}

/*
 * Is there room for len bytes? Says how much it takes if not. Nothing may be
 * written where len is 0.
 */
static inline TEE_Result check_output(TEE_Param *param, size_t len)
{
	if (param->memref.size < len) {
		param->memref.size = len;
		return TEE_ERROR_SHORT_BUFFER;
	}
	if (len && !param->memref.buffer)
		return TEE_ERROR_BAD_PARAMETERS;
	return TEE_SUCCESS;
}

/* After check_output(). */
static inline void put_output(TEE_Param *param, const void *data, size_t len)
{
	if (len)
		TEE_MemMove(param->memref.buffer, data, len);
	param->memref.size = len;
}

#endif
