/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng/random/BACKEND/BYTES: random bytes from the TEE, the kernel's generator
 * (getrandom, urandom), a hardware source (hwrng), the kernel's crypto
 * (afalg), OpenSSL. What is drawn first goes through the tests of FIPS 140-2.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_alg.h>
#include <teemark/ta_bench.h>

#include "afalg.h"
#include "clock.h"
#include "facts.h"
#include "fips140.h"
#include "json.h"
#include "libcrypto.h"
#include "listing.h"
#include "rpcs.h"
#include "tee_share.h"
#include "workload.h"

#ifndef SOL_ALG
#define SOL_ALG 279
#endif

enum {
	BYTES_MAX = 1 << 24,
	BLOCKS_MAX = 100, /* of the tests; fewer from a slow source */
};

#define TEST_NS  1000000000u  /* no block is drawn after so long */
#define CASE_NS  60000000000u /* a case that would take longer is left out */
#define FIRST_MS 5000         /* a source that is silent so long is none */

struct rng;

static const struct source {
	const char *name;
	int (*open)(struct rng *r, struct pool *pool, struct error *err);
	int (*draw)(struct rng *r, uint8_t *data, size_t len,
		    struct error *err);
} sources[];

struct rng {
	const struct source *source;
	size_t bytes;
	uint8_t *data, *before; /* `bytes` of this draw, and of the last */
	int fd;                 /* -1: none */
	int (*rand_bytes)(unsigned char *data, int len);
#ifdef HAVE_TEEC
	struct tee_session *tee;
	TEEC_SharedMemory *out;
	struct rpcs rpcs;
#endif
	unsigned blocks, failed;
};

