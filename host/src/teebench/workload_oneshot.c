/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole messages:
 *
 * oneshot/ALGORITHM/BACKEND/BYTES: the digest or the MAC in one call. A MAC's key is set before.
 *
 * stream/ALGORITHM/BACKEND/BYTES/CHUNK: the digest of a message in pieces: a call to begin it, and
 * one for every CHUNK bytes, of which the last also ends the digest.
 *
 * cipher/ALGORITHM/BACKEND/enc|dec/BYTES: a message with a key that was set before: setting the IV,
 * the bytes, and an AEAD's tag. In the TEE this is one call.
 */
#include "message_case.h"

static int cipher_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	const struct message_case *m = c->state;
	const struct workplace *workplace = c->workplace;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = workplace->backend->message(workplace->session, &m->job, repeat, err);
	return ret;
}

/* oneshot_parse() makes a MAC's case a case of this workload. */
const struct workload workload_cipher = {
	.name = "cipher",
	.summary = "a message encrypted or decrypted",
	.parameters = "enc|dec/BYTES",
	.classes = 1u << ALG_CIPHER | 1u << ALG_AEAD,
	.most = 1 << 28,
	.blocks = true,
	.repeats = true,
	.parse = message_case_parse_keyed,
	.prepare = message_case_prepare_keyed,
	.ready = message_case_ready_keyed,
	.run = cipher_run,
	MESSAGE_CASE,
};

static int oneshot_parse(struct bench_case *c, struct error *err)
{
	if (c->algorithm->class == ALG_DIGEST)
		return message_case_reserve(c, WORKPLACE_DIGEST, (size_t)c->bytes, err);
	c->workload = &workload_cipher;
	return message_case_parse_keyed(c, err);
}

static int oneshot_prepare(struct bench_case *c, struct error *err)
{
	return message_case_open(c, WORKPLACE_DIGEST, false, (size_t)c->bytes, err);
}

static int oneshot_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	struct message_case *m = c->state;
	int ret = 0;

	/* The backend's own loop costs less than the loop here. */
	if (!c->backend->crosses && loops <= UINT32_MAX / repeat) {
		repeat *= loops;
		loops = 1;
	}
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = c->backend->digest(c->workplace->session, c->algorithm, &c->workplace->in,
					 (size_t)c->bytes, m->digest, repeat, err);
	return ret;
}

static int stream_parse(struct bench_case *c, struct error *err)
{
	if (!c->part[1].number)
		return case_wrong(err, "the chunk is 0 bytes");
	return message_case_reserve(c, WORKPLACE_DIGEST, (size_t)c->bytes, err);
}

static int stream_once(struct bench_case *c, struct error *err)
{
	struct message_case *m = c->state;
	const struct backend *b = c->backend;
	struct session *session = c->workplace->session;
	const struct buffer *in = &c->workplace->in;
	size_t at = 0, bytes = (size_t)c->bytes, chunk = (size_t)c->part[1].number;
	int ret = b->digest_init(session, c->algorithm, err);

	for (; !ret && bytes - at > chunk; at += chunk)
		ret = b->digest_update(session, in, at, chunk, err);
	return ret ? ret : b->digest_final(session, in, at, bytes - at, m->digest, err);
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
	MESSAGE_CASE,
};

const struct workload workload_stream = {
	.name = "stream",
	.summary = "digest of a message in pieces, a call each",
	.parameters = "BYTES/CHUNK",
	.classes = 1u << ALG_DIGEST,
	.most = 1 << 30,
	.parse = stream_parse,
	.prepare = oneshot_prepare,
	.once = stream_once,
	MESSAGE_CASE,
};
