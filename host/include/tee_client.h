/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TEE Client API, with error messages that say what to do. libteec is opened at run time: a
 * machine without libteec can run everything else.
 */
#pragma once

#include <tee_client_api.h>

#include "error.h"

/*
 * Returns 0 if this user may open a TEE device and there is a libteec; otherwise -errno, and
 * err->skip is "no-tee", "no-permission" or "no-libteec". Opens no session.
 */
int tee_probe(struct error *err);

/* Returns the path that libteec was loaded from; NULL with the reason in err. */
const char *tee_library_file(struct error *err);

/* libteec's functions, found by dlsym(). */
struct tee_api {
	TEEC_Result (*initialize_context)(const char *name, TEEC_Context *ctx);
	void (*finalize_context)(TEEC_Context *ctx);
	TEEC_Result (*open_session)(TEEC_Context *ctx, TEEC_Session *session, const TEEC_UUID *uuid,
				    uint32_t method, const void *data, TEEC_Operation *op,
				    uint32_t *origin);
	void (*close_session)(TEEC_Session *session);
	TEEC_Result (*invoke)(TEEC_Session *session, uint32_t command, TEEC_Operation *op,
			      uint32_t *origin);
	TEEC_Result (*register_memory)(TEEC_Context *ctx, TEEC_SharedMemory *shm);
	TEEC_Result (*allocate_memory)(TEEC_Context *ctx, TEEC_SharedMemory *shm);
	void (*release_memory)(TEEC_SharedMemory *shm);
};

/* A session with a TA, and the TEE context that only this session uses. */
struct tee_session {
	const struct tee_api *api;
	TEEC_Context context;
	TEEC_Session session;
	uint64_t context_ns; /* duration of TEEC_InitializeContext() */
	uint64_t open_ns;    /* duration of TEEC_OpenSession() */
	uint64_t first_ns;   /* duration of ta_session_open()'s first call */
};

/*
 * Opens a session; `name` is for messages ("the digest TA"). err->skip is one of tee_probe()'s,
 * "no-ta", "ta-rejected" or "no-supplicant".
 *
 * TEEC_OpenSession() blocks for ever if tee-supplicant doesn't answer. So the process's first
 * opening is limited to TEEMARK_TEE_TIMEOUT seconds (default 30, or 5 without a supplicant); then
 * its thread is abandoned and -ETIMEDOUT returned.
 */
int tee_session_open(struct tee_session **session, const TEEC_UUID *uuid, const char *name,
		     struct error *err);
void tee_session_close(struct tee_session *session);

/*
 * Opens a new session with the same TA in place of the old session, which may be dead. The context
 * and its shared memory are kept.
 */
int tee_session_again(struct tee_session *session, const TEEC_UUID *uuid, const char *name,
		      struct error *err);

/* Parses a UUID such as 8aaaf200-2450-11e4-abe2-0002a5d5c51b; false: the text is none. */
bool tee_uuid(const char *text, TEEC_UUID *uuid);

/*
 * Calls a command; `doing` completes the error message ("hash 4096 bytes with sha256"). After
 * TARGET_DEAD the session can only be closed.
 */
int tee_invoke(struct tee_session *session, uint32_t command, TEEC_Operation *op, const char *doing,
	       struct error *err);

/* Calls a command as tee_invoke() does, `times` times or until a call fails. */
int tee_invoke_times(struct tee_session *session, uint32_t command, TEEC_Operation *op,
		     uint32_t times, const char *doing, struct error *err);

/* Allocates shared memory; `flags` are its directions (TEEC_MEM_*). tee_shm_free() releases it. */
int tee_shm_alloc(struct tee_session *session, size_t size, uint32_t flags, TEEC_SharedMemory **shm,
		  struct error *err);
void tee_shm_free(struct tee_session *session, TEEC_SharedMemory *shm);

/* Sets the type of parameter i, in an operation that was all zeros at first. */
static inline void tee_set_type(TEEC_Operation *op, unsigned i, uint32_t type)
{
	op->paramTypes |= type << 4 * i;
}
static inline void tee_set_value(TEEC_Operation *op, unsigned i, uint32_t a, uint32_t b)
{
	tee_set_type(op, i, TEEC_VALUE_INPUT);
	op->params[i].value.a = a;
	op->params[i].value.b = b;
}
/* Sets parameter i to the first len bytes of shm; `type` is TEEC_MEMREF_PARTIAL_*. */
static inline void tee_set_memref(TEEC_Operation *op, unsigned i, uint32_t type,
				  TEEC_SharedMemory *shm, size_t offset, size_t len)
{
	tee_set_type(op, i, type);
	op->params[i].memref.parent = shm;
	op->params[i].memref.offset = offset;
	op->params[i].memref.size = len;
}
