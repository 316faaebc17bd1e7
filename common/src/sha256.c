/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-224 and SHA-256, FIPS 180-4, 6.2 and 6.3. */
#include "bytes.h"
#include "merkle_damgard.h"

/* clang-format off */
const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* clang-format on */

#define CH(x, y, z)   ((z) ^ ((x) & ((y) ^ (z))))
#define BIG_SIGMA0(x) (ror32(x, 2) ^ ror32(x, 13) ^ ror32(x, 22))
#define BIG_SIGMA1(x) (ror32(x, 6) ^ ror32(x, 11) ^ ror32(x, 25))
#define SIGMA0(x)     (ror32(x, 7) ^ ror32(x, 18) ^ (x) >> 3)
#define SIGMA1(x)     (ror32(x, 17) ^ ror32(x, 19) ^ (x) >> 10)

#define LOAD(i) (w[i] = load_be32(p + 4 * (i)))
#define EXPAND(i)                                                \
	(w[i] += SIGMA0(w[((i) + 1) % 16]) + w[((i) + 9) % 16] + \
		 SIGMA1(w[((i) + 14) % 16]))

/*
 * Maj(a, b, c) is b ^ ((a ^ b) & (b ^ c)), and the a ^ b of one round is the
 * b ^ c of the next: ab and bc change places from round to round.
 */
#define ROUND(a, b, c, d, e, f, g, h, ab, bc, W, i)             \
	do {                                                    \
		h += BIG_SIGMA1(e) + CH(e, f, g) + k[i] + W(i); \
		d += h;                                         \
		ab = a ^ b;                                     \
		h += BIG_SIGMA0(a) + (b ^ (ab & bc));           \
	} while (0)

#define ROUNDS8(W, i)                                            \
	do {                                                     \
		ROUND(a, b, c, d, e, f, g, h, x, y, W, (i) + 0); \
		ROUND(h, a, b, c, d, e, f, g, y, x, W, (i) + 1); \
		ROUND(g, h, a, b, c, d, e, f, x, y, W, (i) + 2); \
		ROUND(f, g, h, a, b, c, d, e, y, x, W, (i) + 3); \
		ROUND(e, f, g, h, a, b, c, d, x, y, W, (i) + 4); \
		ROUND(d, e, f, g, h, a, b, c, y, x, W, (i) + 5); \
		ROUND(c, d, e, f, g, h, a, b, x, y, W, (i) + 6); \
		ROUND(b, c, d, e, f, g, h, a, y, x, W, (i) + 7); \
	} while (0)

static void sha256_compress(struct md *md, const uint8_t *p, size_t count)
{
	uint32_t *s = md->h.w32;

	for (; count; count--, p += 64) {
		uint32_t a = s[0], b = s[1], c = s[2], d = s[3];
		uint32_t e = s[4], f = s[5], g = s[6], h = s[7];
		const uint32_t *k = sha256_k;
		uint32_t x, y = b ^ c;
		uint32_t w[16];

		ROUNDS8(LOAD, 0);
		ROUNDS8(LOAD, 8);
		do {
			k += 16;
			ROUNDS8(EXPAND, 0);
			ROUNDS8(EXPAND, 8);
		} while (k != sha256_k + 48);

		s[0] += a;
		s[1] += b;
		s[2] += c;
		s[3] += d;
		s[4] += e;
		s[5] += f;
		s[6] += g;
		s[7] += h;
	}
}

void sha224_init(union digest_ctx *ctx)
{
	static const uint32_t initial[8] = {
		0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939,
		0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4,
	};
	struct md *md = md_of(ctx);

	memcpy(md->h.w32, initial, sizeof(initial));
	md->bytes = 0;
}

void sha256_init(union digest_ctx *ctx)
{
	static const uint32_t initial[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	struct md *md = md_of(ctx);

	memcpy(md->h.w32, initial, sizeof(initial));
	md->bytes = 0;
}

static void update(union digest_ctx *ctx, const void *data, size_t len)
{
	md_update(md_of(ctx), data, len, 64, sha256_compress);
}

static void final224(union digest_ctx *ctx, uint8_t *out)
{
	md_final(md_of(ctx), out, 28, 64, sha256_compress);
}

static void final256(union digest_ctx *ctx, uint8_t *out)
{
	md_final(md_of(ctx), out, 32, 64, sha256_compress);
}

const struct digest_class sha224_c = {
	.alg_id = 2,
	.init = sha224_init,
	.update = update,
	.final = final224,
};

const struct digest_class sha256_c = {
	.alg_id = 3,
	.init = sha256_init,
	.update = update,
	.final = final256,
};
