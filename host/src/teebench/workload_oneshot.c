/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oneshot/ALGORITHM/BACKEND/BYTES: the digest or the MAC of a whole message,
 * one call. A MAC's key is set before.
 */
#include "digest_case.h"
#include "keyed_case.h"
#include "listing.h"
#include "workload.h"

enum { BYTES_MAX = 1 << 30 };

static const struct workload mac_workload;

static int oneshot_parse(struct bench_case *c, struct pool *pool,
			 struct error *err)
{
	int ret;

	ret = case_need_algorithm(c, ALG_DIGEST, ALG_MAC, "a digest or MAC",
				  err);
	if (!ret)
		ret = case_bytes(c, c->parameters, BYTES_MAX, err);
	if (ret)
		return ret;
	if (c->algorithm->class == ALG_DIGEST)
		return digest_case_reserve(c, pool, err);
	c->workload = &mac_workload;
	return keyed_case_reserve(c, pool, (uint64_t)c->bytes, err);
}

static int oneshot_prepare(struct bench_case *c, struct pool *pool,
			   struct error *err)
{
	return digest_case_open(c, pool, DESK_DIGEST, 0, err);
}

static int oneshot_run(void *state, uint32_t loops, uint32_t repeat,
		       struct error *err)
{
	struct digest_case *d = state;
	int ret = 0;

	/* The backend's own loop: a smaller share of the time is ours. */
	if (!d->backend->crosses && loops <= UINT32_MAX / repeat) {
		repeat *= loops;
		loops = 1;
	}
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = d->backend->digest(d->session, d->alg, &d->desk->in, 0,
					 d->bytes, d->out, repeat, err);
	return ret;
}

static bool is_mac(const struct algorithm *alg)
{
	return alg->class == ALG_MAC;
}

static void oneshot_list(struct listing *listing, struct pool *pool)
{
	listing_add_digests(listing, pool);
	listing_add_algorithms(listing, pool, DESK_KEYED, is_mac);
}

const struct workload workload_oneshot = {
	.name = "oneshot",
	.summary = "digest or MAC of a whole message in one call",
	.parameters = "BYTES",
	.repeats = true,
	.state_size = sizeof(struct digest_case),
	.parse = oneshot_parse,
	.prepare = oneshot_prepare,
	.run = oneshot_run,
	.verify = digest_case_verify,
	.check = digest_case_check,
	.ta = digest_case_ta,
	.facts = digest_case_facts,
	.list = oneshot_list,
};

/* The same of a MAC, once its case is parsed. */

static int mac_prepare(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	return keyed_case_open(c, pool, false, (size_t)c->bytes, err);
}

static const struct workload mac_workload = {
	.name = "oneshot",
	.state_size = sizeof(struct keyed_case),
	.prepare = mac_prepare,
	.ready = keyed_case_ready,
	.run = keyed_case_run,
	.verify = keyed_case_verify,
	.check = keyed_case_check,
	.ta = keyed_case_ta,
	.facts = keyed_case_facts,
	.teardown = keyed_case_teardown,
};
