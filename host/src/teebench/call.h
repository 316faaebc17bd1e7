/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The description of a call to any Trusted Application: which TA, which commands run before the
 * call, which command is called with which parameters, and which results are expected. The
 * description is one word of a case line:
 *
 *   call=UUID;STEP;PARAMETER;…;STEP;PARAMETER;…
 *
 * STEP is WHEN:COMMAND:RESULT. WHEN is `setup` (once, in a new session), `before` (before every
 * call that is timed) or `run` (the timed call itself: one step, the last). RESULT is the expected
 * return code.
 *
 * PARAMETER (up to four follow their step) is one of these:
 *
 *   none
 *   value-in:A:B  value-out:WANT_A:WANT_B  value-inout:A:B:WANT_A:WANT_B
 *   memory-in:KIND:SIZE:CONTENT
 *   memory-out:KIND:SIZE:WANT:WANT_SIZE
 *   memory-inout:KIND:SIZE:CONTENT:WANT:WANT_SIZE
 *
 * KIND is temporary, registered or allocated. CONTENT is `message` (pool_message()), `fill-XX` or
 * `hex-XX…`. WANT is any CONTENT, or `ALGORITHM-of-N` (the digest of what went into parameter N),
 * `digest-XX…` (the SHA-256 of the bytes that come back) or `any`. WANT_A and WANT_B are a number or
 * `any`, and so is WANT_SIZE where WANT is no CONTENT.
 *
 * teemark writes descriptions, and has checked them: a wrong one gets one message for all mistakes.
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

/* The bytes that memory holds before a call, or must hold afterwards. */
struct call_bytes {
	enum {
		CALL_ANY, /* expected: any bytes */
		CALL_MESSAGE,
		CALL_FILL,
		CALL_HEX,
		CALL_SHA256, /* expected: bytes whose SHA-256 is `hex` */
		CALL_DIGEST, /* expected: the digest of parameter `of`'s bytes */
	} kind;
	uint8_t fill;
	const char *hex; /* two digits for each of `bytes` bytes */
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
	struct tee_memory memory; /* for CALL_MEMORY; its .size is in bytes */
	struct call_bytes content, want;
	struct call_number want_size;

	/* Set by workload call: memory's bytes before a call, and those it must hold afterwards. */
	uint8_t *before, *after; /* after: NULL if any bytes will do */
	size_t after_bytes;
};

struct call_step {
	enum { CALL_SETUP, CALL_BEFORE, CALL_RUN } when;
	uint32_t command, result;
	unsigned n_params;
	struct call_param params[CALL_PARAMS];

	/* Set by workload call, not by call_parse(). */
	char name[40];       /* in messages: "set-up command 3" */
	TEEC_Operation op;   /* the parameters before a call */
	TEEC_Operation done; /* the parameters after the call */
};

struct call {
	char uuid_text[40];
	TEEC_UUID uuid;
	struct call_step steps[CALL_STEPS_MAX]; /* the last step is the CALL_RUN */
	unsigned n_steps;
	char *text; /* copy of the description, into which each .hex points */
};

/*
 * Parses a description. Returns 0, or -EINVAL. The caller must call call_free() after a failure, too.
 */
int call_parse(struct call *call, const char *text, struct error *err);
void call_free(struct call *call);
