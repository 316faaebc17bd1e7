/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A case with an asymmetric key: what sign, verify, derive, encrypt, decrypt,
 * keygen and key-steps have in common. Keys are published ones (asym_vectors.h)
 * but for those that keygen makes.
 */
#pragma once

#include "asym_vectors.h"
#include "workload.h"

/* The state of such a workload. */
struct asym_case {
	struct bench_case *c;
	const struct asym_vector *vector;
	struct asym_job job;
	bool plain;    /* an RSA key without what the CRT needs */
	bool generate; /* keygen */
	/* key-steps: the step, ASYM_STEPS for all; else ASYM_OPERATE */
	enum asym_step step;
	uint8_t in[ASYM_MAX_BYTES], want[ASYM_MAX_BYTES];
	size_t want_len;
	/* The public key that was generated last. */
	uint8_t public[ASYM_MAX_BYTES];
	bool works;            /* it came back once: what ends the TA later is a failure */
	bool says_known, says; /* what the TEE says of the algorithm */
};

/* For parse(): reserves the desks. */
int asym_case_parse(struct bench_case *c, struct error *err);
/* For prepare(): opens c->desk, once `step`, `plain` and `generate` are set. */
int asym_case_open(struct bench_case *c, enum asym_use use, struct error *err);
/* These are for struct workload. */
int asym_case_ready(void *state, uint32_t loops, struct error *err);
int asym_case_once(void *state, uint32_t i, struct error *err);
/*
 * Compares the result with the published one, or asks another backend, which must also refuse it
 * with a bit flipped. A verification must refuse a flipped bit itself.
 */
int asym_case_verify(void *state, struct error *err);
int asym_case_check(void *state, struct error *err);
/* Writes "tee_says" for a TEE. */
void asym_case_facts(const void *state, struct json *json);
void asym_case_teardown(void *state);
