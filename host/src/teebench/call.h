/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The description of a call to any Trusted Application: which TA, what runs
 * before, which command with which parameters, and what must come back. It is
 * one word of a case line:
 *
 *   call=UUID;STEP;PARAMETER;…;STEP;PARAMETER;…
 *
 * STEP: WHEN:COMMAND:RESULT. WHEN is `setup` (once, in a new session),
 * `before` (before every call that is timed) or `run` (the call itself: one,
 * the last); RESULT the return code that is expected, 0x and 8 hex digits.
 *
 * PARAMETER, up to four after their step:
 *
 *   none
 *   value-in:A:B  value-out:WANT_A:WANT_B  value-inout:A:B:WANT_A:WANT_B
 *   memory-in:KIND:SIZE:CONTENT
 *   memory-out:KIND:SIZE:WANT:WANT_SIZE
 *   memory-inout:KIND:SIZE:CONTENT:WANT:WANT_SIZE
 *
 * KIND is temporary, registered or allocated. CONTENT is `message`
 * (pool_message()), `fill-XX` or `hex-XX…`. WANT is that, or `same-N` (what
 * went into parameter N), `ALGORITHM-of-N` (its digest), `digest-XX…` (the
 * SHA-256 of what comes back) or `any`; WANT_A, WANT_B and WANT_SIZE may be
 * `any` too.
 */
#pragma once

#include "tee_call.h"

enum {
	CALL_PARAMS = 4,
	CALL_STEPS_MAX = 16,
	CALL_TEXT_MAX = 256 << 10,
	CALL_BYTES_MAX = 64 << 20,
	CALL_SHA256_BYTES = 32,
};

/* The bytes that go in, or that are wanted back. */
struct call_bytes {
	enum {
		CALL_ANY, /* wanted: whatever comes */
		CALL_MESSAGE,
		CALL_FILL,
		CALL_HEX,
		CALL_SAME,   /* wanted: what went into parameter `of` */
		CALL_DIGEST, /* wanted: the digest of that */
		CALL_SHA256, /* wanted: bytes that have this SHA-256 */
	} kind;
	uint8_t fill;
	const char *hex; /* two digits a byte, of `bytes` */
	size_t bytes;
	unsigned of;
	const struct algorithm *algorithm;
};

struct call_number {
	bool any;
	uint32_t value;
};

struct call_param {
	enum { CALL_NONE, CALL_VALUE, CALL_MEMORY } type;
	bool in, out;
	uint32_t a, b;
	struct call_number want_a, want_b;
	struct tee_memory memory; /* of .size bytes */
	struct call_bytes content, want;
	struct call_number want_size;

	/* Not the description's: the memory's bytes before a call, and what it must hold afterwards. */
	uint8_t *before, *after; /* NULL: whatever comes */
	size_t after_bytes;
};

struct call_step {
	enum { CALL_SETUP, CALL_BEFORE, CALL_RUN } when;
	uint32_t command, result;
	unsigned n_params;
	struct call_param params[CALL_PARAMS];

	/* Not the description's. */
	char name[40];       /* "set-up command 3" */
	TEEC_Operation op;   /* before a call */
	TEEC_Operation done; /* after it */
};

struct call {
	char uuid_text[40];
	TEEC_UUID uuid;
	struct call_step steps[CALL_STEPS_MAX]; /* the last is CALL_RUN */
	unsigned n_steps;
	char *text; /* that hex points into */
};

/*
 * Parses a description; returns -EINVAL with what is wrong. call_free() is due after a failure,
 * too.
 */
int call_parse(struct call *call, const char *text, struct error *err);
void call_free(struct call *call);
