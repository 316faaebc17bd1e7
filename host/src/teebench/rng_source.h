/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources of random bytes: the TEE, the kernel, a device, a library. */
#ifndef RNG_SOURCE_H
#define RNG_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "tee_client.h"
#include "workload.h"

struct rng_stream;

struct rng_source {
	const char *name;
	int (*open)(struct rng_stream *r, struct pool *pool, struct error *err);
	int (*draw)(struct rng_stream *r, uint8_t *data, size_t len,
		    struct error *err);
};

/* A source that is open. */
struct rng_stream {
	const struct rng_source *source;
	size_t bytes; /* at most what is drawn at once, blocks of tests aside */
	int fd;       /* -1: none */
	int (*rand_bytes)(unsigned char *data, int len);
#ifdef HAVE_TEEC
	struct tee_session *tee; /* NULL: another source */
	TEEC_SharedMemory *out;
#endif
};

enum { RNG_SOURCES = 6 };
extern const struct rng_source rng_sources[RNG_SOURCES];

/* NULL: there is none of that name. */
const struct rng_source *rng_source_by_name(const char *name);

/* Skips (error_skip()) what this machine has not. rng_close() in any case. */
int rng_open(struct rng_stream *r, const struct rng_source *source,
	     size_t bytes, struct pool *pool, struct error *err);
/* Of a zeroed one too. */
void rng_close(struct rng_stream *r);

#ifdef HAVE_TEEC
/* The TEE's, `repeat` times in one call; to the shared memory `out`. */
int rng_invoke(struct rng_stream *r, size_t len, uint32_t repeat,
	       struct error *err);
#endif

#endif
