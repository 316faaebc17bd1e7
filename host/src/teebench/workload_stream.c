/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream/ALGORITHM/BACKEND/BYTES/CHUNK: the digest of a message that comes in
 * pieces: begin, a call for every CHUNK bytes, the last of them ending it.
 */
#include <errno.h>
#include <string.h>

#include "digest_case.h"
#include "listing.h"
#include "workload.h"

enum { BYTES_MAX = 1 << 30 };

struct stream {
	struct digest_case d;
	size_t chunk;
};

static int split(struct bench_case *c, uint64_t *chunk, struct error *err)
{
	const char *slash = strchr(c->parameters, '/');
	char text[24];
	int ret;

	if (!slash || (size_t)(slash - c->parameters) >= sizeof(text))
		return error_set(err, -EINVAL, "\"%s\" is not BYTES/CHUNK",
				 c->parameters);
	memcpy(text, c->parameters, (size_t)(slash - c->parameters));
	text[slash - c->parameters] = '\0';
	ret = case_bytes(c, text, BYTES_MAX, err);
	if (!ret)
		ret = case_number(slash + 1, "the chunk", BYTES_MAX, chunk,
				  err);
	if (!ret && !*chunk)
		ret = error_set(err, -EINVAL, "the chunk is 0 bytes");
	return ret;
}

static int stream_parse(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	uint64_t chunk;
	int ret =
		case_need_algorithm(c, ALG_DIGEST, ALG_DIGEST, "a digest", err);

	if (!ret)
		ret = split(c, &chunk, err);
	return ret ? ret : digest_case_reserve(c, pool, err);
}

static int stream_prepare(struct bench_case *c, struct pool *pool,
			  struct error *err)
{
	uint64_t chunk;
	int ret = split(c, &chunk, err);

	if (!ret)
		ret = digest_case_open(c, pool, DESK_DIGEST, 0, err);
	if (!ret)
		((struct stream *)c->state)->chunk = (size_t)chunk;
	return ret;
}

static int stream_once(struct stream *s, struct error *err)
{
	const struct backend *b = s->d.backend;
	const struct buffer *in = &s->d.desk->in;
	size_t at = 0, bytes = s->d.bytes;
	int ret = b->digest_init(s->d.session, s->d.alg, err);

	for (; !ret && bytes - at > s->chunk; at += s->chunk)
		ret = b->digest_update(s->d.session, in, at, s->chunk, err);
	if (!ret)
		ret = b->digest_final(s->d.session, in, at, bytes - at,
				      s->d.out, err);
	return ret;
}

static int stream_run(void *state, uint32_t loops, uint32_t repeat,
		      struct error *err)
{
	int ret = 0;

	(void)repeat;
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = stream_once(state, err);
	return ret;
}

const struct workload workload_stream = {
	.name = "stream",
	.summary = "digest of a message in pieces, a call each",
	.parameters = "BYTES/CHUNK",
	.state_size = sizeof(struct stream),
	.parse = stream_parse,
	.prepare = stream_prepare,
	.run = stream_run,
	.verify = digest_case_verify,
	.check = digest_case_check,
	.ta = digest_case_ta,
	.facts = digest_case_facts,
	.list = listing_add_digests,
};
