/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AES-256-GCM with ARMv8's instructions: AESE and AESMC do a round, PMULL multiplies polynomials of
 * 64 bits. Four blocks are processed at a time, and their products are reduced together. No table,
 * branch or address depends on a secret.
 *
 * GCM's first bit of a byte is the highest. So the bits of each byte are reversed: then bit i of a
 * little-endian number is the coefficient of x^i, and x^128 = x^7 + x^2 + x + 1 (SP 800-38D, 6.3).
 */
#include <teemark/gcm.h>

#include "bytes.h"

#if defined(__aarch64__) && defined(__ARM_NEON) && \
	(defined(__ARM_FEATURE_AES) || defined(__ARM_FEATURE_CRYPTO))
#include "aes.h"
#include "ce.h"

struct key {
	uint8_t rounds[ROUNDS + 1][16];
	uint8_t powers[4][16]; /* H, H^2, H^3, H^4, with the bits of each byte reversed */
};

_Static_assert(sizeof(struct key) <= sizeof(struct gcm_key), "struct gcm_key is too small");

static inline uint8x16_t load(const uint8_t *p)
{
	uint8x16_t v;

	__asm__("ld1	{%0.16b}, [%1]" : "=w"(v) : "r"(p), "m"(*(const uint8_t(*)[16])p));
	return v;
}

static inline void store(uint8_t *p, uint8x16_t v)
{
	__asm__("st1	{%1.16b}, [%2]" : "=m"(*(uint8_t(*)[16])p) : "w"(v), "r"(p));
}

static inline uint8x16_t encrypt_block(const struct key *key, uint8x16_t x)
{
	for (int i = 0; i < ROUNDS - 1; i++)
		x = vaesmcq_u8(vaeseq_u8(x, load(key->rounds[i])));
	x = vaeseq_u8(x, load(key->rounds[ROUNDS - 1]));
	return veorq_u8(x, load(key->rounds[ROUNDS]));
}

/* A product of 256 bits before its reduction. */
struct product {
	uint8x16_t low, middle, high;
};

static inline uint8x16_t multiply_64(uint8x16_t a, uint8x16_t b)
{
	poly64_t x = (poly64_t)vgetq_lane_u64(vreinterpretq_u64_u8(a), 0);
	poly64_t y = (poly64_t)vgetq_lane_u64(vreinterpretq_u64_u8(b), 0);

	return vreinterpretq_u8_p128(vmull_p64(x, y));
}

static inline uint8x16_t multiply_high_64(uint8x16_t a, uint8x16_t b)
{
	return vreinterpretq_u8_p128(
		vmull_high_p64(vreinterpretq_p64_u8(a), vreinterpretq_p64_u8(b)));
}

static inline void add_product(struct product *sum, uint8x16_t a, uint8x16_t h)
{
	uint8x16_t swapped = vextq_u8(a, a, 8);

	sum->low = veorq_u8(sum->low, multiply_64(a, h));
	sum->high = veorq_u8(sum->high, multiply_high_64(a, h));
	sum->middle = veorq_u8(sum->middle, multiply_64(swapped, h));
	sum->middle = veorq_u8(sum->middle, multiply_high_64(swapped, h));
}

static inline uint8x16_t reduce(const struct product *sum)
{
	const uint8x16_t zero = vdupq_n_u8(0);
	const uint8x16_t poly = vreinterpretq_u8_u64(vdupq_n_u64(0x87));
	uint8x16_t low = veorq_u8(sum->low, vextq_u8(zero, sum->middle, 8));
	uint8x16_t high = veorq_u8(sum->high, vextq_u8(sum->middle, zero, 8));
	uint8x16_t folded = multiply_high_64(high, poly);

	low = veorq_u8(low, vextq_u8(zero, folded, 8));
	high = veorq_u8(high, vextq_u8(folded, zero, 8));
	return veorq_u8(low, multiply_64(high, poly));
}

static inline uint8x16_t multiply(uint8x16_t a, uint8x16_t b)
{
	struct product p = { vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0) };

	add_product(&p, a, b);
	return reduce(&p);
}

static const struct key *of(const struct gcm_key *key)
{
	return (const struct key *)(const void *)key->bytes;
}

/* Applies the S-box to a word. AESE's ShiftRows changes nothing: all columns are equal. */
static uint32_t sub_word(uint32_t word)
{
	uint8x16_t x = vreinterpretq_u8_u32(vdupq_n_u32(word));

	x = vaeseq_u8(x, vdupq_n_u8(0));
	return vgetq_lane_u32(vreinterpretq_u32_u8(x), 0);
}

