/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AES with one table of 1 KiB a direction (J. Daemen and V. Rijmen, AES
 * proposal, 5.2.1): a round takes sixteen look-ups, rotated to their place.
 */
#include "aes.h"
#include "aes_sbox.h"

/* Multiplies constants in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
#define X2(a) ((uint32_t)(((a) << 1 ^ ((a) >> 7) * 0x11b) & 0xff))
#define X4(a) X2(X2(a))
#define X8(a) X2(X4(a))

#define PLAIN(s) (s),
/* Columns of MixColumns and of its inverse, times what the S-box gives. */
#define MIX(s) X2(s) << 24 | (s) << 16 | (s) << 8 | (X2(s) ^ (s)),
#define INV_MIX(s)                                                                         \
	(X8(s) ^ X4(s) ^ X2(s)) << 24 | (X8(s) ^ (s)) << 16 | (X8(s) ^ X4(s) ^ (s)) << 8 | \
		(X8(s) ^ X2(s) ^ (s)),

static const uint8_t sbox[256] = { AES_SBOX(PLAIN) };
static const uint8_t inv_sbox[256] = { AES_INV_SBOX(PLAIN) };
static const uint32_t mix[256] = { AES_SBOX(MIX) };
static const uint32_t inv_mix[256] = { AES_INV_SBOX(INV_MIX) };

static uint32_t sub_word(uint32_t x)
{
	return (uint32_t)sbox[x >> 24] << 24 | (uint32_t)sbox[x >> 16 & 0xff] << 16 |
	       (uint32_t)sbox[x >> 8 & 0xff] << 8 | sbox[x & 0xff];
}

void aes_set_encrypt_key(struct aes_key *key, const uint8_t *bytes, size_t key_len)
{
	size_t n = key_len / 4;
	size_t total = 4 * (n + 7);
	uint32_t *w = key->words;
	uint32_t rcon = 1;

	key->rounds = n + 6;
	for (size_t i = 0; i < n; i++)
		w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
		       (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
	for (size_t i = n; i < total; i++) {
		uint32_t x = w[i - 1];

		if (i % n == 0) {
			x = sub_word(rol32(x, 8)) ^ rcon << 24;
			rcon = X2(rcon);
		} else if (n > 6 && i % n == 4) {
			x = sub_word(x);
		}
		w[i] = w[i - n] ^ x;
	}
}

/* Returns InvMixColumns of a column. The table has the inverse S-box in it, which sbox[] undoes. */
static uint32_t inv_mix_column(uint32_t x)
{
	return inv_mix[sbox[x >> 24]] ^ ror32(inv_mix[sbox[x >> 16 & 0xff]], 8) ^
	       ror32(inv_mix[sbox[x >> 8 & 0xff]], 16) ^ ror32(inv_mix[sbox[x & 0xff]], 24);
}

/* Prepares the key for the equivalent inverse cipher (FIPS 197, 5.3.5). */
void aes_set_decrypt_key(struct aes_key *key, const uint8_t *bytes, size_t key_len)
{
	struct aes_key forward;

	aes_set_encrypt_key(&forward, bytes, key_len);
	key->rounds = forward.rounds;
	for (unsigned int round = 0; round <= key->rounds; round++) {
		const uint32_t *from = &forward.words[4 * (key->rounds - round)];
		uint32_t *to = &key->words[4 * round];
		bool outer = round == 0 || round == key->rounds;

		for (size_t i = 0; i < 4; i++)
			to[i] = outer ? from[i] : inv_mix_column(from[i]);
	}
	wipe(&forward, sizeof(forward));
}

/* Words a column each; a, b, c, d: where ShiftRows takes the bytes from. */
#define ROUND(table, a, b, c, d)                                    \
	((table)[(a) >> 24] ^ ror32((table)[(b) >> 16 & 0xff], 8) ^ \
	 ror32((table)[(c) >> 8 & 0xff], 16) ^ ror32((table)[0xff & (d)], 24))

#define LAST_ROUND(box, a, b, c, d)                                                   \
	((uint32_t)(box)[(a) >> 24] << 24 | (uint32_t)(box)[(b) >> 16 & 0xff] << 16 | \
	 (uint32_t)(box)[(c) >> 8 & 0xff] << 8 | (box)[0xff & (d)])

static void load(uint32_t *s, const struct aes_block *block, const uint32_t *key)
{
	memcpy(s, block, AES_BLOCK);
	for (size_t i = 0; i < 4; i++)
		s[i] = BYTES_BE32(s[i]) ^ key[i];
}

static void store(struct aes_block *block, uint32_t *s, const uint32_t *key)
{
	for (size_t i = 0; i < 4; i++)
		s[i] = BYTES_BE32(s[i] ^ key[i]);
	memcpy(block, s, AES_BLOCK);
}

/* Does a round; `step` says from which column ShiftRows takes the next byte: 3 is back by one. */
static inline __attribute__((always_inline)) void crypt(const struct aes_key *key,
							struct aes_block *block,
							const uint32_t *table, const uint8_t *box,
							size_t step)
{
	const uint32_t *k = key->words;
	uint32_t s[4], t[4];

	load(s, block, k);
	for (unsigned int round = 1; round < key->rounds; round++) {
		k += 4;
#pragma GCC unroll 4
		for (size_t i = 0; i < 4; i++)
			t[i] = ROUND(table, s[i], s[(i + step) % 4], s[(i + 2) % 4],
				     s[(i + 3 * step) % 4]) ^
			       k[i];
		memcpy(s, t, sizeof(s));
	}
#pragma GCC unroll 4
	for (size_t i = 0; i < 4; i++)
		t[i] = LAST_ROUND(box, s[i], s[(i + step) % 4], s[(i + 2) % 4],
				  s[(i + 3 * step) % 4]);
	store(block, t, k + 4);
}

void aes_encrypt(const struct aes_key *key, struct aes_block *block)
{
	crypt(key, block, mix, sbox, 1);
}

void aes_decrypt(const struct aes_key *key, struct aes_block *block)
{
	crypt(key, block, inv_mix, inv_sbox, 3);
}
