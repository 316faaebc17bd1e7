/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GCM (SP 800-38D) in portable C whose addresses and branches don't depend on key or text.
 *
 * AES computes 64 bytes at once, in bit slices: bit i of plane b is bit b of byte i. Its S-box is
 * the circuit of J. Boyar and R. Peralta (A small depth-16 circuit for the AES S-box, 2012).
 * GHASH multiplies polynomials by integer multiplications of numbers with holes, which take the
 * carries: an idea of T. Pornin's. A CPU whose multiplication takes longer for larger numbers would
 * tell of the key; no AArch64 CPU is known to.
 */
#include <teemark/gcm.h>

#include "aes.h"

#define LANES UINT64_C(0x0001000100010001) /* bit 0 of each of the four blocks */

struct key {
	uint16_t rounds[ROUNDS + 1][8]; /* bit slices of a block */
	uint64_t h[3], reversed[3]; /* H: low half, high half, their sum; the same bits reversed */
};

_Static_assert(sizeof(struct key) <= sizeof(struct gcm_key), "struct gcm_key is too small");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "planes() wants little-endian words");

static const struct key *of(const struct gcm_key *key)
{
	return (const struct key *)(const void *)key->bytes;
}

/* Exchanges the bits of x under the mask with those that lie `by` higher. */
static uint64_t exchange(uint64_t x, unsigned int by, uint64_t mask)
{
	uint64_t bits = (x ^ x >> by) & mask;

	return x ^ bits ^ bits << by;
}

/* Transposes each word, as a square of 8 by 8 bits. */
static void transpose_bits(uint64_t q[8])
{
	for (int i = 0; i < 8; i++) {
		q[i] = exchange(q[i], 7, UINT64_C(0x00aa00aa00aa00aa));
		q[i] = exchange(q[i], 14, UINT64_C(0x0000cccc0000cccc));
		q[i] = exchange(q[i], 28, UINT64_C(0x00000000f0f0f0f0));
	}
}

/* Transposes the words, as a square of 8 by 8 bytes. */
static void transpose_bytes(uint64_t q[8])
{
	uint8_t bytes[8][8];

	for (int i = 0; i < 8; i++)
		for (int b = 0; b < 8; b++)
			bytes[b][i] = (uint8_t)(q[i] >> 8 * b);
	memcpy(q, bytes, sizeof(bytes));
}

/* Turns 64 bytes into 8 planes. */
static void planes(uint64_t q[8])
{
	transpose_bits(q);
	transpose_bytes(q);
}

static void bytes_of(uint64_t q[8])
{
	transpose_bytes(q);
	transpose_bits(q);
}

static void sub_bytes(uint64_t q[8])
{
	const uint64_t x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1],
		       x7 = q[0];
	/* The linear layer at the top. */
	const uint64_t y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, t0 = x1 ^ x2,
		       y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6,
		       y3 = y5 ^ y8, t1 = x4 ^ y12, y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7,
		       y10 = y15 ^ t0, y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11,
		       y19 = y10 ^ y8, y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;
	/* The inversion in GF(2^8). */
	const uint64_t t2 = y12 & y15, t4 = (y3 & y6) ^ t2, t6 = (y4 & x7) ^ t2, t7 = y13 & y16,
		       t9 = (y5 & y1) ^ t7, t11 = (y2 & y7) ^ t7, t12 = y9 & y11,
		       t14 = (y14 & y17) ^ t12, t16 = (y8 & y10) ^ t12, t21 = t4 ^ t14 ^ y20,
		       t22 = t6 ^ t16 ^ y19, t23 = t9 ^ t14 ^ y21, t24 = t11 ^ t16 ^ y18,
		       t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22,
		       t30 = t23 ^ t24, t33 = ((t22 ^ t26) & t30) ^ t24, t36 = t24 & (t27 ^ t33),
		       t37 = t36 ^ t23 ^ t33, t40 = t25 ^ (t29 & (t27 ^ t36)), t41 = t40 ^ t37,
		       t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37, t45 = t42 ^ t41;
	const uint64_t z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1,
		       z5 = t29 & y7, z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10,
		       z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4, z12 = t43 & y13,
		       z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14,
		       z17 = t41 & y8;
	/* The linear layer at the bottom. */
	const uint64_t t46 = z15 ^ z16, t48 = z5 ^ z13, t53 = z0 ^ z3, t57 = z2 ^ z12 ^ t53,
		       t58 = z4 ^ t46, t59 = z3 ^ z6 ^ z7, t62 = z7 ^ z8 ^ t58,
		       t63 = z9 ^ z10 ^ t58, t64 = z4 ^ t59, t65 = z14 ^ t57 ^ t62, t66 = z1 ^ t63,
		       s3 = t53 ^ t66;

	q[7] = t59 ^ t63;
	q[6] = ~(t64 ^ s3);
	q[5] = ~(z16 ^ z17 ^ t64 ^ t65);
	q[4] = s3;
	q[3] = z2 ^ z5 ^ t66;
	q[2] = z10 ^ z11 ^ t65;
	q[1] = ~(z12 ^ t48 ^ t62);
	q[0] = ~(t48 ^ t46 ^ t57);
}

