/* SPDX-License-Identifier: BSD-2-Clause */
/* A case that makes the same call to a TA again and again, and its memory. */
#pragma once

#include "tee_client.h"
#include "workload.h"

/* The beginning of the state of such a workload. */
struct tee_call {
	struct tee_session *tee;
	TEEC_Operation op;
	uint32_t command;
	const char *doing; /* for a message: "cannot DOING" */
};

/* Makes the call `loops` times; for `run` of struct workload. */
static inline int tee_call_run(struct bench_case *c, uint32_t loops, uint32_t repeat,
			       struct error *err)
{
	struct tee_call *s = c->state;

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

	/* tee_memory_make() sets these. */
	uint8_t *data;  /* what the TA sees; NULL: no bytes */
	uint8_t *plain; /* mmap()ed; NULL for allocated */
	size_t mapped;
	TEEC_SharedMemory shm;
	bool shared;
};

/* Makes the memory, whose first five members are set; it holds pool_message(). */
int tee_memory_make(struct tee_memory *m, struct error *err);
void tee_memory_drop(struct tee_memory *m);
/* Makes this memory parameter `i` of op, with these of its directions. */
void tee_memory_set(struct tee_memory *m, TEEC_Operation *op, unsigned i, bool in, bool out);
/*
 * Finds out whether the size is to blame. Memory that the TEE's driver can't pin or map comes back
 * from libteec as TEEC_ERROR_GENERIC, without a reason; if the same works with a page, err becomes
 * a skip.
 */
void tee_memory_blame_size(const struct tee_memory *m, struct error *err);
