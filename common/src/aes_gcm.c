/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GCM (SP 800-38D) with nonces of 96 bits in portable C. GHASH uses tables of four bits (V. Shoup;
 * D. McGrew and J. Viega, GCM, 4.1).
 */
#include <teemark/gcm.h>

#include "aes.h"

/* The reduction of the four bits i shifted out at the low end: XORed into the high end. */
#define BACK(i)                                                                              \
	((uint64_t)((1 & (i)) * 0x1c20 ^ ((i) >> 1 & 1) * 0x3840 ^ ((i) >> 2 & 1) * 0x7080 ^ \
		    ((i) >> 3 & 1) * 0xe100)                                                 \
	 << 48)

static const uint64_t back[16] = {
	BACK(0), BACK(1), BACK(2),  BACK(3),  BACK(4),  BACK(5),  BACK(6),  BACK(7),
	BACK(8), BACK(9), BACK(10), BACK(11), BACK(12), BACK(13), BACK(14), BACK(15),
};

/* The 16 multiples of an element of GF(2^128) by four bits (SP 800-38D, 6.4). */
struct ghash_key {
	uint64_t high[16], low[16];
};

struct key {
	struct aes_key aes;
	struct ghash_key ghash;
};

_Static_assert(sizeof(struct key) <= sizeof(struct gcm_key), "struct gcm_key is too small");

static const struct key *of(const struct gcm_key *key)
{
	return (const struct key *)(const void *)key->bytes;
}

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

/* Sets y to (y xor block) * H. */
static void ghash(const struct ghash_key *key, struct aes_block *y, const struct aes_block *block)
{
	const uint8_t *bytes = (const uint8_t *)y;
	uint64_t high = 0, low = 0;

	aes_xor(y, block);
	for (int i = 2 * AES_BLOCK - 1; i >= 0; i--) {
		/* From the end: a byte's low half before its high half. */
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

void gcm_c_set_key(struct gcm_key *key, const uint8_t *bytes, size_t len)
{
	struct key *k = (struct key *)(void *)key->bytes;
	struct aes_block h = { 0 };

	aes_set_encrypt_key(&k->aes, bytes, len);
	aes_encrypt(&k->aes, &h);
	ghash_set_key(&k->ghash, &h);
	wipe(&h, sizeof(h));
}

static struct aes_block key_stream(const struct gcm_message *m, const struct aes_key *aes)
{
	struct aes_block stream = aes_get(m->counter);

	aes_encrypt(aes, &stream);
	return stream;
}

/* XORs a block, or part of one, into the GHASH value; a complete block is also multiplied by H. */
static void hash_block(struct gcm_message *m, const struct ghash_key *key,
		       const struct aes_block *block, bool complete)
{
	struct aes_block y = aes_get(m->hash);

	if (complete)
		ghash(key, &y, block);
	else
		aes_xor(&y, block);
	aes_put(m->hash, &y);
}

/* Also takes pieces that end within a block: m->crypted tells where the last piece ended. */
void gcm_c_crypt(struct gcm_message *m, const struct gcm_key *key, bool encrypt, const uint8_t *in,
		 uint8_t *out, size_t len)
{
	while (len) {
		size_t at = m->crypted % AES_BLOCK;
		size_t n = AES_BLOCK - at < len ? AES_BLOCK - at : len;
		struct aes_block text = { 0 }, given = { 0 }, stream;

		for (int i = 15; !at && i >= 12 && ++m->counter[i] == 0; i--)
			;
		stream = key_stream(m, &of(key)->aes);
		memcpy((uint8_t *)&given + at, in, n);
		text = given;
		aes_xor(&text, &stream);
		memcpy(out, (uint8_t *)&text + at, n);
		if (encrypt)
			memcpy((uint8_t *)&given + at, out, n);
		hash_block(m, &of(key)->ghash, &given, at + n == AES_BLOCK);
		m->crypted += n;
		in += n;
		out += n;
		len -= n;
	}
}

void gcm_c_tag(struct gcm_message *m, const struct gcm_key *key, uint8_t out[GCM_TAG_BYTES])
{
	static const struct aes_block nothing;
	const struct aes_block lengths = { { BYTES_BE64(m->authenticated * 8),
					     BYTES_BE64(m->crypted * 8) } };
	const struct ghash_key *ghash_key = &of(key)->ghash;
	struct aes_block y;

	if (m->crypted % AES_BLOCK)
		hash_block(m, ghash_key, &nothing, true);
	hash_block(m, ghash_key, &lengths, true);
	memset(m->counter + 12, 0, 3);
	m->counter[15] = 1;
	y = key_stream(m, &of(key)->aes);
	hash_block(m, ghash_key, &y, false);
	memcpy(out, m->hash, GCM_TAG_BYTES);
}
