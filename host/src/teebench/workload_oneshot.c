/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole messages:
 *
 * oneshot/ALGORITHM/BACKEND/BYTES: the digest or the MAC in one call. A MAC's
 * key is set before.
 *
 * stream/ALGORITHM/BACKEND/BYTES/CHUNK: the digest of a message that comes in
 * pieces: begin, a call for every CHUNK bytes, the last of them ending it.
 *
 * cipher/ALGORITHM/BACKEND/enc|dec/BYTES: a message whose key was set before:
 * the IV, the bytes, and an AEAD's tag. In the TEE one call.
 */
#include "digest_case.h"
#include "keyed_case.h"

static int oneshot_parse(struct bench_case *c, struct error *err)
{
	if (c->algorithm->class == ALG_DIGEST)
		return digest_case_parse(c, err);
	c->workload = &keyed_case_workload;
	return keyed_case_parse(c, err);
}

static int cipher_parse(struct bench_case *c, struct error *err)
{
	c->workload = &keyed_case_workload;
	return keyed_case_parse(c, err);
}

static int oneshot_prepare(struct bench_case *c, struct error *err)
{
	return digest_case_open(c, DESK_DIGEST, 0, err);
}

static int oneshot_run(void *state, uint32_t loops, uint32_t repeat, struct error *err)
{
	struct digest_case *d = state;
	int ret = 0;

	/* The backend's own loop: a smaller share of the time is ours. */
	if (!d->backend->crosses && loops <= UINT32_MAX / repeat) {
		repeat *= loops;
		loops = 1;
	}
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = d->backend->digest(d->session, d->alg, &d->desk->in, 0, d->bytes, d->out,
					 repeat, err);
	return ret;
}

struct stream {
	struct digest_case d;
	size_t chunk;
};

static int stream_parse(struct bench_case *c, struct error *err)
{
	if (!c->part[1].number)
		return case_wrong(err, "the chunk is 0 bytes");
	return digest_case_parse(c, err);
}

static int stream_prepare(struct bench_case *c, struct error *err)
{
	((struct stream *)c->state)->chunk = (size_t)c->part[1].number;
	return digest_case_open(c, DESK_DIGEST, 0, err);
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
		ret = b->digest_final(s->d.session, in, at, bytes - at, s->d.out, err);
	return ret;
}

static int stream_run(void *state, uint32_t loops, uint32_t repeat, struct error *err)
{
	int ret = 0;

	(void)repeat;
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = stream_once(state, err);
	return ret;
}

const struct workload workload_oneshot = {
	.name = "oneshot",
	.summary = "digest or MAC of a whole message in one call",
	.parameters = "BYTES",
	.classes = 1u << ALG_DIGEST | 1u << ALG_MAC,
	.most = 1 << 30,
	.repeats = true,
	.parse = oneshot_parse,
	.prepare = oneshot_prepare,
	.run = oneshot_run,
	DIGEST_CASE(struct digest_case),
};

const struct workload workload_stream = {
	.name = "stream",
	.summary = "digest of a message in pieces, a call each",
	.parameters = "BYTES/CHUNK",
	.classes = 1u << ALG_DIGEST,
	.most = 1 << 30,
	.parse = stream_parse,
	.prepare = stream_prepare,
	.run = stream_run,
	DIGEST_CASE(struct stream),
};

const struct workload workload_cipher = {
	.name = "cipher",
	.summary = "a message encrypted or decrypted",
	.parameters = "enc|dec/BYTES",
	.classes = 1u << ALG_CIPHER | 1u << ALG_AEAD,
	.most = 1 << 28,
	.blocks = true,
	.repeats = true,
	.parse = cipher_parse,
};
