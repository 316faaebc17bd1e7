/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions with Trusted Applications that cases share through the pool. */
#ifndef TEE_SHARE_H
#define TEE_SHARE_H

#include "pool.h"
#include "tee_client.h"
#include "workload.h"

#ifdef HAVE_TEEC

struct ta_name {
	TEEC_UUID uuid;
	const char *uuid_text;
	const char *name; /* for messages: "the bench TA" */
	/* Asked of a new session: 0, or -errno with why not; or NULL. */
	int (*greet)(struct tee_session *tee, struct error *err);
};

extern const struct ta_name ta_digest_name, ta_bench_name;

/* Opened at the first call; the same answer ever after. */
int tee_share(struct pool *pool, const struct ta_name *ta,
	      struct tee_session **tee, struct error *err);
/* For parse(). */
int tee_share_reserve(struct pool *pool, const struct ta_name *ta,
		      struct error *err);

#else

/* Where this was built without libteec's header: say so, for workloads. */
int tee_absent_prepare(struct bench_case *c, struct pool *pool,
		       struct error *err);
int tee_absent_run(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err);
int tee_absent_verify(void *state, struct error *err);
void tee_absent_teardown(void *state);

#endif
#endif
