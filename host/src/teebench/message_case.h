/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A case whose backend computes something of a message: what the workloads that hash, authenticate,
 * encrypt or decrypt have in common.
 */
#pragma once

#include "workload.h"

/* The state of such a workload begins with this. */
struct message_case {
	struct keyed_job job; /* a digest's has no key */
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	uint8_t *in;   /* the message, job.len bytes; a digest's is on its desk */
	uint8_t *want; /* the result; NULL until it is known */
	uint8_t digest[ALG_DIGEST_MAX_BYTES]; /* the place where run() puts a digest */
};

/* Reserves memory for messages of so many bytes, here and for who checks; for parse(). */
int message_case_reserve(const struct bench_case *c, enum desk_use use, size_t bytes,
			 struct error *err);
/*
 * For prepare(): opens c->desk, a DESK_KEYED or one for digests. `bytes` are hashed, encrypted or
 * authenticated, or come out of decrypting.
 */
int message_case_open(struct bench_case *c, enum desk_use use, bool decrypt, size_t bytes,
		      struct error *err);

/*
 * Finds the desk of another backend, which then has checked the case, or the case's own if no other
 * can do it, and sets it up for *job.
 */
int message_case_referee(struct bench_case *c, struct keyed_job *job, struct desk **desk,
			 struct error *err);

/*
 * Compares the result with that of another backend, and then with published vectors. `in` is the
 * message; verify() takes that of the desk or the state.
 */
int message_case_verify_data(struct bench_case *c, const uint8_t *in, struct error *err);

/* These are for struct workload. The parameters of a DESK_KEYED are BYTES, or begin with "enc|dec". */
int message_case_parse_keyed(struct bench_case *c, struct error *err);
int message_case_prepare_keyed(struct bench_case *c, struct error *err);
/* Makes the desk this case's, with its key and message. */
int message_case_ready_keyed(struct bench_case *c, struct error *err);
int message_case_verify(struct bench_case *c, struct error *err);
void message_case_teardown(struct bench_case *c);

/* The members that the workloads share whose state is a message_case alone. */
#define MESSAGE_CASE                                                              \
	.state_size = sizeof(struct message_case), .verify = message_case_verify, \
	.ta_clock = true, .refereed = true, .teardown = message_case_teardown
