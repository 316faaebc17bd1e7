/* SPDX-License-Identifier: BSD-2-Clause */
/* AES-256-GCM in portable C, over the block cipher and GHASH of aes.h. */
#include <teemark/gcm.h>

#include "aes.h"

struct key {
	struct aes_key aes;
	struct ghash_key ghash;
};

_Static_assert(sizeof(struct key) <= sizeof(struct gcm_key),
	       "struct gcm_key is too small");

static const struct key *of(const struct gcm_key *key)
{
	return (const struct key *)(const void *)key->bytes;
}

static void set_key(struct gcm_key *key, const uint8_t bytes[GCM_KEY_BYTES])
{
	struct key *k = (struct key *)(void *)key->bytes;
	struct aes_block h = { 0 };

	aes_set_encrypt_key(&k->aes, bytes, GCM_KEY_BYTES);
	aes_encrypt(&k->aes, &h);
	ghash_set_key(&k->ghash, &h);
	wipe(&h, sizeof(h));
}

static void begin(struct gcm_message *m, const uint8_t nonce[GCM_NONCE_BYTES])
{
	memset(m, 0, sizeof(*m));
	memcpy(m->counter, nonce, GCM_NONCE_BYTES);
	m->counter[15] = 1;
}

static struct aes_block block_of(const uint8_t *data, size_t len)
{
	struct aes_block block = { 0 };

	memcpy(&block, data, len < AES_BLOCK ? len : AES_BLOCK);
	return block;
}

static void hash(struct gcm_message *m, const struct key *key,
		 const uint8_t *data, size_t len)
{
	struct aes_block y = aes_get(m->hash);

	for (size_t at = 0; at < len; at += AES_BLOCK) {
		struct aes_block block = block_of(data + at, len - at);

		ghash(&key->ghash, &y, &block);
	}
	aes_put(m->hash, &y);
}

static void authenticate(struct gcm_message *m, const struct gcm_key *key,
			 const uint8_t *data, size_t len)
{
	hash(m, of(key), data, len);
	m->authenticated = len;
}

static void crypt(struct gcm_message *m, const struct gcm_key *key,
		  bool encrypt, const uint8_t *in, uint8_t *out, size_t len)
{
	if (!encrypt)
		hash(m, of(key), in, len);
	for (size_t at = 0; at < len; at += AES_BLOCK) {
		size_t n = len - at < AES_BLOCK ? len - at : AES_BLOCK;
		struct aes_block text = block_of(in + at, n), stream;

		for (int i = 15; i >= 12 && ++m->counter[i] == 0; i--)
			;
		stream = aes_get(m->counter);
		aes_encrypt(&of(key)->aes, &stream);
		aes_xor(&text, &stream);
		memcpy(out + at, &text, n);
	}
	if (encrypt)
		hash(m, of(key), out, len);
	m->crypted += len;
}

static void tag(struct gcm_message *m, const struct gcm_key *key,
		uint8_t out[GCM_TAG_BYTES])
{
	uint8_t lengths[AES_BLOCK];
	struct aes_block mask, y;

	store_be64(lengths, m->authenticated * 8);
	store_be64(lengths + 8, m->crypted * 8);
	hash(m, of(key), lengths, sizeof(lengths));
	memset(m->counter + 12, 0, 3);
	m->counter[15] = 1;
	mask = aes_get(m->counter);
	aes_encrypt(&of(key)->aes, &mask);
	y = aes_get(m->hash);
	aes_xor(&y, &mask);
	aes_put(out, &y);
}

static void copy(uint8_t *out, const uint8_t *in, size_t len)
{
	memcpy(out, in, len);
}

const struct gcm_class gcm_c = {
	.set_key = set_key,
	.begin = begin,
	.authenticate = authenticate,
	.crypt = crypt,
	.copy = copy,
	.tag = tag,
};
