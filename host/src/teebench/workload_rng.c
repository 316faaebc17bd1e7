/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng/random/BACKEND/BYTES: random bytes from the TEE, the kernel's generator
 * (getrandom, urandom), a hardware source (hwrng), the kernel's crypto
 * (afalg), OpenSSL. What is drawn first goes through the tests of FIPS 140-2.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_work.h>

#include "clock.h"
#include "facts.h"
#include "fips140.h"
#include "json.h"
#include "listing.h"
#include "rng_source.h"
#include "rpcs.h"
#include "stop.h"
#include "workload.h"

enum {
	BYTES_MAX = 1 << 24,
	BLOCKS_MAX = 100, /* of the tests; fewer from a slow source */
};

#define TEST_NS 1000000000u  /* no block is drawn after so long */
#define CASE_NS 60000000000u /* a case that would take longer is left out */

struct rng {
	struct rng_stream in;
	uint8_t *data, *before; /* in.bytes of this draw, and of the last */
#ifdef HAVE_TEEC
	struct rpcs rpcs;
#endif
	unsigned blocks, failed;
};

static int check_work(const struct bench_case *c, struct error *err)
{
	uint32_t most = c->options.repeats[c->options.n_repeats - 1];

	if (!case_in_ta(c) || ta_work_random_ok(most, (uint64_t)c->bytes))
		return 0;
	error_set(err, -EINVAL,
		  "%u times %lld random bytes are more than one call into a TA "
		  "may draw: %u",
		  most, (long long)c->bytes, TA_WORK_RANDOM_MAX);
	error_hint(err, "a call can't be ended from outside, and a hardware "
			"source may be slow: draw more in many calls");
	return -EINVAL;
}

static int rng_parse(struct bench_case *c, struct pool *pool, struct error *err)
{
	uint64_t bytes;
	int ret;

	(void)pool;
	if (strcmp(c->algorithm_name, "random"))
		return error_set(err, -EINVAL,
				 "workload rng has \"random\", not \"%s\"",
				 c->algorithm_name);
	if (!rng_source_by_name(c->backend_name))
		return error_set(err, -EINVAL,
				 "there is no random source \"%s\" (tee, "
				 "getrandom, urandom, hwrng, afalg, openssl)",
				 c->backend_name);
	ret = case_number(c->parameters, "the number of bytes", BYTES_MAX,
			  &bytes, err);
	/* Two draws of so few may well be equal. */
	if (!ret && bytes < 16)
		ret = error_set(err, -EINVAL, "16 bytes are the least");
	c->bytes = (int64_t)bytes;
	return ret ? ret : check_work(c, err);
}

/* Bounded by time, for a hardware source may give 10 kB/s. */
static int test_blocks(struct rng *r, struct error *err)
{
	uint64_t begin = clock_now_ns();
	uint8_t block[FIPS140_BYTES];
	unsigned bound;

	while (r->blocks < BLOCKS_MAX && clock_now_ns() - begin < TEST_NS &&
	       !stop_asked()) {
		int ret = r->in.source->draw(&r->in, block, sizeof(block), err);

		if (ret)
			return ret;
		r->blocks++;
		r->failed += !fips140_passes(block);
	}
	bound = fips140_bound(r->blocks);
	if (r->failed <= bound)
		return 0;
	error_set(err, -EBADMSG,
		  "%u of %u blocks from %s fail the tests of FIPS 140-2, of a "
		  "good source at most %u do",
		  r->failed, r->blocks, r->in.source->name, bound);
	error_hint(err, "this source is broken: do not use what it gives");
	return -EBADMSG;
}

/* Too slow for as many samples as are asked for? */
static int check_rate(struct rng *r, const struct bench_case *c,
		      struct error *err)
{
	uint8_t some[64];
	uint64_t begin = clock_now_ns(), ns;
	double all;
	int ret = r->in.source->draw(&r->in, some, sizeof(some), err);

	if (ret)
		return ret;
	ns = clock_now_ns() - begin;
	all = (double)ns / sizeof(some) * (double)r->in.bytes *
	      (c->options.samples + 6);
	if (all < (double)CASE_NS)
		return 0;
	return error_skip(err, -ETIME, "too-slow",
			  "%s gives %.0f bytes a second: %u samples of %zu "
			  "bytes would take %.0f s",
			  r->in.source->name, sizeof(some) * 1e9 / (double)ns,
			  c->options.samples, r->in.bytes, all / 1e9);
}

