/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digest-parts/ALGORITHM/tee/PART: what a digest of the TEE's costs besides
 * its bytes: to allocate an operation and free it, to reset it, to finish.
 */
#include <errno.h>
#include <string.h>

#include <teemark/algorithms.h>
#include <teemark/ta_bench.h>

#include "backend.h"
#include "known_answer.h"
#include "listing.h"
#include "pool.h"
#include "tee_client.h"
#include "workload.h"

static const char *const parts[] = {
	[TA_BENCH_DIGEST_ALLOCATE] = "allocate",
	[TA_BENCH_DIGEST_RESET] = "reset",
	[TA_BENCH_DIGEST_FINISH] = "finish",
	NULL,
};

struct digest_part {
	const struct algorithm *alg;
	uint32_t part;
	struct desk *desk;
	uint8_t want[ALG_DIGEST_MAX_BYTES]; /* of the empty message */
};

static int part_parse(struct bench_case *c, struct pool *pool,
		      struct error *err)
{
	int ret =
		case_need_algorithm(c, ALG_DIGEST, ALG_DIGEST, "a digest", err);

	if (!ret)
		ret = case_need_tee(c, err);
	if (!ret)
		ret = case_choice(c->parameters, parts, "a part of a digest",
				  err);
	return ret < 0 ? ret :
			 pool_reserve(pool, c->backend, DESK_RANDOM,
				      ALG_DIGEST_MAX_BYTES, err);
}

static int part_prepare(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	static const uint8_t nothing[1];
	struct digest_part *d = c->state;
	int ret;

	d->alg = c->algorithm;
	d->part = (uint32_t)case_choice(c->parameters, parts, "", err);
	ret = pool_desk(pool, c->backend, DESK_RANDOM, ALG_DIGEST_MAX_BYTES,
			&d->desk, err);
	return ret ? ret :
		     known_answer_digest(pool, c->backend, d->alg, nothing, 0,
					 d->want, NULL, err);
}

static int part_run(void *state, uint32_t loops, uint32_t repeat,
		    struct error *err)
{
	struct digest_part *d = state;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++) {
		TEEC_Operation op = { 0 };

		tee_set_value(&op, 0, d->alg->id, d->part);
		tee_set_value(&op, 1, repeat, 0);
		tee_set_memref(&op, 2, TEEC_MEMREF_PARTIAL_OUTPUT,
			       d->desk->out.priv, 0, d->alg->out_bytes);
		ret = tee_invoke(desk_ta(d->desk), TA_BENCH_CMD_DIGEST_PART,
				 &op, "take a digest apart in the bench TA",
				 err);
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
	return differs ? error_set(err, -EBADMSG,
				   "the %s of the empty message is wrong",
				   d->alg->title) :
			 0;
}

static struct tee_session *part_ta(const void *state)
{
	return desk_ta(((const struct digest_part *)state)->desk);
}

/* The digests that the TEE has. */
static void part_list(struct listing *listing, struct pool *pool)
{
	const struct backend *tee = backend_by_name("tee");
	struct error opening = { 0 };
	struct desk *desk;

	pool_desk(pool, tee, DESK_DIGEST, 0, &desk, &opening);
	for (size_t i = 0; i < algorithms_count; i++) {
		struct error why = opening;

		if (algorithms[i].class != ALG_DIGEST)
			continue;
		if (desk)
			tee->supports(desk->session, &algorithms[i], &why);
		listing_add(listing, algorithms[i].name, tee->name, &why);
	}
}

const struct workload workload_digest_parts = {
	.name = "digest-parts",
	.summary = "what a digest costs besides its bytes",
	.parameters = "allocate|reset|finish",
	.repeats = true,
	.state_size = sizeof(struct digest_part),
	.parse = part_parse,
	.prepare = part_prepare,
	.run = part_run,
	.verify = part_check,
	.check = part_check,
	.ta = part_ta,
	.list = part_list,
};