static void set_key(struct gcm_key *key, const uint8_t bytes[GCM_KEY_BYTES])
{
	struct key *k = (struct key *)(void *)key->bytes;
	uint32_t words[AES_WORDS];
	uint8x16_t h, power;

	aes_expand(words, bytes, sub_word);
	memcpy(k->rounds, words, sizeof(words));
	wipe(words, sizeof(words));
	h = power = vrbitq_u8(encrypt_block(k, vdupq_n_u8(0)));
	for (int i = 0; i < 4; i++) {
		store(k->powers[i], power);
		power = multiply(power, h);
	}
}

static uint8x16_t load_part(const uint8_t *data, size_t len)
{
	uint8_t block[16] = { 0 };

	memcpy(block, data, len);
	return load(block);
}

static inline uint8x16_t hash_four(const struct key *key, uint8x16_t y, const uint8x16_t blocks[4])
{
	struct product sum = { vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0) };

	add_product(&sum, veorq_u8(y, vrbitq_u8(blocks[0])), load(key->powers[3]));
	add_product(&sum, vrbitq_u8(blocks[1]), load(key->powers[2]));
	add_product(&sum, vrbitq_u8(blocks[2]), load(key->powers[1]));
	add_product(&sum, vrbitq_u8(blocks[3]), load(key->powers[0]));
	return reduce(&sum);
}

static inline uint8x16_t hash_one(const struct key *key, uint8x16_t y, uint8x16_t block)
{
	return multiply(veorq_u8(y, vrbitq_u8(block)), load(key->powers[0]));
}

static void authenticate(struct gcm_message *m, const struct gcm_key *key, const uint8_t *data,
			 size_t len)
{
	uint8x16_t y = load(m->hash);

	for (size_t at = 0; at < len; at += 16)
		y = hash_one(of(key), y,
			     len - at < 16 ? load_part(data + at, len - at) : load(data + at));
	store(m->hash, y);
	m->authenticated = len;
}

static inline uint8x16_t next_counter(uint32x4_t base, uint32_t count)
{
	return vreinterpretq_u8_u32(vsetq_lane_u32(__builtin_bswap32(count), base, 3));
}

static void crypt(struct gcm_message *m, const struct gcm_key *gcm_key, bool encrypt,
		  const uint8_t *in, uint8_t *out, size_t len)
{
	const struct key *key = of(gcm_key);
	uint32x4_t base = vreinterpretq_u32_u8(load(m->counter));
	uint32_t count = __builtin_bswap32(vgetq_lane_u32(base, 3));
	uint8x16_t y = load(m->hash);
	size_t at = 0;

	for (; len - at >= 64; at += 64) {
		uint8x16_t x[4], text[4];

#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
			x[i] = next_counter(base, ++count);
#pragma GCC unroll 13
		for (int r = 0; r < ROUNDS - 1; r++) {
			uint8x16_t k = load(key->rounds[r]);

#pragma GCC unroll 4
			for (int i = 0; i < 4; i++)
				x[i] = vaesmcq_u8(vaeseq_u8(x[i], k));
		}
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++) {
			text[i] = load(in + at + 16 * i);
			x[i] = vaeseq_u8(x[i], load(key->rounds[ROUNDS - 1]));
			x[i] = veorq_u8(x[i], load(key->rounds[ROUNDS]));
			x[i] = veorq_u8(x[i], text[i]);
			store(out + at + 16 * i, x[i]);
		}
		y = encrypt ? hash_four(key, y, x) : hash_four(key, y, text);
	}
	for (; at < len; at += 16) {
		size_t n = len - at < 16 ? len - at : 16;
		uint8x16_t text = load_part(in + at, n), x;
		uint8_t block[16];

		x = encrypt_block(key, next_counter(base, ++count));
		store(block, veorq_u8(x, text));
		memcpy(out + at, block, n);
		y = hash_one(key, y, encrypt ? load_part(block, n) : text);
		wipe(block, sizeof(block));
	}
	store(m->counter, next_counter(base, count));
	store(m->hash, y);
	m->crypted += len;
}

static void copy(uint8_t *out, const uint8_t *in, size_t len)
{
	for (; len >= 16; len -= 16, in += 16, out += 16)
		store(out, load(in));
	for (; len; len--)
		*out++ = *in++;
}

static void tag(struct gcm_message *m, const struct gcm_key *gcm_key, uint8_t out[GCM_TAG_BYTES])
{
	const struct key *key = of(gcm_key);
	uint8_t lengths[16];
	uint8x16_t y;

	store_be64(lengths, m->authenticated * 8);
	store_be64(lengths + 8, m->crypted * 8);
	y = vrbitq_u8(hash_one(key, load(m->hash), load(lengths)));
	memset(m->counter + 12, 0, 3);
	m->counter[15] = 1;
	store(out, veorq_u8(y, encrypt_block(key, load(m->counter))));
}

static const struct gcm_class class = {
	.set_key = set_key,
	.authenticate = authenticate,
	.crypt = crypt,
	.copy = copy,
	.tag = tag,
};

const struct gcm_class *const gcm_ce = &class;
#else
const struct gcm_class *const gcm_ce = NULL;
#endif
