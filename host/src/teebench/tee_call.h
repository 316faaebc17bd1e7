/* SPDX-License-Identifier: BSD-2-Clause */
/* A case that makes the same call to a TA again and again. */
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
static inline int tee_call_run(void *state, uint32_t loops, uint32_t repeat,
			       struct error *err)
{
	struct tee_call *s = state;

	(void)repeat;
	return tee_invoke_times(s->tee, s->command, &s->op, loops, s->doing,
				err);
}

#endif
