/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digest-parts/ALGORITHM/tee/PART: what a digest of the TEE's costs besides
 * its bytes: to allocate an operation and free it, to reset it, to finish.
 */
#include <errno.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "known_answer.h"
#include "tee_client.h"
#include "workload.h"

_Static_assert(TA_BENCH_DIGEST_ALLOCATE == 0 && TA_BENCH_DIGEST_RESET == 1 &&
		       TA_BENCH_DIGEST_FINISH == 2,
	       "the parts are those of .parameters, in that order");

struct digest_part {
	const struct algorithm *alg;
	uint32_t part;
	struct desk *desk;
	uint8_t want[ALG_DIGEST_MAX_BYTES]; /* of the empty message */
};

static int part_prepare(struct bench_case *c, struct error *err)
{
	static const uint8_t nothing[1];
	struct digest_part *d = c->state;

	d->alg = c->algorithm;
	d->part = (uint32_t)c->part[0].word;
	d->desk = c->desk;
	return known_answer_digest(c->pool, c->backend, d->alg, nothing, 0, d->want, NULL, err);
}

static int part_run(void *state, uint32_t loops, uint32_t repeat, struct error *err)
{
	struct digest_part *d = state;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++) {
		TEEC_Operation op = { 0 };

		tee_set_value(&op, 0, d->alg->id, d->part);
		tee_set_value(&op, 1, repeat, 0);
		tee_set_memref(&op, 2, TEEC_MEMREF_PARTIAL_OUTPUT, d->desk->out.priv, 0,
			       d->alg->out_bytes);
		ret = tee_invoke(desk_ta(d->desk), TA_BENCH_CMD_DIGEST_PART, &op,
				 "take a digest apart in the bench TA", err);
	}
	if (ret == -EOPNOTSUPP)
		error_skip_word(err, "unsupported-algorithm");
	return ret;
}

static int part_check(void *state, struct error *err)
{
	struct digest_part *d = state;
	bool differs = memcmp(d->desk->out.data, d->want, d->alg->out_bytes);

	memset(d->desk->out.data, 0, d->alg->out_bytes);
	return differs ? error_set(err, -EBADMSG, "the %s of the empty message is wrong",
				   d->alg->title) :
			 0;
}

static struct tee_session *part_ta(const void *state)
{
	return desk_ta(((const struct digest_part *)state)->desk);
}

const struct workload workload_digest_parts = {
	.name = "digest-parts",
	.summary = "what a digest costs besides its bytes",
	.parameters = "allocate|reset|finish", /* by TA_BENCH_DIGEST_… */
	.classes = 1u << ALG_DIGEST,
	.backend = "tee",
	.desk = DESK_RANDOM,
	.desk_room = ALG_DIGEST_MAX_BYTES,
	.repeats = true,
	.state_size = sizeof(struct digest_part),
	.prepare = part_prepare,
	.run = part_run,
	.verify = part_check,
	.check = part_check,
	.ta = part_ta,
};
