/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream/ALGORITHM/BACKEND/BYTES/CHUNK: the digest of a message that comes in
 * pieces: begin, a call for every CHUNK bytes, the last of them ending it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "known_answer.h"
#include "listing.h"
#include "pool.h"
#include "workload.h"

enum { BYTES_MAX = 1 << 30 };

struct stream {
	const struct backend *backend;
	const struct algorithm *alg;
	struct session *session;
	const struct buffer *buffer;
	size_t bytes, chunk;
	uint8_t out[ALG_DIGEST_MAX_BYTES];
	uint8_t want[ALG_DIGEST_MAX_BYTES];
	char what[80];
};

static int split(const char *parameters, uint64_t *bytes, uint64_t *chunk,
		 struct error *err)
{
	const char *slash = strchr(parameters, '/');
	char text[24];
	int ret;

	if (!slash || (size_t)(slash - parameters) >= sizeof(text))
		return error_set(err, -EINVAL, "\"%s\" is not BYTES/CHUNK",
				 parameters);
	memcpy(text, parameters, (size_t)(slash - parameters));
	text[slash - parameters] = '\0';
	ret = case_number(text, "the number of bytes", BYTES_MAX, bytes, err);
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
	uint64_t bytes, chunk;
	int ret;

	ret = case_need_digest(c, err);
	if (!ret)
		ret = case_need_backend(c, err);
	if (!ret)
		ret = split(c->parameters, &bytes, &chunk, err);
	if (ret)
		return ret;
	c->bytes = (int64_t)bytes;
	return pool_reserve(pool, c->backend,
			    bytes > KNOWN_ANSWER_BYTES ? bytes :
							 KNOWN_ANSWER_BYTES,
			    err);
}

static int stream_prepare(struct bench_case *c, struct pool *pool,
			  struct error *err)
{
	struct session *session;
	uint64_t bytes, chunk;
	struct stream *s;
	int ret;

	ret = pool_session(pool, c->backend, &session, err);
	if (!ret)
		ret = c->backend->supports(session, c->algorithm, err);
	if (!ret)
		ret = split(c->parameters, &bytes, &chunk, err);
	if (ret)
		return ret;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = s;
	s->backend = c->backend;
	s->alg = c->algorithm;
	s->session = session;
	s->bytes = (size_t)bytes;
	s->chunk = (size_t)chunk;
	snprintf(s->what, sizeof(s->what),
		 "%zu bytes in pieces of %zu by backend %s", s->bytes, s->chunk,
		 s->backend->name);
	return pool_buffer(pool, c->backend,
			   s->bytes > KNOWN_ANSWER_BYTES ? s->bytes :
							   KNOWN_ANSWER_BYTES,
			   &s->buffer, err);
}

static int stream_once(struct stream *s, struct error *err)
{
	size_t at = 0;
	int ret = s->backend->digest_init(s->session, s->alg, err);

	for (; !ret && s->bytes - at > s->chunk; at += s->chunk)
		ret = s->backend->digest_update(s->session, s->buffer, at,
						s->chunk, err);
	if (!ret)
		ret = s->backend->digest_final(s->session, s->buffer, at,
					       s->bytes - at, s->out, err);
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

static int stream_check(void *state, struct error *err)
{
	struct stream *s = state;
	int ret = digest_differs(s->alg, s->out, s->want, s->what, err);

	/* A run that writes no digest must not pass by the one before. */
	memset(s->out, 0, sizeof(s->out));
	return ret;
}

static int stream_verify(void *state, struct error *err)
{
	struct stream *s = state;
	int ret = known_answer_by_c(s->alg, s->buffer->data, s->bytes, s->want,
				    err);

	return ret ? ret : stream_check(s, err);
}

static struct tee_session *stream_ta(const void *state)
{
	const struct stream *s = state;

	return s->backend->tee ? s->backend->tee(s->session) : NULL;
}

static void stream_teardown(void *state)
{
	free(state);
}

const struct workload workload_stream = {
	.name = "stream",
	.summary = "digest of a message in pieces, a call each",
	.parameters = "BYTES/CHUNK",
	.parse = stream_parse,
	.prepare = stream_prepare,
	.run = stream_run,
	.verify = stream_verify,
	.check = stream_check,
	.ta = stream_ta,
	.teardown = stream_teardown,
	.list = listing_add_digests,
};
