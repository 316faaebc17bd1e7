/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine.h"

#include <string.h>

static void digest(const struct digest_class *class, const uint8_t *data, size_t len, size_t first,
		   size_t chunk, uint8_t *out)
{
	union digest_ctx ctx;

	/* Whatever was there before must not matter. */
	memset(&ctx, 0xaa, sizeof(ctx));
	class->init(&ctx);
	class->update(&ctx, data, first);
	for (size_t i = first; i < len; i += chunk)
		class->update(&ctx, data + i, len - i < chunk ? len - i : chunk);
	class->final(&ctx, out);
}

static int splits(const struct digest_class *class, const uint8_t *data, size_t len, size_t step,
		  size_t out_bytes, uint8_t *out)
{
	digest(class, data, len, len, 1, out);
	for (size_t i = 0; i < len; i += step) {
		uint8_t other[ALG_DIGEST_MAX_BYTES];

		digest(class, data, len, i, len - i, other);
		if (memcmp(other, out, out_bytes))
			return -1;
	}
	return 0;
}

/* SHAVS 6.4 for SHA-1 and SHA-2: each message is the last three digests. */
static void monte_carlo_sha2(const struct digest_class *class, size_t n, uint8_t *seed)
{
	uint8_t message[3 * ALG_DIGEST_MAX_BYTES];

	for (size_t i = 0; i < 3; i++)
		memcpy(message + i * n, seed, n);
	for (size_t i = 0; i < 1000; i++) {
		uint8_t out[ALG_DIGEST_MAX_BYTES];

		digest(class, message, 3 * n, 0, 3 * n, out);
		memmove(message, message + n, 2 * n);
		memcpy(message + 2 * n, out, n);
	}
	memcpy(seed, message + 2 * n, n);
}

/* SHA3VS 6.2.3: each message is the last digest. */
static void monte_carlo_sha3(const struct digest_class *class, size_t n, uint8_t *seed)
{
	for (size_t i = 0; i < 1000; i++) {
		uint8_t out[ALG_DIGEST_MAX_BYTES];

		digest(class, seed, n, 0, n, out);
		memcpy(seed, out, n);
	}
}

static void monte_carlo(const struct digest_class *class, const struct algorithm *alg,
			const uint8_t *seed, uint8_t *out)
{
	uint8_t md[ALG_DIGEST_MAX_BYTES];
	size_t n = alg->out_bytes;

	memcpy(md, seed, n);
	for (size_t i = 0; i < 100; i++) {
		if (!strncmp(alg->name, "sha3-", 5))
			monte_carlo_sha3(class, n, md);
		else
			monte_carlo_sha2(class, n, md);
		if (i == 0)
			memcpy(out, md, n);
	}
	memcpy(out + ALG_DIGEST_MAX_BYTES, md, n);
}

void engine_run(const struct engine_request *request, const uint8_t *base,
		struct engine_reply *reply)
{
	const struct digest_class *class = digest_class_find(request->code, request->alg_id);
	const struct algorithm *alg = algorithm_by_id(request->alg_id);
	const uint8_t *data = base + request->offset;

	memset(reply, 0, sizeof(*reply));
	reply->status = -1;
	if (!class || !alg)
		return;

	switch (request->job) {
	case JOB_CHUNKS:
		digest(class, data, request->len, 0, request->chunk, reply->out);
		reply->status = 0;
		break;
	case JOB_SPLITS:
		reply->status = splits(class, data, request->len, request->chunk, alg->out_bytes,
				       reply->out);
		break;
	case JOB_MONTE_CARLO:
		if (request->len != alg->out_bytes)
			break;
		monte_carlo(class, alg, data, reply->out);
		reply->status = 0;
		break;
	case JOB_HAS:
		reply->status = 0;
		break;
	}
}
