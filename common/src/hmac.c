/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include <teemark/algorithms.h>
#include <teemark/hmac.h>

#include "bytes.h"

/* Returns the row of an HMAC's digest: the two rows have the same EVP name. */
static const struct algorithm *digest_of(uint16_t alg_id)
{
	const struct algorithm *alg = algorithm_by_id(alg_id);

	if (!alg || alg->class != ALG_MAC)
		return NULL;
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].class == ALG_DIGEST && !strcmp(algorithms[i].evp, alg->evp))
			return &algorithms[i];
	return NULL;
}

static void init(const struct digest_class *class, union digest_ctx *ctx, const uint8_t *block,
		 size_t len, uint8_t pad)
{
	uint8_t padded[ALG_BLOCK_MAX_BYTES];

	for (size_t i = 0; i < len; i++)
		padded[i] = block[i] ^ pad;
	class->init(ctx);
	class->update(ctx, padded, len);
	wipe(padded, sizeof(padded));
}

bool hmac_set_key(struct hmac *hmac, enum digest_code code, uint16_t alg_id, const uint8_t *key,
		  size_t key_len)
{
	const struct algorithm *digest = digest_of(alg_id);
	uint8_t block[ALG_BLOCK_MAX_BYTES] = { 0 };

	if (!digest || !digest_class_find(code, digest->id))
		return false;
	hmac->class = digest_class_find(code, digest->id);
	hmac->digest_bytes = digest->out_bytes;

	if (key_len > digest->block_bytes) {
		hmac->class->init(&hmac->inner);
		hmac->class->update(&hmac->inner, key, key_len);
		hmac->class->final(&hmac->inner, block);
	} else if (key_len) {
		memcpy(block, key, key_len);
	}
	init(hmac->class, &hmac->inner, block, digest->block_bytes, 0x36);
	init(hmac->class, &hmac->outer, block, digest->block_bytes, 0x5c);
	wipe(block, sizeof(block));
	return true;
}

void hmac_message(const struct hmac *hmac, const void *data, size_t len, uint8_t *out)
{
	union digest_ctx ctx = hmac->inner;
	uint8_t digest[ALG_DIGEST_MAX_BYTES];

	hmac->class->update(&ctx, data, len);
	hmac->class->final(&ctx, digest);
	ctx = hmac->outer;
	hmac->class->update(&ctx, digest, hmac->digest_bytes);
	hmac->class->final(&ctx, out);
	wipe(digest, sizeof(digest));
	wipe(&ctx, sizeof(ctx));
}

void hmac_wipe(struct hmac *hmac)
{
	wipe(hmac, sizeof(*hmac));
}
