/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AES with one table of 1 KiB for each direction (J. Daemen and V. Rijmen, AES proposal, 5.2.1). A
 * round is sixteen look-ups, whose results are rotated into place.
 */
#include "aes.h"

/* These multiply constants in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
#define X2(a) ((uint32_t)(((a) << 1 ^ ((a) >> 7) * 0x11b) & 0xff))
#define X4(a) X2(X2(a))
#define X8(a) X2(X4(a))

/* clang-format off */
/* The S-box as a list (FIPS 197, figure 7). */
#define SBOX(_)                                                          \
	_(0x63) _(0x7c) _(0x77) _(0x7b) _(0xf2) _(0x6b) _(0x6f) _(0xc5)      \
	_(0x30) _(0x01) _(0x67) _(0x2b) _(0xfe) _(0xd7) _(0xab) _(0x76)      \
	_(0xca) _(0x82) _(0xc9) _(0x7d) _(0xfa) _(0x59) _(0x47) _(0xf0)      \
	_(0xad) _(0xd4) _(0xa2) _(0xaf) _(0x9c) _(0xa4) _(0x72) _(0xc0)      \
	_(0xb7) _(0xfd) _(0x93) _(0x26) _(0x36) _(0x3f) _(0xf7) _(0xcc)      \
	_(0x34) _(0xa5) _(0xe5) _(0xf1) _(0x71) _(0xd8) _(0x31) _(0x15)      \
	_(0x04) _(0xc7) _(0x23) _(0xc3) _(0x18) _(0x96) _(0x05) _(0x9a)      \
	_(0x07) _(0x12) _(0x80) _(0xe2) _(0xeb) _(0x27) _(0xb2) _(0x75)      \
	_(0x09) _(0x83) _(0x2c) _(0x1a) _(0x1b) _(0x6e) _(0x5a) _(0xa0)      \
	_(0x52) _(0x3b) _(0xd6) _(0xb3) _(0x29) _(0xe3) _(0x2f) _(0x84)      \
	_(0x53) _(0xd1) _(0x00) _(0xed) _(0x20) _(0xfc) _(0xb1) _(0x5b)      \
	_(0x6a) _(0xcb) _(0xbe) _(0x39) _(0x4a) _(0x4c) _(0x58) _(0xcf)      \
	_(0xd0) _(0xef) _(0xaa) _(0xfb) _(0x43) _(0x4d) _(0x33) _(0x85)      \
	_(0x45) _(0xf9) _(0x02) _(0x7f) _(0x50) _(0x3c) _(0x9f) _(0xa8)      \
	_(0x51) _(0xa3) _(0x40) _(0x8f) _(0x92) _(0x9d) _(0x38) _(0xf5)      \
	_(0xbc) _(0xb6) _(0xda) _(0x21) _(0x10) _(0xff) _(0xf3) _(0xd2)      \
	_(0xcd) _(0x0c) _(0x13) _(0xec) _(0x5f) _(0x97) _(0x44) _(0x17)      \
	_(0xc4) _(0xa7) _(0x7e) _(0x3d) _(0x64) _(0x5d) _(0x19) _(0x73)      \
	_(0x60) _(0x81) _(0x4f) _(0xdc) _(0x22) _(0x2a) _(0x90) _(0x88)      \
	_(0x46) _(0xee) _(0xb8) _(0x14) _(0xde) _(0x5e) _(0x0b) _(0xdb)      \
	_(0xe0) _(0x32) _(0x3a) _(0x0a) _(0x49) _(0x06) _(0x24) _(0x5c)      \
	_(0xc2) _(0xd3) _(0xac) _(0x62) _(0x91) _(0x95) _(0xe4) _(0x79)      \
	_(0xe7) _(0xc8) _(0x37) _(0x6d) _(0x8d) _(0xd5) _(0x4e) _(0xa9)      \
	_(0x6c) _(0x56) _(0xf4) _(0xea) _(0x65) _(0x7a) _(0xae) _(0x08)      \
	_(0xba) _(0x78) _(0x25) _(0x2e) _(0x1c) _(0xa6) _(0xb4) _(0xc6)      \
	_(0xe8) _(0xdd) _(0x74) _(0x1f) _(0x4b) _(0xbd) _(0x8b) _(0x8a)      \
	_(0x70) _(0x3e) _(0xb5) _(0x66) _(0x48) _(0x03) _(0xf6) _(0x0e)      \
	_(0x61) _(0x35) _(0x57) _(0xb9) _(0x86) _(0xc1) _(0x1d) _(0x9e)      \
	_(0xe1) _(0xf8) _(0x98) _(0x11) _(0x69) _(0xd9) _(0x8e) _(0x94)      \
	_(0x9b) _(0x1e) _(0x87) _(0xe9) _(0xce) _(0x55) _(0x28) _(0xdf)      \
	_(0x8c) _(0xa1) _(0x89) _(0x0d) _(0xbf) _(0xe6) _(0x42) _(0x68)      \
	_(0x41) _(0x99) _(0x2d) _(0x0f) _(0xb0) _(0x54) _(0xbb) _(0x16)
/* clang-format on */

#define PLAIN(s) (s),
/* A column of MixColumns, or of its inverse, times an S-box value s. */
#define MIX(s) X2(s) << 24 | (s) << 16 | (s) << 8 | (X2(s) ^ (s)),
#define INV_MIX(s)                                                                         \
	(X8(s) ^ X4(s) ^ X2(s)) << 24 | (X8(s) ^ (s)) << 16 | (X8(s) ^ X4(s) ^ (s)) << 8 | \
		(X8(s) ^ X2(s) ^ (s)),

/* The inverse S-box has i at index S(i): the compiler counts i along the list. */
#define INV_PLAIN(s)  [s] = __COUNTER__ - INV_SBOX_BEGIN,
#define INV_MIX_AT(s) [s] = INV_MIX(__COUNTER__ - INV_MIX_BEGIN)

static const uint8_t sbox[256] = { SBOX(PLAIN) };
static const uint32_t mix[256] = { SBOX(MIX) };
enum { INV_SBOX_BEGIN = __COUNTER__ + 1 };
static const uint8_t inv_sbox[256] = { SBOX(INV_PLAIN) };
enum { INV_MIX_BEGIN = __COUNTER__ + 1 };
static const uint32_t inv_mix[256] = { SBOX(INV_MIX_AT) };

/* Computes one output column; ShiftRows takes its bytes from the input columns a, b, c and d. */
#define ROUND(table, a, b, c, d)                                    \
	((table)[(a) >> 24] ^ ror32((table)[(b) >> 16 & 0xff], 8) ^ \
	 ror32((table)[(c) >> 8 & 0xff], 16) ^ ror32((table)[0xff & (d)], 24))

#define LAST_ROUND(box, a, b, c, d)                                                   \
	((uint32_t)(box)[(a) >> 24] << 24 | (uint32_t)(box)[(b) >> 16 & 0xff] << 16 | \
	 (uint32_t)(box)[(c) >> 8 & 0xff] << 8 | (box)[0xff & (d)])

static uint32_t sub_word(uint32_t x)
{
	return LAST_ROUND(sbox, x, x, x, x);
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

/* Returns InvMixColumns of a column. The table includes the inverse S-box, which sbox[] cancels. */
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

/* Encrypts or decrypts a block; ShiftRows' next byte is `step` columns on (3: one back). */
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