/* A block is 16 bits of a plane, a column 4 of them: row r moves r columns down. */
static uint64_t shift_rows(uint64_t x)
{
	uint64_t out = x & LANES * 0x1111;

	for (unsigned int row = 1; row < 4; row++) {
		uint64_t bits = x & LANES * (0x1111u << row);

		out |= (bits >> 4 * row & LANES * (0xffffu >> 4 * row)) |
		       (bits << (16 - 4 * row) & LANES * (0xffffu << (16 - 4 * row) & 0xffff));
	}
	return out;
}

static void mix_columns(uint64_t q[8])
{
	uint64_t next[8], sum[8];

	for (int b = 0; b < 8; b++) {
		next[b] = (q[b] >> 1 & LANES * 0x7777) | (q[b] & LANES * 0x1111) << 3;
		sum[b] = q[b] ^ next[b];
	}
	for (int b = 0; b < 8; b++) {
		uint64_t twice = b ? sum[b - 1] : 0;

		if (b == 0 || b == 1 || b == 3 || b == 4)
			twice ^= sum[7];
		q[b] = twice ^ next[b] ^ (sum[b] >> 2 & LANES * 0x3333) ^
		       (sum[b] & LANES * 0x3333) << 2;
	}
}

/* Encrypts four blocks. */
static void encrypt(const struct key *key, uint64_t q[8])
{
	planes(q);
	for (int round = 0; round <= ROUNDS; round++) {
		if (round) {
			sub_bytes(q);
			for (int b = 0; b < 8; b++)
				q[b] = shift_rows(q[b]);
		}
		if (round && round < ROUNDS)
			mix_columns(q);
		for (int b = 0; b < 8; b++)
			q[b] ^= key->rounds[round][b] * LANES;
	}
	bytes_of(q);
}

static uint32_t sub_word(uint32_t word)
{
	uint64_t q[8] = { word };

	planes(q);
	sub_bytes(q);
	bytes_of(q);
	wipe(q + 1, sizeof(q) - sizeof(q[0]));
	return (uint32_t)q[0];
}

static void expand(struct key *key, const uint8_t bytes[GCM_KEY_BYTES])
{
	uint32_t words[AES_WORDS];
	uint64_t q[8] = { 0 };

	aes_expand(words, bytes, sub_word);
	for (size_t round = 0; round <= ROUNDS; round++) {
		memcpy(q, words + 4 * round, 16);
		memset(q + 2, 0, sizeof(q) - 16);
		planes(q);
		for (int b = 0; b < 8; b++)
			key->rounds[round][b] = (uint16_t)q[b];
	}
	wipe(words, sizeof(words));
	wipe(q, sizeof(q));
}

/* The low 64 bits of a product of polynomials over GF(2). */
static uint64_t multiply(uint64_t a, uint64_t b)
{
	const uint64_t mask = UINT64_C(0x1111111111111111);
	uint64_t out = 0;

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t sum = 0;

		for (unsigned int j = 0; j < 4; j++)
			sum ^= (a & mask << j) * (b & mask << (i - j) % 4);
		out |= sum & mask << i;
	}
	return out;
}

static uint64_t reverse(uint64_t x)
{
	x = exchange(x, 1, UINT64_C(0x5555555555555555));
	x = exchange(x, 2, UINT64_C(0x3333333333333333));
	x = exchange(x, 4, UINT64_C(0x0f0f0f0f0f0f0f0f));
	return __builtin_bswap64(x);
}

static uint64_t load(const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return __builtin_bswap64(x);
}

/*
 * Sets y to (y xor block) * H, by Karatsuba's three products of 64 bits; then reduces modulo
 * x^128 + x^7 + x^2 + x + 1. GCM's bits are in the reverse order.
 */
