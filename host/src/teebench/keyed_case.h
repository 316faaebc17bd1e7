/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A case with a key: what the workloads that encrypt, decrypt or authenticate
 * have in common.
 */
#ifndef KEYED_CASE_H
#define KEYED_CASE_H

#include "workload.h"

/* The beginning of the state of such a workload. */
struct keyed_case {
	struct pool *pool;
	struct desk *desk;
	const struct backend *backend; /* of the desk, as the session */
	struct session *session;
	struct keyed_job job;
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	uint8_t *in;   /* the message: job.len bytes */
	uint8_t *want; /* the result; NULL until it is known */
	size_t want_len;
	const char *checked_by; /* the other backend, or NULL */
};

/* Reserves memory for messages of so many bytes, here and for who checks. */
int keyed_case_reserve(const struct bench_case *c, size_t bytes, struct error *err);
/*
 * For prepare(). bytes: of what is encrypted or authenticated, or comes of
 * decrypting.
 */
int keyed_case_open(struct bench_case *c, bool decrypt, size_t bytes, struct error *err);

/* The desk of another backend, set up for *job; NULL: nobody can do it. */
struct desk *keyed_case_other(const struct keyed_case *k, struct keyed_job *job);

/* For struct workload, as the rest: BYTES, and "enc|dec" where it begins so. */
int keyed_case_parse(struct bench_case *c, struct error *err);
int keyed_case_prepare(struct bench_case *c, struct error *err);
/* Makes the desk this case's. */
int keyed_case_ready(void *state, uint32_t loops, struct error *err);
/*
 * Is the result on the desk right? Wipes it, so that a run that writes nothing
 * does not pass by the one before.
 */
int keyed_case_check(void *state, struct error *err);
/*
 * keyed_case_check() against the result of another backend, which must also
 * understand what was encrypted; then published vectors.
 */
int keyed_case_verify(void *state, struct error *err);
struct tee_session *keyed_case_ta(const void *state);
void keyed_case_facts(const void *state, struct json *json);
void keyed_case_teardown(void *state);

/* Whole messages; after the parse of a case that it becomes. */
extern const struct workload keyed_case_workload;

#endif
