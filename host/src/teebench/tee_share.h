/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions with Trusted Applications that cases share through the pool. */
#ifndef TEE_SHARE_H
#define TEE_SHARE_H

#include "pool.h"
#include "ta_session.h"
#include "workload.h"

#ifdef HAVE_TEEC

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
