/* SPDX-License-Identifier: BSD-2-Clause */
/* A case that computes a digest: what the workloads that hash have in common. */
#ifndef DIGEST_CASE_H
#define DIGEST_CASE_H

#include "workload.h"

/* The beginning of the state of such a workload. */
struct digest_case {
	struct pool *pool;
	struct desk *desk;
	const struct backend *backend; /* of the desk, as the session */
	struct session *session;
	const struct algorithm *alg;
	size_t bytes;
	uint8_t out[ALG_DIGEST_MAX_BYTES];  /* where run() puts the digest */
	uint8_t want[ALG_DIGEST_MAX_BYTES]; /* what it is to be */
	const char *checked_by;             /* the other backend, or NULL */
};

/* For parse(). */
int digest_case_parse(struct bench_case *c, struct error *err);
/*
 * For prepare(): opens the desk, whose buffers have room for `need` bytes.
 */
int digest_case_open(struct bench_case *c, enum desk_use use, size_t need, struct error *err);

/*
 * Is the digest right? Wipes it, so that a run that writes none does not pass
 * by the one before. For struct workload, as the rest.
 */
int digest_case_check(void *state, struct error *err);
/* Of the message on the desk: by another backend, and published vectors. */
int digest_case_verify(void *state, struct error *err);
/* The same of other bytes. */
int digest_case_verify_data(struct digest_case *d, const uint8_t *data, struct error *err);
struct tee_session *digest_case_ta(const void *state);
void digest_case_facts(const void *state, struct json *json);

/* What is left to say of a workload whose state is of that type. */
#define DIGEST_CASE(type)                                                                     \
	.state_size = sizeof(type), .verify = digest_case_verify, .check = digest_case_check, \
	.ta = digest_case_ta, .facts = digest_case_facts

#endif
