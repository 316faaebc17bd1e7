/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libteec with a digest TA inside, for tests: it computes with common/src
 * and fails as the environment says.
 *
 *   FAKE_OPEN=HEX     TEEC_OpenSession() returns this
 *   FAKE_OPENS=N      … from the (N+1)th session on
 *   FAKE_DIE_AT=N     the Nth call that hashes kills its session:
 *                     TEE_ERROR_TARGET_DEAD
 *   FAKE_ROOM=N       while more sessions are open than this, calls that hash
 *                     are out of memory
 *   FAKE_LATE=1       sessions after the first take a while to open, calls that
 *                     hash are out of memory meanwhile, and then there is
 *                     no memory for the session
 *   FAKE_MAP=BYTES    calls with more data than this: out of memory
 *   FAKE_FATAL=1      … and the session is dead then
 *   FAKE_ALLOC=BYTES  shared memory larger than this: out of memory
 *   FAKE_REFUSE=SEQ   the Nth allocation is refused when the Nth digit is 1; the
 *                     digest's own small one of each session is the first
 *   FAKE_HANG=1       TEEC_OpenSession() does not return
 *   FAKE_HEAP=1       the TA knows its heap's statistics
 *   FAKE_WRONG=1      the digests are of a wrong length
 *   FAKE_LOG=FILE     a line for every session and call
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tee_client_api.h>
#include <teemark/algorithms.h>
#include <teemark/digest.h>
#include <teemark/ta_digest.h>

#define EXPORT      __attribute__((visibility("default")))
#define TARGET_DEAD 0xFFFF3024u

struct instance {
	const struct algorithm *alg;
	const struct digest_class *class;
	union digest_ctx ctx;
	bool streaming;
	bool dead;
	uint32_t digests;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int opened;
static unsigned int hashed;
static unsigned int open_now;
static unsigned int opening_late;

static long setting(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 0) : otherwise;
}

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *fmt, ...)
{
	const char *name = getenv("FAKE_LOG");
	FILE *f = name ? fopen(name, "a") : NULL;
	va_list args;

	if (!f)
		return;
	va_start(args, fmt);
	vfprintf(f, fmt, args);
	va_end(args);
	fclose(f);
}

/* libteec keeps a word in its structures; here it is the instance. */
static struct instance **place(TEEC_Session *session)
{
	return (struct instance **)(void *)session;
}

EXPORT TEEC_Result TEEC_InitializeContext(const char *name, TEEC_Context *ctx)
{
	(void)name;
	(void)ctx;
	return TEEC_SUCCESS;
}

EXPORT void TEEC_FinalizeContext(TEEC_Context *ctx)
{
	(void)ctx;
}

EXPORT TEEC_Result TEEC_OpenSession(TEEC_Context *ctx, TEEC_Session *session, const TEEC_UUID *uuid,
				    uint32_t method, const void *data, TEEC_Operation *op,
				    uint32_t *origin)
{
	static const TEEC_UUID digest = TA_DIGEST_UUID;
	TEEC_Result result = (TEEC_Result)setting("FAKE_OPEN", 0);
	struct instance *i;
	bool late = false;

	(void)ctx;
	(void)method;
	(void)data;
	(void)op;
	*origin = TEEC_ORIGIN_TEE;
	if (!memcmp(uuid, &digest, sizeof(digest))) {
		pthread_mutex_lock(&lock);
		if (opened++ < (unsigned long)setting("FAKE_OPENS", 0))
			result = TEEC_SUCCESS;
		late = getenv("FAKE_LATE") && opened > 1;
		if (late)
			opening_late++;
		pthread_mutex_unlock(&lock);
		note("open %08x\n", result);
	}
	if (late) {
		usleep(400000);
		pthread_mutex_lock(&lock);
		opening_late--;
		pthread_mutex_unlock(&lock);
		return TEEC_ERROR_OUT_OF_MEMORY;
	}
	while (getenv("FAKE_HANG"))
		usleep(100000);
	if (result)
		return result;
	i = calloc(1, sizeof(*i));
	if (!i)
		return TEEC_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	open_now++;
	pthread_mutex_unlock(&lock);
	*place(session) = i;
	return TEEC_SUCCESS;
}

EXPORT void TEEC_CloseSession(TEEC_Session *session)
{
	note("close\n");
	pthread_mutex_lock(&lock);
	open_now--;
	pthread_mutex_unlock(&lock);
	free(*place(session));
}

static bool refused(void)
{
	const char *sequence = getenv("FAKE_REFUSE");
	static unsigned int count;
	unsigned int n;

	pthread_mutex_lock(&lock);
	n = count++;
	pthread_mutex_unlock(&lock);
	return sequence && n < strlen(sequence) && sequence[n] == '1';
}

EXPORT TEEC_Result TEEC_AllocateSharedMemory(TEEC_Context *ctx, TEEC_SharedMemory *shm)
{
	long most = setting("FAKE_ALLOC", 0);

	(void)ctx;
	note("alloc %zu\n", shm->size);
	if (refused() || (most && shm->size > (size_t)most))
		return TEEC_ERROR_OUT_OF_MEMORY;
	shm->buffer = calloc(1, shm->size);
	return shm->buffer ? TEEC_SUCCESS : TEEC_ERROR_OUT_OF_MEMORY;
}

EXPORT TEEC_Result TEEC_RegisterSharedMemory(TEEC_Context *ctx, TEEC_SharedMemory *shm)
{
	(void)ctx;
	(void)shm;
	return TEEC_SUCCESS;
}

