/* SPDX-License-Identifier: BSD-2-Clause */
/* How random bytes are had: a way to open and one to draw for each source. */
#include "rng_source.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_alg.h>
#include <teemark/ta_bench.h>

#include "afalg.h"
#include "clock.h"
#include "fips140.h"
#include "libcrypto.h"
#include "tee_share.h"

#ifndef SOL_ALG
#define SOL_ALG 279
#endif

#define FIRST_MS 5000 /* a source that is silent so long is none */

static int read_all(struct rng_stream *r, uint8_t *data, size_t len,
		    size_t most, struct error *err)
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

static int draw_device(struct rng_stream *r, uint8_t *data, size_t len,
		       struct error *err)
{
	return read_all(r, data, len, len, err);
}

static int open_urandom(struct rng_stream *r, struct pool *pool,
			struct error *err)
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
static int open_hwrng(struct rng_stream *r, struct pool *pool,
		      struct error *err)
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

static int draw_getrandom(struct rng_stream *r, uint8_t *data, size_t len,
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

static int open_getrandom(struct rng_stream *r, struct pool *pool,
			  struct error *err)
{
	uint8_t byte;

	(void)r;
	(void)pool;
	if (getrandom(&byte, 1, GRND_NONBLOCK) == 1)
		return 0;
	return error_skip(err, -errno, "no-getrandom",
			  "getrandom() gives nothing: %s", strerror(errno));
}

static int open_afalg(struct rng_stream *r, struct pool *pool,
		      struct error *err)
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
static int draw_afalg(struct rng_stream *r, uint8_t *data, size_t len,
		      struct error *err)
{
	return read_all(r, data, len, 128, err);
}

static int open_openssl(struct rng_stream *r, struct pool *pool,
			struct error *err)
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

static int draw_openssl(struct rng_stream *r, uint8_t *data, size_t len,
			struct error *err)
{
	return r->rand_bytes(data, (int)len) == 1 ?
		       0 :
		       error_set(err, -EIO, "RAND_bytes fails");
}

#ifdef HAVE_TEEC
static int open_tee(struct rng_stream *r, struct pool *pool, struct error *err)
{
	size_t size = r->bytes > FIPS140_BYTES ? r->bytes : FIPS140_BYTES;
	int ret = tee_share(pool, &ta_bench_name, &r->tee, err);

	return ret ? ret :
		     tee_shm_alloc(r->tee, size, TEEC_MEM_OUTPUT, &r->out, err);
}

int rng_invoke(struct rng_stream *r, size_t len, uint32_t repeat,
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

static int draw_tee(struct rng_stream *r, uint8_t *data, size_t len,
		    struct error *err)
{
	int ret = rng_invoke(r, len, 1, err);

	if (!ret)
		memcpy(data, r->out->buffer, len);
	return ret;
}
#else
static int open_tee(struct rng_stream *r, struct pool *pool, struct error *err)
{
	(void)r;
	(void)pool;
	return tee_probe(err);
}

static int draw_tee(struct rng_stream *r, uint8_t *data, size_t len,
		    struct error *err)
{
	(void)r;
	(void)data;
	(void)len;
	return tee_probe(err);
}
#endif

const struct rng_source rng_sources[RNG_SOURCES] = {
	{ "tee", open_tee, draw_tee },
	{ "getrandom", open_getrandom, draw_getrandom },
	{ "urandom", open_urandom, draw_device },
	{ "hwrng", open_hwrng, draw_device },
	{ "afalg", open_afalg, draw_afalg },
	{ "openssl", open_openssl, draw_openssl },
};

const struct rng_source *rng_source_by_name(const char *name)
{
	for (size_t i = 0; i < RNG_SOURCES; i++)
		if (!strcmp(rng_sources[i].name, name))
			return &rng_sources[i];
	return NULL;
}

int rng_open(struct rng_stream *r, const struct rng_source *source,
	     size_t bytes, struct pool *pool, struct error *err)
{
	memset(r, 0, sizeof(*r));
	r->source = source;
	r->bytes = bytes;
	r->fd = -1;
	return source->open(r, pool, err);
}

void rng_close(struct rng_stream *r)
{
	if (!r->source)
		return;
#ifdef HAVE_TEEC
	if (r->out)
		tee_shm_free(r->tee, r->out);
#endif
	if (r->fd >= 0)
		close(r->fd);
}
