/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of a TA as a table: the parameter types of each command, and its handler. When a
 * handler is called, the types are those of its row, and each buffer with a size has an address;
 * nothing else has been checked.
 *
 * Shared memory belongs to the normal world and may change at any time. So data that decides
 * something (a name, a key, an IV) is copied first; other data is only passed to functions that
 * read it once or decide nothing by it.
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

/* Combines up to four parameter types; the others are NONE. */
#define TYPES(...)                                TYPES_(__VA_ARGS__, NONE, NONE, NONE, NONE)
#define TYPES_(first, second, third, fourth, ...) TEE_PARAM_TYPES(first, second, third, fourth)

/* Flags to open a stored object for reading, writing, renaming and deleting. */
#define ACCESS_ALL \
	(TEE_DATA_FLAG_ACCESS_READ | TEE_DATA_FLAG_ACCESS_WRITE | TEE_DATA_FLAG_ACCESS_WRITE_META)

/* The type of a size in a memref: size_t since OP-TEE 3.20, uint32_t before. */
typedef __typeof__(((TEE_Param *)0)->memref.size) tee_size;

/* A session's clock (teemark/ta_clock.h); all zeros: off. */
struct clock {
	uint32_t counter; /* enum ta_clock */
	uint64_t ticks;   /* counted since the last query */
};

/* Each TA defines its own struct session, which begins with a struct clock: COMMAND_SESSION(). */
struct session;

#define COMMAND_SESSION(type) \
	_Static_assert(__builtin_offsetof(type, clock) == 0, "a session begins with its clock")

typedef TEE_Result handler(struct session *session, TEE_Param *params);

/* A row of the table. An id may have several rows, with different types. */
struct command {
	uint32_t id;
	uint32_t types; /* four types, or ANY_TYPES */
	handler *run;
};

/* For a command that takes any types; its handler must not touch the parameters. */
#define ANY_TYPES UINT32_MAX

/* The handlers of the empty call and of TA_CLOCK_CMD, which every TA can use. */
handler command_nop, command_clock_switch;

#define ROW(id, run, ...)                   \
	{                                   \
		id, TYPES(__VA_ARGS__), run \
	}
#define CLOCK_ROW ROW(TA_CLOCK_CMD, command_clock_switch, VALUE_IN, VALUE_OUT, VALUE_OUT)

/* Each TA defines these. The last row of the table has no `run`. */
extern const struct command commands[];
extern const size_t session_bytes;

/* A TA defines these if its sessions hold more than a clock. */

/* Opens a session, which is all zeros before. If it fails, session_close() isn't called. */
TEE_Result session_open(struct session *session);
/* Releases what the session holds, before its own memory is freed. */
void session_close(struct session *session);

/*
 * A buffer from the client. If it is empty, `data` is NULL, because the client's address may be
 * invalid.
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
 * Returns TEE_SUCCESS if the buffer has room for len bytes; otherwise sets the size needed and
 * returns TEE_ERROR_SHORT_BUFFER. If len is 0, nothing may be written to it.
 */
static inline TEE_Result check_output(TEE_Param *param, size_t len)
{
	if (param->memref.size >= len)
		return TEE_SUCCESS;
	param->memref.size = len;
	return TEE_ERROR_SHORT_BUFFER;
}

/* Writes to a parameter's buffer, which check_output() has found large enough. */
static inline void put_output(TEE_Param *param, const void *data, size_t len)
{
	if (len)
		TEE_MemMove(param->memref.buffer, data, len);
	param->memref.size = len;
}

/* Frees an operation; accepts TEE_HANDLE_NULL, unlike OP-TEE's before 3.20. */
static inline void operation_free(TEE_OperationHandle operation)
{
	if (operation != TEE_HANDLE_NULL)
		TEE_FreeOperation(operation);
}

/* Computes the digest of the operation's message, after appending `data` to it. */
static inline TEE_Result operation_digest(TEE_OperationHandle operation, const void *data,
					  size_t len, uint8_t *digest, size_t digest_bytes)
{
	tee_size got = digest_bytes;
	TEE_Result res = TEE_DigestDoFinal(operation, data, len, digest, &got);

	return !res && got != digest_bytes ? TEE_ERROR_GENERIC : res;
}
