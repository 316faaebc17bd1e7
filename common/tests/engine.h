/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Digests as the tests want them computed, over digest_class. The same code
 * runs in the test's process, and on another architecture under qemu-user,
 * where it is fed over a pipe (engine_pipe.c).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <teemark/algorithms.h>
#include <teemark/digest.h>

enum engine_job {
	/* Updates of `chunk` bytes each. */
	JOB_CHUNKS = 0,
	/*
	 * In two pieces, at every `chunk`th place once; a digest that differs
	 * from the first fails.
	 */
	JOB_SPLITS = 1,
	/* data is the seed; out gets digest 0, then digest 99. */
	JOB_MONTE_CARLO = 2,
	/* Nothing: is there such a class? */
	JOB_HAS = 3,
};

struct engine_request {
	uint32_t job;
	uint32_t code; /* enum digest_code */
	uint32_t alg_id;
	uint32_t chunk;
	uint32_t offset; /* the message begins so far from alignment */
	uint32_t len;    /* of the message */
};

struct engine_reply {
	int32_t status; /* 0, or -1: no such class, splits differ */
	uint8_t out[2 * ALG_DIGEST_MAX_BYTES];
};

#define ENGINE_OFFSET_MAX 64

/* base is aligned to 64 bytes; the message is at base + offset. */
void engine_run(const struct engine_request *request, const uint8_t *base,
		struct engine_reply *reply);
