/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A case with a key: what the workloads that encrypt, decrypt or authenticate
 * have in common.
 */
#pragma once

#include "workload.h"

/* The state of such a workload begins with this. */
struct keyed_case {
	struct bench_case *c;
	struct keyed_job job;
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	uint8_t *in;   /* the message: job.len bytes */
	uint8_t *want; /* the result; NULL until it is known */
	size_t want_len;
};

/* Reserves memory for messages of `bytes` bytes: for this backend, and the one that checks it. */
int keyed_case_reserve(const struct bench_case *c, size_t bytes, struct error *err);
/*
 * For prepare(): opens c->desk. `bytes` are encrypted or authenticated, or come out of decrypting.
 */
int keyed_case_open(struct bench_case *c, bool decrypt, size_t bytes, struct error *err);

/*
 * Finds the desk of another backend, which then has checked the case, or the case's own if no other
 * can do it, and sets it up for *job.
 */
int keyed_case_referee(const struct keyed_case *k, struct keyed_job *job, struct desk **desk,
		       struct error *err);

/* These are for struct workload. The parameters are BYTES, or begin with "enc|dec". */
int keyed_case_parse(struct bench_case *c, struct error *err);
int keyed_case_prepare(struct bench_case *c, struct error *err);
/* Makes the desk this case's. */
int keyed_case_ready(void *state, uint32_t loops, struct error *err);
/*
 * Compares the result on the desk and wipes it, so that a run that writes nothing can't pass by the
 * one before.
 */
int keyed_case_check(void *state, struct error *err);
/* Compares with the result of another backend, and then with published vectors. */
int keyed_case_verify(void *state, struct error *err);
void keyed_case_teardown(void *state);

/* The workload that a case of whole messages becomes once it is parsed. */
extern const struct workload keyed_case_workload;
