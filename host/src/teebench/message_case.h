/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common part of the workloads that hash, authenticate, encrypt or decrypt: a case whose
 * backend computes a result of a message.
 */
#pragma once

#include "workload.h"

/* The state (c->state) of each of these workloads begins with this. */
struct message_case {
	struct keyed_job job; /* digests use neither key nor iv */
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	uint8_t *in;   /* the message, job.len bytes; NULL: it is on the workplace */
	uint8_t *want; /* the expected result; NULL until it is known */
	uint8_t digest[ALG_DIGEST_MAX_BYTES]; /* run() leaves a digest here */
};

/* Reserves buffers of `bytes` bytes for the case, and for backends that check it; for parse(). */
int message_case_reserve(const struct bench_case *c, enum workplace_use use, size_t bytes,
			 struct error *err);
/*
 * Opens c->workplace (WORKPLACE_KEYED, or for digests), and makes the key and the message; for
 * prepare(). `bytes` is the length of the message; for decrypting, that of the plaintext.
 */
int message_case_open(struct bench_case *c, enum workplace_use use, bool decrypt, size_t bytes,
		      struct error *err);

/*
 * Sets *workplace to a workplace of another backend that can do *job, and c->checked_by to that
 * backend's name; if no other can, *workplace is the case's own. Sets it up for *job.
 */
int message_case_referee(struct bench_case *c, struct keyed_job *job, struct workplace **workplace,
			 struct error *err);

/*
 * Compares the result of the message `in` with another backend's, and then the backend with
 * published vectors. message_case_verify() takes the message from the state or the workplace.
 */
int message_case_verify_data(struct bench_case *c, const uint8_t *in, struct error *err);

/* For struct workload. The parameters of these cases are BYTES, or begin with "enc|dec". */
int message_case_parse_keyed(struct bench_case *c, struct error *err);
int message_case_prepare_keyed(struct bench_case *c, struct error *err);
/* Sets the case's key and message on its workplace, unless they are there already. */
int message_case_ready_keyed(struct bench_case *c, struct error *err);
int message_case_verify(struct bench_case *c, struct error *err);
void message_case_teardown(struct bench_case *c);

/* Members of struct workload, for workloads whose state is a struct message_case alone. */
#define MESSAGE_CASE                                                              \
	.state_size = sizeof(struct message_case), .verify = message_case_verify, \
	.ta_clock = true, .refereed = true, .teardown = message_case_teardown
