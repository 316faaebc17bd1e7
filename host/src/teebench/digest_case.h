/* SPDX-License-Identifier: BSD-2-Clause */
/* A case that computes a digest: what the workloads that hash have in common. */
#pragma once

#include "workload.h"

/* The state of such a workload begins with this. */
struct digest_case {
	struct bench_case *c;
	uint8_t out[ALG_DIGEST_MAX_BYTES];  /* where run() puts the digest */
	uint8_t want[ALG_DIGEST_MAX_BYTES]; /* what it is to be */
};

int digest_case_parse(struct bench_case *c, struct error *err);
/* For prepare(): opens c->desk, whose buffers have room for `need` bytes. */
int digest_case_open(struct bench_case *c, enum desk_use use, size_t need, struct error *err);

/* Compares the digest and wipes it, so that a run that writes none can't pass by the one before. */
int digest_case_check(void *state, struct error *err);
/* Checks the digest of the message on the desk by another backend, and by published vectors. */
int digest_case_verify(void *state, struct error *err);
/* Does the same for other bytes. */
int digest_case_verify_data(struct digest_case *d, const uint8_t *data, struct error *err);

/* The members that all workloads share whose state, of this type, begins with a digest_case. */
#define DIGEST_CASE(type)                                                                     \
	.state_size = sizeof(type), .verify = digest_case_verify, .check = digest_case_check, \
	.ta_clock = true, .refereed = true
