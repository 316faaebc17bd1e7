/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng/random/BACKEND/BYTES: random bytes from the TEE, the kernel's generator (getrandom, urandom),
 * a hardware source (hwrng), the kernel's crypto (afalg), OpenSSL. Of each source's first bits, about
 * half must be ones.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "clock.h"
#include "stop.h"
#include "workload.h"

enum {
	BLOCK_BYTES = 2500,
	BLOCKS_MAX = 100, /* blocks whose ones are counted; fewer from a slow source */
	SIGMAS_MAX = 5,   /* a good source exceeds them once in 1.7 million times */
};

static const char *const names[] = { "random", NULL };

#define TEST_NS 1000000000u  /* time after which no further block is drawn */
#define CASE_NS 60000000000u /* a case that would take longer is skipped */
#define RATE_NS 50000000u    /* shortest draw, in ns, that tells a source's rate */
#define SLOW_NS 1000000000u  /* a draw that takes this many ns is not repeated */

struct rng {
	uint8_t *before; /* the bytes of the previous draw */
};

static int draw(struct bench_case *c, size_t len, struct error *err)
{
	return c->backend->random(c->workplace->session, &c->workplace->out, len, 1, err);
}

/* Counts ones for about a second at most, since a hardware source may give only 10 kB/s. */
static int check_ones(struct bench_case *c, struct error *err)
{
	uint64_t begin = clock_now_ns();
	int64_t ones = 0, bits = 0, surplus;

	for (unsigned i = 0; i < BLOCKS_MAX && clock_now_ns() - begin < TEST_NS; i++) {
		int ret = stop_asked() ? 0 : draw(c, BLOCK_BYTES, err);

		if (ret || stop_asked())
			return ret;
		for (size_t k = 0; k < BLOCK_BYTES; k++)
			ones += __builtin_popcount(c->workplace->out.data[k]);
		bits += 8 * BLOCK_BYTES;
	}
	/* The variance of a good source's surplus is the number of bits. */
	surplus = 2 * ones - bits;
	if (surplus * surplus <= SIGMAS_MAX * SIGMAS_MAX * bits)
		return 0;
	return error_set(err, -EBADMSG,
			 "%" PRId64 " of %" PRId64 " bits from %s are ones, which no good source "
			 "gives\nthis source is broken: do not use what it gives",
			 ones, bits, c->backend->name);
}

/* Sets *best to a draw's time in ns: the shortest of three if other load may have slowed it. */
static int time_draw(struct bench_case *c, size_t len, uint64_t *best, struct error *err)
{
	enum { DRAWS = 3 };
	int ret = 0;

	*best = UINT64_MAX;
	for (int i = 0; i < DRAWS && !ret && !stop_asked(); i++) {
		uint64_t begin = clock_now_ns(), ns;

		ret = draw(c, len, err);
		ns = clock_now_ns() - begin;
		if (ns < *best)
			*best = ns;
		if (*best < RATE_NS || ns >= SLOW_NS)
			break;
	}
	return ret;
}

/*
 * Skips a source that is too slow for the requested samples. The first draw is not timed, since it
 * may seed the source. A short draw would tell the cost of a call instead of the rate, so draws
 * grow until one takes RATE_NS or has as many bytes as the case.
 */
static int check_rate(struct bench_case *c, struct error *err)
{
	size_t bytes = (size_t)c->bytes, len = bytes < 64 ? bytes : 64;
	uint64_t ns = 1;
	double all;
	int ret = draw(c, len, err);

	while (!ret && !stop_asked()) {
		ret = time_draw(c, len, &ns, err);
		if (ns >= RATE_NS || len == bytes)
			break;
		len = bytes / 4 < len ? bytes : 4 * len;
	}
	if (ret || stop_asked())
		return ret;
	all = (double)ns / (double)len * (double)bytes * (c->options.samples + 6);
	if (all < (double)CASE_NS)
		return 0;
	return error_skip(err, -ETIME, "too-slow",
			  "%s gives %.0f bytes a second: %u samples of %zu bytes would take %.0f s",
			  c->backend->name, (double)len * 1e9 / (double)(ns ? ns : 1),
			  c->options.samples, bytes, all / 1e9);
}

static int rng_prepare(struct bench_case *c, struct error *err)
{
	struct rng *r = c->state;

	r->before = calloc(1, (size_t)c->bytes);
	if (!r->before)
		return error_memory(err);
	return check_rate(c, err);
}

static int rng_ready(struct bench_case *c, struct error *err)
{
	memset(c->workplace->out.data, 0, (size_t)c->bytes);
	return 0;
}

static int rng_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	const struct workplace *workplace = c->workplace;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = workplace->backend->random(workplace->session, &workplace->out,
						 (size_t)c->bytes, repeat, err);
	return ret;
}

/* Checks that the bytes are not all equal, and differ from those of the previous draw. */
static int rng_check(struct bench_case *c, struct error *err)
{
	struct rng *r = c->state;
	const uint8_t *data = c->workplace->out.data;
	size_t bytes = (size_t)c->bytes;
	bool again = !memcmp(data, r->before, bytes);

	memcpy(r->before, data, bytes);
	if (!memcmp(data, data + 1, bytes - 1))
		return error_set(err, -EBADMSG, "%s gave %zu equal bytes: %02x", c->backend->name,
				 bytes, data[0]);
	return again ? error_set(err, -EBADMSG, "%s gave the same %zu bytes twice",
				 c->backend->name, bytes) :
		       0;
}

static int rng_verify(struct bench_case *c, struct error *err)
{
	int ret = case_check(c, err);

	return ret ? ret : check_ones(c, err);
}

static void rng_teardown(struct bench_case *c)
{
	free(((struct rng *)c->state)->before);
}

const struct workload workload_rng = {
	.name = "rng",
	.summary = "random bytes",
	.parameters = "BYTES",
	.names = names,
	.least = 16, /* shorter draws may be equal by chance */
	.most = 1 << 24,
	.workplace = WORKPLACE_RANDOM,
	.workplace_room = BLOCK_BYTES,
	.repeats = true,
	.draws = true,
	.state_size = sizeof(struct rng),
	.prepare = rng_prepare,
	.ready = rng_ready,
	.run = rng_run,
	.verify = rng_verify,
	.check = rng_check,
	.ta_clock = true,
	.rpc_calls = 4,
	.teardown = rng_teardown,
};