static int read_all(struct rng *r, uint8_t *data, size_t len, size_t most,
		    struct error *err)
{
	while (len) {
		ssize_t n = read(r->fd, data, len < most ? len : most);

		/* EINTR: the run is to end */
		if (n < 0)
			return error_set(err, -errno, "cannot read %s: %s",
					 r->source->name, strerror(errno));
		if (!n)
			return error_set(err, -EIO, "%s has come to its end",
					 r->source->name);
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int draw_device(struct rng *r, uint8_t *data, size_t len,
		       struct error *err)
{
	return read_all(r, data, len, len, err);
}

static int open_urandom(struct rng *r, struct pool *pool, struct error *err)
{
	(void)pool;
	r->fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (r->fd < 0)
		return error_skip(err, -errno, "no-device",
				  "cannot open /dev/urandom: %s",
				  strerror(errno));
	return 0;
}

/*
 * It may be there with nothing behind it, or slow: one that is silent, or
 * would take a case too long, is left out.
 */
static int open_hwrng(struct rng *r, struct pool *pool, struct error *err)
{
	int fd = open("/dev/hwrng", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint64_t end = clock_now_ns() + (uint64_t)FIRST_MS * 1000000u;
	uint8_t first[16];
	size_t got = 0;
	int code = 0;

	(void)pool;
	if (fd < 0) {
		error_skip(err, -errno, "no-device",
			   "cannot open /dev/hwrng: %s", strerror(errno));
		if (errno == EACCES)
			error_hint(err, "only root may read it");
		else
			error_hint(err, "the board has no hardware source that "
					"this kernel knows (CONFIG_HW_RANDOM)");
		return err ? err->code : -ENOENT;
	}
	while (got < sizeof(first) && clock_now_ns() < end) {
		ssize_t n = read(fd, first + got, sizeof(first) - got);

		if (n > 0)
			got += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			code = errno;
			break;
		} else
			poll(NULL, 0, 10);
	}
	if (!code && got == sizeof(first) &&
	    fcntl(fd, F_SETFL, 0)) /* from here on it blocks */
		code = errno;
	if (code || got < sizeof(first)) {
		close(fd);
		return error_skip(err, -ENODEV, "no-device",
				  "/dev/hwrng gives nothing: %s",
				  code ? strerror(code) :
					 "16 bytes do not come in 5 s");
	}
	r->fd = fd;
	return 0;
}

static int draw_getrandom(struct rng *r, uint8_t *data, size_t len,
			  struct error *err)
{
	(void)r;
	while (len) {
		ssize_t n = getrandom(data, len, 0);

		if (n < 0)
			return error_set(err, -errno, "getrandom: %s",
					 strerror(errno));
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int open_getrandom(struct rng *r, struct pool *pool, struct error *err)
{
	uint8_t byte;

	(void)r;
	(void)pool;
	if (getrandom(&byte, 1, GRND_NONBLOCK) == 1)
		return 0;
	return error_skip(err, -errno, "no-getrandom",
			  "getrandom() gives nothing: %s", strerror(errno));
}

static int open_afalg(struct rng *r, struct pool *pool, struct error *err)
{
	uint8_t seed[48]; /* what the largest DRBG takes */
	int bound = afalg_bind("rng", "stdrng", err);

	(void)pool;
	if (bound < 0)
		return bound;
	if (getrandom(seed, sizeof(seed), 0) != sizeof(seed) ||
	    setsockopt(bound, SOL_ALG, ALG_SET_KEY, seed, sizeof(seed)) ||
	    (r->fd = accept4(bound, NULL, NULL, SOCK_CLOEXEC)) < 0) {
		int code = errno;

		close(bound);
		return error_set(err, -code,
				 "cannot seed the kernel's \"stdrng\": %s",
				 strerror(code));
	}
	close(bound);
	return 0;
}

/* The kernel gives 128 bytes at a time. */
static int draw_afalg(struct rng *r, uint8_t *data, size_t len,
		      struct error *err)
{
	return read_all(r, data, len, 128, err);
}

static int open_openssl(struct rng *r, struct pool *pool, struct error *err)
{
	void *handle = libcrypto_handle(err);
	void *symbol;

	(void)pool;
	if (!handle)
		return -ENOENT;
	symbol = dlsym(handle, "RAND_bytes");
	if (!symbol)
		return error_skip(err, -ENOENT, "no-libcrypto",
				  "libcrypto has no RAND_bytes");
	/* POSIX lets a function's address pass through a void *. */
	memcpy(&r->rand_bytes, &symbol, sizeof(symbol));
	return 0;
}

static int draw_openssl(struct rng *r, uint8_t *data, size_t len,
			struct error *err)
{
	return r->rand_bytes(data, (int)len) == 1 ?
		       0 :
		       error_set(err, -EIO, "RAND_bytes fails");
}

#ifdef HAVE_TEEC
static int open_tee(struct rng *r, struct pool *pool, struct error *err)
{
	size_t size = r->bytes > FIPS140_BYTES ? r->bytes : FIPS140_BYTES;
	int ret = tee_share(pool, &ta_bench_name, &r->tee, err);

	return ret ? ret :
		     tee_shm_alloc(r->tee, size, TEEC_MEM_OUTPUT, &r->out, err);
}

static int invoke_tee(struct rng *r, size_t len, uint32_t repeat,
		      struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_OUTPUT,
					       TEEC_VALUE_INPUT, TEEC_NONE,
					       TEEC_NONE),
	};

	op.params[0].memref.parent = r->out;
	op.params[0].memref.size = len;
	op.params[1].value.a = repeat;
	return tee_invoke(r->tee, TA_BENCH_CMD_RANDOM, &op,
			  "draw random bytes in the bench TA", err);
}

static int draw_tee(struct rng *r, uint8_t *data, size_t len, struct error *err)
{
	int ret = invoke_tee(r, len, 1, err);

	if (!ret)
		memcpy(data, r->out->buffer, len);
	return ret;
}
#else
static int open_tee(struct rng *r, struct pool *pool, struct error *err)
{
	(void)r;
	(void)pool;
	return tee_probe(err);
}

static int draw_tee(struct rng *r, uint8_t *data, size_t len, struct error *err)
{
	(void)r;
	(void)data;
	(void)len;
	return tee_probe(err);
}
#endif

static const struct source sources[] = {
	{ "tee", open_tee, draw_tee },
	{ "getrandom", open_getrandom, draw_getrandom },
	{ "urandom", open_urandom, draw_device },
	{ "hwrng", open_hwrng, draw_device },
	{ "afalg", open_afalg, draw_afalg },
	{ "openssl", open_openssl, draw_openssl },
};

enum { SOURCES = sizeof(sources) / sizeof(*sources) };

static const struct source *source_by_name(const char *name)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (!strcmp(sources[i].name, name))
			return &sources[i];
	return NULL;
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
	if (!source_by_name(c->backend_name))
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
	return ret;
}

/* Bounded by time, for a hardware source may give 10 kB/s. */
static int test_blocks(struct rng *r, struct error *err)
{
	uint64_t begin = clock_now_ns();
	uint8_t block[FIPS140_BYTES];
	unsigned bound;

	while (r->blocks < BLOCKS_MAX && clock_now_ns() - begin < TEST_NS) {
		int ret = r->source->draw(r, block, sizeof(block), err);

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
		  r->failed, r->blocks, r->source->name, bound);
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
	int ret = r->source->draw(r, some, sizeof(some), err);

	if (ret)
		return ret;
	ns = clock_now_ns() - begin;
	all = (double)ns / sizeof(some) * (double)r->bytes *
	      (c->options.samples + 6);
	if (all < (double)CASE_NS)
		return 0;
	return error_skip(err, -ETIME, "too-slow",
			  "%s gives %.0f bytes a second: %u samples of %zu "
			  "bytes would take %.0f s",
			  r->source->name, sizeof(some) * 1e9 / (double)ns,
			  c->options.samples, r->bytes, all / 1e9);
}

static int rng_prepare(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	struct rng *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = r;
	r->source = source_by_name(c->backend_name);
	r->bytes = (size_t)c->bytes;
	r->fd = -1;
	r->data = calloc(1, r->bytes);
	r->before = calloc(1, r->bytes);
	if (!r->data || !r->before)
		return error_set(err, -ENOMEM, "out of memory");
	ret = r->source->open(r, pool, err);
	return ret ? ret : check_rate(r, c, err);
}

static int rng_ready(void *state, uint32_t loops, uint32_t repeat,
		     struct error *err)
{
	struct rng *r = state;