static void ghash(const struct key *key, uint8_t y[16], const uint8_t block[16])
{
	uint64_t a[3] = { load(y + 8) ^ load(block + 8), load(y) ^ load(block) };
	uint64_t low[3], high[3], v0, v1, v2, v3;

	a[2] = a[0] ^ a[1];
	for (int i = 0; i < 3; i++) {
		low[i] = multiply(a[i], key->h[i]);
		high[i] = reverse(multiply(reverse(a[i]), key->reversed[i])) >> 1;
	}
	v0 = low[0];
	v1 = high[0] ^ low[2] ^ low[0] ^ low[1];
	v2 = low[1] ^ high[2] ^ high[0] ^ high[1];
	v3 = high[1];
	v3 = v3 << 1 | v2 >> 63;
	v2 = v2 << 1 | v1 >> 63;
	v1 = v1 << 1 | v0 >> 63;
	v0 <<= 1;
	v2 ^= v0 ^ v0 >> 1 ^ v0 >> 2 ^ v0 >> 7;
	v1 ^= v0 << 63 ^ v0 << 62 ^ v0 << 57;
	v3 ^= v1 ^ v1 >> 1 ^ v1 >> 2 ^ v1 >> 7;
	v2 ^= v1 << 63 ^ v1 << 62 ^ v1 << 57;
	store_be64(y, v3);
	store_be64(y + 8, v2);
}

/* Hashes all of it, the last block filled up with zeros. */
static void hash(struct gcm_message *m, const struct key *key, const uint8_t *data, size_t len)
{
	for (; len >= 16; data += 16, len -= 16)
		ghash(key, m->hash, data);
	if (len) {
		uint8_t block[16] = { 0 };

		memcpy(block, data, len);
		ghash(key, m->hash, block);
	}
}

static void set_key(struct gcm_key *key, const uint8_t bytes[GCM_KEY_BYTES])
{
	struct key *k = (struct key *)(void *)key->bytes;
	uint64_t q[8] = { 0 };

	expand(k, bytes);
	encrypt(k, q);
	k->h[0] = __builtin_bswap64(q[1]);
	k->h[1] = __builtin_bswap64(q[0]);
	k->h[2] = k->h[0] ^ k->h[1];
	for (int i = 0; i < 3; i++)
		k->reversed[i] = reverse(k->h[i]);
	wipe(q, sizeof(q));
}

static void authenticate(struct gcm_message *m, const struct gcm_key *key, const uint8_t *data,
			 size_t len)
{
	hash(m, of(key), data, len);
	m->authenticated = len;
}

static void crypt(struct gcm_message *m, const struct gcm_key *key, bool encrypts,
		  const uint8_t *in, uint8_t *out, size_t len)
{
	uint64_t stream[8], text[8];
	uint32_t counter;

	memcpy(&counter, m->counter + 12, sizeof(counter));
	counter = __builtin_bswap32(counter);
	if (!encrypts)
		hash(m, of(key), in, len);
	m->crypted += len;
	for (size_t at = 0; at < len; at += sizeof(text)) {
		size_t n = len - at < sizeof(text) ? len - at : sizeof(text);

		for (uint32_t i = 0; i < 4; i++) {
			uint32_t number = __builtin_bswap32(counter + 1 + i);

			memcpy((uint8_t *)stream + 16 * i, m->counter, 12);
			memcpy((uint8_t *)stream + 16 * i + 12, &number, sizeof(number));
		}
		counter += (uint32_t)((n + 15) / 16);
		encrypt(of(key), stream);
		memcpy(text, in + at, n);
		for (int i = 0; i < 8; i++)
			text[i] ^= stream[i];
		memcpy(out + at, text, n);
	}
	counter = __builtin_bswap32(counter);
	memcpy(m->counter + 12, &counter, sizeof(counter));
	if (encrypts)
		hash(m, of(key), out, len);
	wipe(stream, sizeof(stream));
	wipe(text, sizeof(text));
}

static void copy(uint8_t *out, const uint8_t *in, size_t len)
{
	memcpy(out, in, len);
}

static void tag(struct gcm_message *m, const struct gcm_key *key, uint8_t out[GCM_TAG_BYTES])
{
	const uint32_t first = __builtin_bswap32(1);
	uint64_t q[8] = { 0 };
	uint8_t lengths[16];

	store_be64(lengths, m->authenticated * 8);
	store_be64(lengths + 8, m->crypted * 8);
	ghash(of(key), m->hash, lengths);
	memcpy(q, m->counter, 12);
	memcpy((uint8_t *)q + 12, &first, sizeof(first));
	encrypt(of(key), q);
	store_be64(out, load(m->hash) ^ __builtin_bswap64(q[0]));
	store_be64(out + 8, load(m->hash + 8) ^ __builtin_bswap64(q[1]));
	wipe(q, sizeof(q));
}

const struct gcm_class gcm_ct = {
	.set_key = set_key,
	.authenticate = authenticate,
	.crypt = crypt,
	.copy = copy,
	.tag = tag,
};
