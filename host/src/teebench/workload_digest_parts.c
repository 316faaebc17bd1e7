/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digest-parts/ALGORITHM/tee/PART: the cost of a digest in the TEE besides its bytes: to allocate
 * an operation and free it, to reset it, to finish it.
 */

#include <teemark/ta_bench.h>

#include "known_answer.h"
#include "tee_client.h"

_Static_assert(TA_BENCH_DIGEST_ALLOCATE == 0 && TA_BENCH_DIGEST_RESET == 1 &&
		       TA_BENCH_DIGEST_FINISH == 2,
	       "the parts are those of .parameters, in that order");

static int part_prepare(struct bench_case *c, struct error *err)
{
	static const uint8_t nothing[1];

	c->want = c->state; /* the digest of the empty message */
	c->want_bytes = c->algorithm->out_bytes;
	return known_answer_digest(c->pool, c->backend, c->algorithm, nothing, 0, c->state, NULL,
				   err);
}

static int part_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++) {
		TEEC_Operation op = { 0 };

		tee_set_value(&op, 0, c->algorithm->id, (uint32_t)c->part[0].word);
		tee_set_value(&op, 1, repeat, 0);
		tee_set_memref(&op, 2, TEEC_MEMREF_PARTIAL_OUTPUT, c->workplace->out.priv, 0,
			       c->algorithm->out_bytes);
		ret = tee_invoke(workplace_ta(c->workplace), TA_BENCH_CMD_DIGEST_PART, &op,
				 "take a digest apart in the bench TA", err);
	}
	if (ret == -EOPNOTSUPP)
		error_skip_word(err, "unsupported-algorithm");
	return ret;
}

const struct workload workload_digest_parts = {
	.name = "digest-parts",
	.summary = "what a digest costs besides its bytes",
	.parameters = "allocate|reset|finish", /* in the order of TA_BENCH_DIGEST_… */
	.classes = 1u << ALG_DIGEST,
	.backend = "tee",
	.workplace = WORKPLACE_RANDOM,
	.workplace_room = ALG_DIGEST_MAX_BYTES,
	.repeats = true,
	.state_size = ALG_DIGEST_MAX_BYTES,
	.prepare = part_prepare,
	.run = part_run,
	.ta_clock = true,
};