	(void)loops;
	(void)repeat;
	(void)err;
	memcpy(r->before, r->data, r->bytes);
	memset(r->data, 0, r->bytes);
#ifdef HAVE_TEEC
	if (r->out)
		memset(r->out->buffer, 0, r->bytes);
#endif
	return 0;
}

static int rng_run(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err)
{
	struct rng *r = state;
	int ret = 0;

#ifdef HAVE_TEEC
	if (r->tee) {
		for (uint32_t i = 0; !ret && i < loops; i++)
			ret = invoke_tee(r, r->bytes, repeat, err);
		return ret;
	}
#endif
	for (uint32_t i = 0; !ret && i < loops; i++)
		for (uint32_t k = 0; !ret && k < repeat; k++)
			ret = r->source->draw(r, r->data, r->bytes, err);
	return ret;
}

/* Not all bytes are equal, and not those of the draw before. */
static int rng_check(void *state, struct error *err)
{
	struct rng *r = state;

#ifdef HAVE_TEEC
	if (r->out)
		memcpy(r->data, r->out->buffer, r->bytes);
#endif
	if (!memcmp(r->data, r->data + 1, r->bytes - 1))
		return error_set(err, -EBADMSG, "%s gave %zu equal bytes: %02x",
				 r->source->name, r->bytes, r->data[0]);
	if (!memcmp(r->data, r->before, r->bytes))
		return error_set(err, -EBADMSG,
				 "%s gave the same %zu bytes twice",
				 r->source->name, r->bytes);
	return 0;
}

static int rng_verify(void *state, struct error *err)
{
	struct rng *r = state;
	int ret = rng_check(r, err);

	if (!ret)
		ret = test_blocks(r, err);
#ifdef HAVE_TEEC
	if (!ret && r->tee)
		ret = rpcs_count(&r->rpcs, rng_run, r, 4, err);
#endif
	return ret;
}

static struct tee_session *rng_ta(const void *state)
{
#ifdef HAVE_TEEC
	return ((const struct rng *)state)->tee;
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
	if (!strcmp(r->source->name, "hwrng")) {
		char *name = read_line("/sys/class/misc/hw_random/rng_current");

		json_string_or_null(json, "hwrng", name);
		free(name);
	}
#ifdef HAVE_TEEC
	if (r->tee)
		rpcs_put(&r->rpcs, json);
#endif
}

static void rng_teardown(void *state)
{
	struct rng *r = state;

	if (!r)
		return;
#ifdef HAVE_TEEC
	if (r->out)
		tee_shm_free(r->tee, r->out);
#endif
	if (r->fd >= 0)
		close(r->fd);
	free(r->data);
	free(r->before);
	free(r);
}

static void rng_list(struct listing *listing, struct pool *pool)
{
	for (size_t i = 0; i < SOURCES; i++) {
		struct rng r = { .source = &sources[i], .bytes = 16, .fd = -1 };
		struct error why = { 0 };

		sources[i].open(&r, pool, &why);
		listing_add(listing, "random", sources[i].name, &why);
#ifdef HAVE_TEEC
		if (r.out)
			tee_shm_free(r.tee, r.out);
#endif
		if (r.fd >= 0)
			close(r.fd);
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
