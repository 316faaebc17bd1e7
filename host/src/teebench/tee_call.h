/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases that repeat the same call to a TA, and the memory of a call's parameters. */
#pragma once

#include "tee_client.h"
#include "workload.h"

/* The state (c->state) of a workload that repeats a call to a TA begins with this. */
struct tee_call {
	struct tee_session *tee;
	TEEC_Operation op;
	uint32_t command;
	const char *doing; /* verb phrase for messages: "cannot DOING" */
};

/* Makes the call `loops` times; serves as run() of struct workload. */
static inline int tee_call_run(struct bench_case *c, uint32_t loops, uint32_t repeat,
			       struct error *err)
{
	struct tee_call *s = c->state;

	return tee_invoke_times(s->tee, s->command, &s->op, loops, s->doing, err);
}

/* The memory of one parameter; `kind` says how the client makes it. */
struct tee_memory {
	struct tee_session *tee;
	enum {
		MEMORY_TEMPORARY,
		MEMORY_REGISTERED,
		MEMORY_ALLOCATED,
		MEMORY_READ_ONLY, /* registered, but the client may only read it */
	} kind;
	bool in, out; /* the directions in which bytes cross */
	size_t size;

	/* tee_memory_make() sets the members below. */
	uint8_t *data;  /* the bytes that the TA sees; NULL: none */
	uint8_t *plain; /* from mmap(); NULL if libteec allocated it */
	size_t mapped;
	TEEC_SharedMemory shm;
	bool shared;
};

/* Makes the memory, which then holds pool_message(). The caller must set the first five members. */
int tee_memory_make(struct tee_memory *m, struct error *err);
void tee_memory_drop(struct tee_memory *m);
/* Makes this memory parameter `i` of `op`, to be passed in (`in`), out (`out`), or both. */
void tee_memory_set(struct tee_memory *m, TEEC_Operation *op, unsigned i, bool in, bool out);
/*
 * Turns an error into a skip if the memory's size is its cause. libteec returns TEEC_ERROR_GENERIC,
 * without a reason, for memory that the TEE's driver can't pin or map; if a single page can be
 * registered, the size is the cause.
 */
void tee_memory_blame_size(const struct tee_memory *m, struct error *err);
