/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GCM (SP 800-38D) with nonces of 96 bits in portable C: the mode of aes.h, and
 * the class of gcm.h. GHASH by tables of four bits (V. Shoup; D. McGrew and
 * J. Viega, GCM, 4.1).
 */
#include <teemark/gcm.h>

#include "aes.h"

/* What four bits shifted out at the low end come back as at the high end. */
#define BACK(i)                                                        \
	((uint64_t)((1 & (i)) * 0x1c20 ^ ((i) >> 1 & 1) * 0x3840 ^     \
		    ((i) >> 2 & 1) * 0x7080 ^ ((i) >> 3 & 1) * 0xe100) \
	 << 48)

static const uint64_t back[16] = {
	BACK(0),  BACK(1),  BACK(2),  BACK(3),  BACK(4),  BACK(5),
	BACK(6),  BACK(7),  BACK(8),  BACK(9),  BACK(10), BACK(11),
	BACK(12), BACK(13), BACK(14), BACK(15),
};

static void ghash_set_key(struct ghash_key *key, const struct aes_block *h)
{
	uint64_t high = BYTES_BE64(h->w[0]);
	uint64_t low = BYTES_BE64(h->w[1]);

	key->high[0] = 0;
	key->low[0] = 0;
	for (unsigned int i = 8; i; i /= 2) {
		uint64_t carry = low & 1;

		key->high[i] = high;
		key->low[i] = low;
		low = low >> 1 | high << 63;
		high = high >> 1 ^ carry * (UINT64_C(0xe1) << 56);
	}
	for (unsigned int i = 2; i < 16; i *= 2) {
		for (unsigned int j = 1; j < i; j++) {
			key->high[i + j] = key->high[i] ^ key->high[j];
			key->low[i + j] = key->low[i] ^ key->low[j];
		}
	}
}

/* y = (y xor block) * H */
static void ghash(const struct ghash_key *key, struct aes_block *y,
		  const struct aes_block *block)
{
	const uint8_t *bytes = (const uint8_t *)y;
	uint64_t high = 0, low = 0;

	aes_xor(y, block);
	for (int i = 2 * AES_BLOCK - 1; i >= 0; i--) {
		/* The low half of a byte comes first. */
		unsigned int n = i % 2 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4;
		unsigned int out = low & 15;

		low = low >> 4 | high << 60;
		high = high >> 4 ^ back[out];
		low ^= key->low[n];
		high ^= key->high[n];
	}
	y->w[0] = BYTES_BE64(high);
	y->w[1] = BYTES_BE64(low);
}

static void expand(struct aes_key *aes, struct ghash_key *hash,
		   const uint8_t *key, size_t key_len)
{
	struct aes_block h = { 0 };

	aes_set_encrypt_key(aes, key, key_len);
	aes_encrypt(aes, &h);
	ghash_set_key(hash, &h);
	wipe(&h, sizeof(h));
}

/* -- the mode: messages in pieces of any length, no further data ----------- */

static void gcm_set_key(struct aes_state *state, const uint8_t *key,
			size_t key_len)
{
	expand(&state->key, &state->gcm.key, key, key_len);
}

static void gcm_begin(struct aes_state *state, const uint8_t *iv)
{
	uint8_t counter[AES_BLOCK] = { 0 };

	memcpy(counter, iv, 12);
	counter[15] = 1;
	state->gcm.mask = aes_get(counter);
	aes_encrypt(&state->key, &state->gcm.mask);
	counter[15] = 2;
	state->iv = aes_get(counter);
	state->used = AES_BLOCK;
	state->gcm.y = (struct aes_block){ 0 };
	state->gcm.begun = (struct aes_block){ 0 };
	state->gcm.len = 0;
}

/* Hashes whole blocks; keeps what is left for the next time. */
static void gcm_hash(struct aes_state *state, const uint8_t *data, size_t len)
{
	uint8_t *begun = (uint8_t *)&state->gcm.begun;

	while (len) {
		size_t at = state->gcm.len % AES_BLOCK;
		size_t n = AES_BLOCK - at < len ? AES_BLOCK - at : len;

		memcpy(begun + at, data, n);
		state->gcm.len += n;
		data += n;
		len -= n;
		if (at + n < AES_BLOCK)
			return;
		ghash(&state->gcm.key, &state->gcm.y, &state->gcm.begun);
		state->gcm.begun = (struct aes_block){ 0 };
	}
}

static void gcm_update(struct aes_state *state, const uint8_t *in, uint8_t *out,
		       size_t len)
{
	if (!state->encrypt)
		gcm_hash(state, in, len);
	aes_ctr_update(state, in, out, len, 4);
	if (state->encrypt)
		gcm_hash(state, out, len);
}

static void gcm_tag(struct aes_state *state, uint8_t *tag)
{
	struct aes_block lengths = { { 0, BYTES_BE64(state->gcm.len * 8) } };

	if (state->gcm.len % AES_BLOCK)
		ghash(&state->gcm.key, &state->gcm.y, &state->gcm.begun);
	ghash(&state->gcm.key, &state->gcm.y, &lengths);
	aes_xor(&state->gcm.y, &state->gcm.mask);
	aes_put(tag, &state->gcm.y);
}

const struct aes_mode aes_gcm = {
	.set_key = gcm_set_key,
	.begin = gcm_begin,
	.update = gcm_update,
	.tag = gcm_tag,
};

/* -- the class: one key for many messages, by blocks ------------------------ */

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

	expand(&k->aes, &k->ghash, bytes, GCM_KEY_BYTES);
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
