/* SPDX-License-Identifier: BSD-2-Clause */
/* A case that makes the same call to a TA again and again, and its memory. */
#ifndef TEE_CALL_H
#define TEE_CALL_H

#include "tee_client.h"
#include "workload.h"

/* The beginning of the state of such a workload. */
struct tee_call {
	struct tee_session *tee;
	TEEC_Operation op;
	uint32_t command;
	const char *doing; /* for a message: "cannot DOING" */
};

/* For struct workload. */
static inline int tee_call_run(void *state, uint32_t loops, uint32_t repeat, struct error *err)
{
	struct tee_call *s = state;

	(void)repeat;
	return tee_invoke_times(s->tee, s->command, &s->op, loops, s->doing, err);
}

/* Memory of a parameter, by how the client makes it. */
struct tee_memory {
	struct tee_session *tee;
	enum {
		MEMORY_TEMPORARY,
		MEMORY_REGISTERED,
		MEMORY_ALLOCATED,
		MEMORY_READ_ONLY, /* registered */
	} kind;
	bool in, out; /* the directions in which bytes cross */
	size_t size;

	/* By tee_memory_make(). */
	uint8_t *data;  /* what the TA sees; NULL: no bytes */
	uint8_t *plain; /* mmap()ed; NULL for allocated */
	size_t mapped;
	TEEC_SharedMemory shm;
	bool shared;
};

/* The first five members set. It holds pool_message(). */
int tee_memory_make(struct tee_memory *m, struct error *err);
void tee_memory_drop(struct tee_memory *m);
/* Parameter `i` of op becomes this memory, with these of its directions. */
void tee_memory_set(struct tee_memory *m, TEEC_Operation *op, unsigned i, bool in, bool out);
/*
 * Is the size to blame? Memory that the TEE's driver cannot pin or map comes
 * back from libteec as TEEC_ERROR_GENERIC, without a word of its reason; so
 * see whether the same works with a page. Then err becomes a skip.
 */
void tee_memory_blame_size(const struct tee_memory *m, struct error *err);

#endif