EXPORT void TEEC_ReleaseSharedMemory(TEEC_SharedMemory *shm)
{
	free(shm->buffer);
}

EXPORT void TEEC_RequestCancellation(TEEC_Operation *op)
{
	(void)op;
}

static const uint8_t *data_of(TEEC_Operation *op, unsigned int n, size_t *len)
{
	TEEC_Parameter *p = &op->params[n];

	switch (TEEC_PARAM_TYPE_GET(op->paramTypes, n)) {
	case TEEC_MEMREF_PARTIAL_INPUT:
		if (p->memref.offset + p->memref.size > p->memref.parent->size)
			abort();
		*len = p->memref.size;
		return (uint8_t *)p->memref.parent->buffer + p->memref.offset;
	case TEEC_MEMREF_TEMP_INPUT:
		*len = p->tmpref.size;
		return p->tmpref.buffer;
	default:
		*len = 0;
		return NULL;
	}
}

static TEEC_Result begin(struct instance *i, TEEC_Operation *op)
{
	i->alg = algorithm_by_id(op->params[0].value.a);
	i->class = i->alg ? digest_class_find(DIGEST_CODE_C, i->alg->id) : NULL;
	if (!i->class || op->params[0].value.b == TA_DIGEST_IMPL_CE)
		return TEEC_ERROR_NOT_SUPPORTED;
	i->class->init(&i->ctx);
	return TEEC_SUCCESS;
}

static TEEC_Result end(struct instance *i, TEEC_Operation *op, unsigned int n)
{
	i->class->final(&i->ctx, op->params[n].memref.parent->buffer);
	op->params[n].memref.size = i->alg->out_bytes;
	if (setting("FAKE_WRONG", 0))
		op->params[n].memref.size--;
	i->digests++;
	return TEEC_SUCCESS;
}

static bool dies(struct instance *i)
{
	long at = setting("FAKE_DIE_AT", 0);

	pthread_mutex_lock(&lock);
	if (at && ++hashed == (unsigned long)at)
		i->dead = true;
	pthread_mutex_unlock(&lock);
	return i->dead;
}

static bool crowded(void)
{
	long room = setting("FAKE_ROOM", 0);
	bool full;

	pthread_mutex_lock(&lock);
	full = opening_late || (room && open_now > (unsigned long)room);
	pthread_mutex_unlock(&lock);
	return full;
}

/* OP-TEE doesn't even enter the TA, either. */
static bool too_large(const TEEC_Operation *op)
{
	size_t most = (size_t)setting("FAKE_MAP", 0);

	for (unsigned int n = 0; most && n < 4; n++) {
		switch (TEEC_PARAM_TYPE_GET(op->paramTypes, n)) {
		case TEEC_MEMREF_PARTIAL_INPUT:
			if (op->params[n].memref.size > most)
				return true;
			break;
		case TEEC_MEMREF_TEMP_INPUT:
			if (op->params[n].tmpref.size > most)
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

EXPORT TEEC_Result TEEC_InvokeCommand(TEEC_Session *session, uint32_t command, TEEC_Operation *op,
				      uint32_t *origin)
{
	struct instance *i = *place(session);
	TEEC_Result result = TEEC_SUCCESS;
	const uint8_t *data;
	size_t len;

	*origin = TEEC_ORIGIN_TRUSTED_APP;
	note("call %u\n", command);
	if (i->dead ||
	    (command >= TA_DIGEST_CMD_ONESHOT && command <= TA_DIGEST_CMD_FINAL && dies(i))) {
		*origin = TEEC_ORIGIN_TEE;
		return TARGET_DEAD;
	}
	if (command >= TA_DIGEST_CMD_ONESHOT && command <= TA_DIGEST_CMD_FINAL && crowded())
		return TEEC_ERROR_OUT_OF_MEMORY;
	if (too_large(op)) {
		i->dead = getenv("FAKE_FATAL");
		return TEEC_ERROR_OUT_OF_MEMORY;
	}
	switch (command) {
	case TA_DIGEST_CMD_NOP:
		return TEEC_SUCCESS;
	case TA_DIGEST_CMD_INFO:
		op->params[0].value.a = TA_DIGEST_ABI;
		op->params[0].value.b = 7;
		return TEEC_SUCCESS;
	case TA_DIGEST_CMD_ONESHOT:
		for (uint32_t n = 0; !result && n < op->params[3].value.a; n++) {
			result = begin(i, op);
			data = data_of(op, 1, &len);
			if (!result)
				i->class->update(&i->ctx, data, len);
			if (!result)
				result = end(i, op, 2);
		}
		return result;
	case TA_DIGEST_CMD_INIT:
		result = begin(i, op);
		i->streaming = !result;
		return result;
	case TA_DIGEST_CMD_UPDATE:
		if (!i->streaming)
			return TEEC_ERROR_BAD_STATE;
		data = data_of(op, 0, &len);
		i->class->update(&i->ctx, data, len);
		return TEEC_SUCCESS;
	case TA_DIGEST_CMD_FINAL:
		if (!i->streaming)
			return TEEC_ERROR_BAD_STATE;
		i->streaming = false;
		data = data_of(op, 0, &len);
		if (len)
			i->class->update(&i->ctx, data, len);
		return end(i, op, 1);
	case TA_DIGEST_CMD_STACK:
		op->params[0].value.a = 640;
		op->params[0].value.b = 8192;
		return TEEC_SUCCESS;
	default:
		return TEEC_ERROR_NOT_SUPPORTED;
	}
}
