/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of a TA as a table: which parameter types each takes, who runs it.
 * A handler is called with the types of its row, and each of its buffers has
 * an address if it has a size; nothing else is checked.
 *
 * Shared memory belongs to the normal world and may change at any time. So
 * what decides something (a name, a key, an IV) is copied first, and the rest
 * is given to who reads it once or decides nothing by it.
 */
#pragma once

#include <tee_internal_api.h>

#include <teemark/ta_clock.h>

#define NONE        TEE_PARAM_TYPE_NONE
#define VALUE_IN    TEE_PARAM_TYPE_VALUE_INPUT
#define VALUE_OUT   TEE_PARAM_TYPE_VALUE_OUTPUT
#define VALUE_INOUT TEE_PARAM_TYPE_VALUE_INOUT
#define MEMREF_IN   TEE_PARAM_TYPE_MEMREF_INPUT
#define MEMREF_OUT  TEE_PARAM_TYPE_MEMREF_OUTPUT

/* Up to four types; the rest are NONE. */
#define TYPES(...)                                TYPES_(__VA_ARGS__, NONE, NONE, NONE, NONE)
#define TYPES_(first, second, third, fourth, ...) TEE_PARAM_TYPES(first, second, third, fourth)

/* Opens a stored object to read, write, rename and delete it. */
#define ACCESS_ALL \
	(TEE_DATA_FLAG_ACCESS_READ | TEE_DATA_FLAG_ACCESS_WRITE | TEE_DATA_FLAG_ACCESS_WRITE_META)

/* size_t since OP-TEE 3.20, uint32_t before: as in a memref. */
typedef __typeof__(((TEE_Param *)0)->memref.size) tee_size;

/* A session's clock (teemark/ta_clock.h); all zeros when it is new: off. */
struct clock {
	uint32_t counter; /* enum ta_clock */
	uint64_t ticks;   /* since it was last asked */
};

/* Each TA defines its own; its first member is its clock: COMMAND_SESSION(). */
struct session;

#define COMMAND_SESSION(type) \
	_Static_assert(__builtin_offsetof(type, clock) == 0, "a session begins with its clock")

typedef TEE_Result handler(struct session *session, TEE_Param *params);

/* The row of an id may come more than once, with other types. */
struct command {
	uint32_t id;
	uint32_t types; /* or ANY_TYPES */
	handler *run;
};

/* The command takes any types; its handler touches no parameter. */
#define ANY_TYPES UINT32_MAX

/* The empty call, and TA_CLOCK_CMD, which every TA has. */
handler command_nop, command_clock_switch;

#define ROW(id, run, ...)                   \
	{                                   \
		id, TYPES(__VA_ARGS__), run \
	}
#define CLOCK_ROW ROW(TA_CLOCK_CMD, command_clock_switch, VALUE_IN, VALUE_OUT, VALUE_OUT)

/* Each TA has these. The last row of the table has no `run`. */
extern const struct command commands[];
extern const size_t session_bytes;

/* Opens a session, which comes all zeros; one that fails to open isn't closed. */
TEE_Result session_open(struct session *session);
/* Frees what the session holds; its own memory is freed after it. */
void session_close(struct session *session);

/*
 * A buffer as the client gave it. An empty one's address need not be one that
 * may be read, so it has none here.
 */
struct input {
	const uint8_t *data;
	size_t len;
};

static inline struct input input_of(const TEE_Param *param)
{
	return (struct input){
		param->memref.size ? param->memref.buffer : NULL,
		param->memref.size,
	};
}

/*
 * Returns whether there is room for len bytes, and says how much it takes if not. Nothing may be
 * written where len is 0.
 */
static inline TEE_Result check_output(TEE_Param *param, size_t len)
{
	if (param->memref.size >= len)
		return TEE_SUCCESS;
	param->memref.size = len;
	return TEE_ERROR_SHORT_BUFFER;
}

/* Writes to a parameter that check_output() has found large enough. */
static inline void put_output(TEE_Param *param, const void *data, size_t len)
{
	if (len)
		TEE_MemMove(param->memref.buffer, data, len);
	param->memref.size = len;
}

/* Frees an operation, or TEE_HANDLE_NULL, with which OP-TEE's own function panics before 3.20. */
static inline void operation_free(TEE_OperationHandle operation)
{
	if (operation != TEE_HANDLE_NULL)
		TEE_FreeOperation(operation);
}

/* Computes the digest of the operation's message, which ends with these bytes. */
static inline TEE_Result operation_digest(TEE_OperationHandle operation, const void *data,
					  size_t len, uint8_t *digest, size_t digest_bytes)
{
	tee_size got = digest_bytes;
	TEE_Result res = TEE_DigestDoFinal(operation, data, len, digest, &got);

	return !res && got != digest_bytes ? TEE_ERROR_GENERIC : res;
}
