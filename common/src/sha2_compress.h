/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compression of SHA-2, with words of 32 or 64 bits: FIPS 180-4, 6.2.2 and 6.4.2. The files of
 * both word sizes include this once, after bytes.h and merkle_damgard.h, and define COMPRESS (its
 * name), WORD, STATE (member of struct md), LOAD_WORD, ROUND_CONSTANTS, ROUNDS, and the four
 * sigmas.
 */
#define CH(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))

#define LOAD(i) (w[i] = LOAD_WORD(p + sizeof(WORD) * (i)))
#define EXPAND(i) \
	(w[i] += SIGMA0(w[((i) + 1) % 16]) + w[((i) + 9) % 16] + SIGMA1(w[((i) + 14) % 16]))

/*
 * Maj(a, b, c) is b ^ ((a ^ b) & (b ^ c)). The a ^ b of one round is the b ^ c of the next, so ab
 * and bc swap in each round.
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

static void COMPRESS(struct md *md, const uint8_t *p, size_t count)
{
	WORD *s = md->h.STATE;

	for (; count; count--, p += 16 * sizeof(WORD)) {
		WORD a = s[0], b = s[1], c = s[2], d = s[3];
		WORD e = s[4], f = s[5], g = s[6], h = s[7];
		const WORD *k = ROUND_CONSTANTS;
		WORD x, y = b ^ c;
		WORD w[16];

		ROUNDS8(LOAD, 0);
		ROUNDS8(LOAD, 8);
		do {
			k += 16;
			ROUNDS8(EXPAND, 0);
			ROUNDS8(EXPAND, 8);
		} while (k != ROUND_CONSTANTS + ROUNDS - 16);

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
