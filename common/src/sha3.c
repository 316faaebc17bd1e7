/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-3, FIPS 202. */
#include <teemark/digest.h>

#include "bytes.h"

struct sha3 {
	uint64_t a[25]; /* lane x + 5 y; the lowest byte is the first */
	size_t at;      /* bytes of the current block absorbed, < rate */
};

_Static_assert(sizeof(struct sha3) <= sizeof(union digest_ctx), "union digest_ctx is too small");

/* clang-format off */
/* The round constants of iota (3.2.5). */
static const uint64_t sha3_rc[24] = {
	0x0000000000000001, 0x0000000000008082, 0x800000000000808a,
	0x8000000080008000, 0x000000000000808b, 0x0000000080000001,
	0x8000000080008081, 0x8000000000008009, 0x000000000000008a,
	0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
	0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
	0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
	0x000000000000800a, 0x800000008000000a, 0x8000000080008081,
	0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};
/* clang-format on */

/* theta, rho and pi of one lane: XOR with the column parities, then rotate. */
#define LANE(i, column, n) rol64(from[i] ^ (column), n)

/* chi of a row of five lanes. */
#define ROW(y, lane0, lane1, lane2, lane3, lane4)                                    \
	do {                                                                         \
		uint64_t b0 = lane0, b1 = lane1, b2 = lane2, b3 = lane3, b4 = lane4; \
                                                                                     \
		to[5 * (y) + 0] = b0 ^ (~b1 & b2);                                   \
		to[5 * (y) + 1] = b1 ^ (~b2 & b3);                                   \
		to[5 * (y) + 2] = b2 ^ (~b3 & b4);                                   \
		to[5 * (y) + 3] = b3 ^ (~b4 & b0);                                   \
		to[5 * (y) + 4] = b4 ^ (~b0 & b1);                                   \
	} while (0)

#define COLUMN(x) (from[x] ^ from[(x) + 5] ^ from[(x) + 10] ^ from[(x) + 15] ^ from[(x) + 20])

static inline __attribute__((always_inline)) void keccak_round(uint64_t *to, const uint64_t *from,
							       uint64_t rc)
{
	uint64_t c0 = COLUMN(0), c1 = COLUMN(1), c2 = COLUMN(2);
	uint64_t c3 = COLUMN(3), c4 = COLUMN(4);
	uint64_t d0 = c4 ^ rol64(c1, 1), d1 = c0 ^ rol64(c2, 1);
	uint64_t d2 = c1 ^ rol64(c3, 1), d3 = c2 ^ rol64(c4, 1);
	uint64_t d4 = c3 ^ rol64(c0, 1);

	ROW(0, from[0] ^ d0, LANE(6, d1, 44), LANE(12, d2, 43), LANE(18, d3, 21), LANE(24, d4, 14));
	to[0] ^= rc;
	ROW(1, LANE(3, d3, 28), LANE(9, d4, 20), LANE(10, d0, 3), LANE(16, d1, 45),
	    LANE(22, d2, 61));
	ROW(2, LANE(1, d1, 1), LANE(7, d2, 6), LANE(13, d3, 25), LANE(19, d4, 8), LANE(20, d0, 18));
	ROW(3, LANE(4, d4, 27), LANE(5, d0, 36), LANE(11, d1, 10), LANE(17, d2, 15),
	    LANE(23, d3, 56));
	ROW(4, LANE(2, d2, 62), LANE(8, d3, 55), LANE(14, d4, 39), LANE(15, d0, 41),
	    LANE(21, d1, 2));
}

static void keccak_f(uint64_t *a)
{
	uint64_t b[25];

	for (size_t i = 0; i < 24; i += 2) {
		keccak_round(b, a, sha3_rc[i]);
		keccak_round(a, b, sha3_rc[i + 1]);
	}
}

static void absorb_bytes(struct sha3 *s, const uint8_t *p, size_t len)
{
	for (; len; len--, p++, s->at++)
		s->a[s->at / 8] ^= (uint64_t)*p << 8 * (s->at % 8);
}

static void update(union digest_ctx *ctx, const void *data, size_t len, size_t rate)
{
	struct sha3 *s = (struct sha3 *)(void *)ctx;
	const uint8_t *p = data;

	/* With len 0, data may be NULL, and C forbids even NULL + 0. */
	if (!len)
		return;
	if (s->at) {
		size_t take = rate - s->at < len ? rate - s->at : len;

		absorb_bytes(s, p, take);
		p += take;
		len -= take;
		if (s->at < rate)
			return;
		keccak_f(s->a);
		s->at = 0;
	}

	for (; len >= rate; len -= rate, p += rate) {
		if (bytes_aligned(p)) {
			for (size_t i = 0; i < rate / 8; i++)
				s->a[i] ^= load_le64(p + 8 * i);
		} else {
			absorb_bytes(s, p, rate);
			s->at = 0;
		}
		keccak_f(s->a);
	}

	absorb_bytes(s, p, len);
}

static void final(union digest_ctx *ctx, uint8_t *out, size_t out_bytes, size_t rate)
{
	struct sha3 *s = (struct sha3 *)(void *)ctx;

	/* The suffix 01 of SHA-3 and the padding 10*1 (6.1 and B.2). */
	s->a[s->at / 8] ^= (uint64_t)0x06 << 8 * (s->at % 8);
	s->a[(rate - 1) / 8] ^= (uint64_t)0x80 << 8 * ((rate - 1) % 8);
	keccak_f(s->a);

	/* One block is enough, as no digest is longer. */
	for (size_t i = 0; i < out_bytes; i++)
		out[i] = (uint8_t)(s->a[i / 8] >> 8 * (i % 8));
	wipe(s, sizeof(*s));
}

static void init(union digest_ctx *ctx)
{
	memset(ctx, 0, sizeof(struct sha3));
}

/* The rate in bits is 1600 minus twice the digest. */
#define SHA3(bits, id)                                                                \
	static void update##bits(union digest_ctx *ctx, const void *data, size_t len) \
	{                                                                             \
		update(ctx, data, len, 200 - (bits) / 4);                             \
	}                                                                             \
	static void final##bits(union digest_ctx *ctx, uint8_t *out)                  \
	{                                                                             \
		final(ctx, out, (bits) / 8, 200 - (bits) / 4);                        \
	}                                                                             \
	const struct digest_class sha3_##bits##_c = {                                 \
		.alg_id = (id),                                                       \
		.init = init,                                                         \
		.update = update##bits,                                               \
		.final = final##bits,                                                 \
	}

SHA3(224, 6);
SHA3(256, 7);
SHA3(384, 8);
SHA3(512, 9);
