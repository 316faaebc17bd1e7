/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-1, FIPS 180-4, 6.1. */
#include "bytes.h"
#include "merkle_damgard.h"

#define CH(x, y, z)     ((z) ^ ((x) & ((y) ^ (z))))
#define PARITY(x, y, z) ((x) ^ (y) ^ (z))
/* A sum instead of OR, as the terms share no bit: the compiler may reorder it with other sums. */
#define MAJ(x, y, z) (((x) & (y)) + ((z) & ((x) ^ (y))))

/* Word i of the schedule. The first sixteen are the block; each later word replaces the oldest. */
#define WORD(i)                                                                  \
	(w[(i) % 16] = (i) < 16 ? load_be32(p + 4 * (i)) :                       \
				  rol32(w[((i) + 13) % 16] ^ w[((i) + 8) % 16] ^ \
						w[((i) + 2) % 16] ^ w[(i) % 16], \
					1))

#define ROUND(a, b, c, d, e, f, k, word)                      \
	do {                                                  \
		e += rol32(a, 5) + f(b, c, d) + (k) + (word); \
		b = rol32(b, 30);                             \
	} while (0)

/* Five rounds, after which each variable is back in its place. */
#define ROUNDS5(f, k, i)                                   \
	do {                                               \
		ROUND(a, b, c, d, e, f, k, WORD((i) + 0)); \
		ROUND(e, a, b, c, d, f, k, WORD((i) + 1)); \
		ROUND(d, e, a, b, c, f, k, WORD((i) + 2)); \
		ROUND(c, d, e, a, b, f, k, WORD((i) + 3)); \
		ROUND(b, c, d, e, a, f, k, WORD((i) + 4)); \
	} while (0)

#define ROUNDS20(f, k, i)                \
	do {                             \
		ROUNDS5(f, k, (i) + 0);  \
		ROUNDS5(f, k, (i) + 5);  \
		ROUNDS5(f, k, (i) + 10); \
		ROUNDS5(f, k, (i) + 15); \
	} while (0)

static void sha1_compress(struct md *md, const uint8_t *p, size_t count)
{
	uint32_t *h = md->h.w32;

	for (; count; count--, p += 64) {
		uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
		uint32_t w[16];

		ROUNDS20(CH, 0x5a827999, 0);
		ROUNDS20(PARITY, 0x6ed9eba1, 20);
		ROUNDS20(MAJ, 0x8f1bbcdc, 40);
		ROUNDS20(PARITY, 0xca62c1d6, 60);

		h[0] += a;
		h[1] += b;
		h[2] += c;
		h[3] += d;
		h[4] += e;
	}
}

const uint32_t sha1_initial[8] = {
	0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0,
};

MD_CLASS(sha1_c, 1, sha1_initial, 20, 64, sha1_compress);