static int rng_prepare(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	struct rng *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = r;
	r->data = calloc(1, (size_t)c->bytes);
	r->before = calloc(1, (size_t)c->bytes);
	if (!r->data || !r->before)
		return error_set(err, -ENOMEM, "out of memory");
	ret = rng_open(&r->in, rng_source_by_name(c->backend_name),
		       (size_t)c->bytes, pool, err);
	return ret ? ret : check_rate(r, c, err);
}

static int rng_ready(void *state, uint32_t loops, uint32_t repeat,
		     struct error *err)
{
	struct rng *r = state;

	(void)loops;
	(void)repeat;
	(void)err;
	memcpy(r->before, r->data, r->in.bytes);
	memset(r->data, 0, r->in.bytes);
#ifdef HAVE_TEEC
	if (r->in.out)
		memset(r->in.out->buffer, 0, r->in.bytes);
#endif
	return 0;
}

static int rng_run(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err)
{
	struct rng *r = state;
	int ret = 0;

#ifdef HAVE_TEEC
	if (r->in.tee) {
		for (uint32_t i = 0; !ret && i < loops; i++)
			ret = rng_invoke(&r->in, r->in.bytes, repeat, err);
		return ret;
	}
#endif
	for (uint32_t i = 0; !ret && i < loops; i++)
		for (uint32_t k = 0; !ret && k < repeat; k++)
			ret = r->in.source->draw(&r->in, r->data, r->in.bytes,
						 err);
	return ret;
}

/* Not all bytes are equal, and not those of the draw before. */
static int rng_check(void *state, struct error *err)
{
	struct rng *r = state;

#ifdef HAVE_TEEC
	if (r->in.out)
		memcpy(r->data, r->in.out->buffer, r->in.bytes);
#endif
	if (!memcmp(r->data, r->data + 1, r->in.bytes - 1))
		return error_set(err, -EBADMSG, "%s gave %zu equal bytes: %02x",
				 r->in.source->name, r->in.bytes, r->data[0]);
	if (!memcmp(r->data, r->before, r->in.bytes))
		return error_set(err, -EBADMSG,
				 "%s gave the same %zu bytes twice",
				 r->in.source->name, r->in.bytes);
	return 0;
}

static int rng_verify(void *state, struct error *err)
{
	struct rng *r = state;
	int ret = rng_check(r, err);

	if (!ret)
		ret = test_blocks(r, err);
#ifdef HAVE_TEEC
	if (!ret && r->in.tee)
		ret = rpcs_count(&r->rpcs, rng_run, r, 4, err);
#endif
	return ret;
}

static struct tee_session *rng_ta(const void *state)
{
#ifdef HAVE_TEEC
	return ((const struct rng *)state)->in.tee;
#else
	(void)state;
	return NULL;
#endif
}

static void rng_facts(const void *state, struct json *json)
{
	const struct rng *r = state;

	json_object(json, "fips");
	json_u64(json, "blocks", r->blocks);
	json_u64(json, "failed", r->failed);
	json_u64(json, "failed_at_most", fips140_bound(r->blocks));
	json_object_end(json);
	if (!strcmp(r->in.source->name, "hwrng")) {
		char *name = read_line("/sys/class/misc/hw_random/rng_current");

		json_string_or_null(json, "hwrng", name);
		free(name);
	}
#ifdef HAVE_TEEC
	if (r->in.tee)
		rpcs_put(&r->rpcs, json);
#endif
}

static void rng_teardown(void *state)
{
	struct rng *r = state;

	if (!r)
		return;
	rng_close(&r->in);
	free(r->data);
	free(r->before);
	free(r);
}

static void rng_list(struct listing *listing, struct pool *pool)
{
	for (size_t i = 0; i < RNG_SOURCES; i++) {
		struct error why = { 0 };
		struct rng_stream r;

		rng_open(&r, &rng_sources[i], 16, pool, &why);
		listing_add(listing, "random", rng_sources[i].name, &why);
		rng_close(&r);
	}
}

const struct workload workload_rng = {
	.name = "rng",
	.summary = "random bytes",
	.parameters = "BYTES",
	.repeats = true,
	.parse = rng_parse,
	.prepare = rng_prepare,
	.ready = rng_ready,
	.run = rng_run,
	.verify = rng_verify,
	.check = rng_check,
	.ta = rng_ta,
	.facts = rng_facts,
	.teardown = rng_teardown,
	.list = rng_list,
};
