/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng/random/BACKEND/BYTES: random bytes from the TEE, the kernel's generator
 * (getrandom, urandom), a hardware source (hwrng), the kernel's crypto
 * (afalg), OpenSSL. What is drawn first goes through the tests of FIPS 140-2.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fips140.h"
#include "json.h"
#include "rpcs.h"
#include "stop.h"
#include "workload.h"

enum { BLOCKS_MAX = 100 }; /* of the tests; fewer from a slow source */

static const char *const names[] = { "random", NULL };

#define TEST_NS 1000000000u  /* no block is drawn after so long */
#define CASE_NS 60000000000u /* a case that would take longer is left out */
#define RATE_NS 50000000u    /* a draw so long tells how fast a source is */
#define SLOW_NS 1000000000u  /* so long, whoever had the CPU meanwhile */

struct rng {
	struct bench_case *c;
	size_t bytes;
	uint8_t *before; /* what the last draw gave */
	struct rpcs rpcs;
	unsigned blocks, failed;
};

static int draw(struct rng *r, size_t len, struct error *err)
{
	return r->c->backend->random(r->c->desk->session, &r->c->desk->out, len, 1, err);
}

/* Tests blocks for a bounded time: a hardware source may give 10 kB/s. */
static int test_blocks(struct rng *r, struct error *err)
{
	uint64_t begin = clock_now_ns();
	unsigned bound;

	while (r->blocks < BLOCKS_MAX && clock_now_ns() - begin < TEST_NS && !stop_asked()) {
		int ret = draw(r, FIPS140_BYTES, err);

		if (ret)
			return ret;
		r->blocks++;
		r->failed += !fips140_passes(r->c->desk->out.data);
	}
	bound = fips140_bound(r->blocks);
	if (r->failed <= bound)
		return 0;
	return error_set(err, -EBADMSG,
			 "%u of %u blocks from %s fail the tests of FIPS 140-2, of a good source "
			 "at most %u do\nthis source is broken: do not use what it gives",
			 r->failed, r->blocks, r->c->backend->name, bound);
}

/* Times a draw; one that takes long is repeated, for others may have had the CPU meanwhile. */
static int time_draw(struct rng *r, size_t len, uint64_t *best, struct error *err)
{
	enum { DRAWS = 3 };
	int ret = 0;

	*best = UINT64_MAX;
	for (int i = 0; i < DRAWS && !ret && !stop_asked(); i++) {
		uint64_t begin = clock_now_ns(), ns;

		ret = draw(r, len, err);
		ns = clock_now_ns() - begin;
		if (ns < *best)
			*best = ns;
		if (*best < RATE_NS || ns >= SLOW_NS)
			break;
	}
	return ret;
}

/*
 * Skips a source that is too slow for the samples that are asked for. The first draw is not judged,
 * since it may seed the source. A short draw would tell the cost of a call instead of the rate, so
 * draws grow until one takes long or is as long as a sample.
 */
static int check_rate(struct rng *r, struct error *err)
{
	size_t len = r->bytes < 64 ? r->bytes : 64;
	uint64_t ns = 1;
	double all;
	int ret = draw(r, len, err);

	while (!ret && !stop_asked()) {
		ret = time_draw(r, len, &ns, err);
		if (ns >= RATE_NS || len == r->bytes)
			break;
		len = r->bytes / 4 < len ? r->bytes : 4 * len;
	}
	if (ret || stop_asked())
		return ret;
	all = (double)ns / (double)len * (double)r->bytes * (r->c->options.samples + 6);
	if (all < (double)CASE_NS)
		return 0;
	return error_skip(err, -ETIME, "too-slow",
			  "%s gives %.0f bytes a second: %u samples of %zu bytes would take %.0f s",
			  r->c->backend->name, (double)len * 1e9 / (double)(ns ? ns : 1),
			  r->c->options.samples, r->bytes, all / 1e9);
}

static int rng_prepare(struct bench_case *c, struct error *err)
{
	struct rng *r = c->state;
	size_t bytes = (size_t)c->bytes;

	r->before = calloc(1, bytes);
	if (!r->before)
		return error_memory(err);
	r->c = c;
	r->bytes = bytes;
	return check_rate(r, err);
}

static int rng_ready(void *state, uint32_t loops, struct error *err)
{
	struct rng *r = state;

	(void)loops;
	(void)err;
	memset(r->c->desk->out.data, 0, r->bytes);
	return 0;
}

static int rng_run(void *state, uint32_t loops, uint32_t repeat, struct error *err)
{
	struct rng *r = state;
	const struct desk *desk = r->c->desk;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = desk->backend->random(desk->session, &desk->out, r->bytes, repeat, err);
	return ret;
}

/* Checks that not all bytes are equal, and that they aren't those of the draw before. */
static int rng_check(void *state, struct error *err)
{
	struct rng *r = state;
	const uint8_t *data = r->c->desk->out.data;
	bool again = !memcmp(data, r->before, r->bytes);

	memcpy(r->before, data, r->bytes);
	if (!memcmp(data, data + 1, r->bytes - 1))
		return error_set(err, -EBADMSG, "%s gave %zu equal bytes: %02x",
				 r->c->backend->name, r->bytes, data[0]);
	return again ? error_set(err, -EBADMSG, "%s gave the same %zu bytes twice",
				 r->c->backend->name, r->bytes) :
		       0;
}

static int rng_verify(void *state, struct error *err)
{
	struct rng *r = state;
	int ret = rng_check(r, err);

	if (!ret)
		ret = test_blocks(r, err);
	if (!ret && desk_ta(r->c->desk))
		ret = rpcs_count(&r->rpcs, r->c, 4, err);
	return ret;
}

static void rng_facts(const void *state, struct json *json)
{
	const struct rng *r = state;

	json_object(json, "fips");
	json_u64(json, "blocks", r->blocks);
	json_u64(json, "failed", r->failed);
	json_u64(json, "failed_at_most", fips140_bound(r->blocks));
	json_object_end(json);
	if (desk_ta(r->c->desk))
		rpcs_put(&r->rpcs, json);
}

static void rng_teardown(void *state)
{
	free(((struct rng *)state)->before);
}

const struct workload workload_rng = {
	.name = "rng",
	.summary = "random bytes",
	.parameters = "BYTES",
	.names = names,
	.what = "what workload rng draws",
	.least = 16, /* two draws of fewer may well be equal */
	.most = 1 << 24,
	.desk = DESK_RANDOM,
	.desk_room = FIPS140_BYTES,
	.repeats = true,
	.draws = true,
	.state_size = sizeof(struct rng),
	.prepare = rng_prepare,
	.probe = case_probe_backend,
	.ready = rng_ready,
	.run = rng_run,
	.verify = rng_verify,
	.check = rng_check,
	.ta_clock = true,
	.facts = rng_facts,
	.teardown = rng_teardown,
};
