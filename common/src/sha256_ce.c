/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SHA-224 and SHA-256 with the instructions of FEAT_SHA256: SHA256H and
 * SHA256H2 do four rounds, SHA256SU0 and SHA256SU1 make four words of the
 * message schedule. The sixteen vectors of round constants are loaded once and stay in
 * registers: the compiler takes them out of the loop.
 */
#include "digest_classes.h"

#if DIGEST_HAVE_CE
#include "ce.h"
#include "merkle_damgard.h"

/* Four rounds, from 4 * i on, with four words m of the schedule. */
#define ROUNDS4(m, i)                                        \
	do {                                                 \
		uint32x4_t k = ce_load4(sha256_k + 4 * (i)); \
		uint32x4_t mk = vaddq_u32(m, k);             \
		uint32x4_t before = abcd;                    \
                                                             \
		abcd = vsha256hq_u32(abcd, efgh, mk);        \
		efgh = vsha256h2q_u32(efgh, before, mk);     \
	} while (0)

/* … and makes m the words of sixteen rounds later from the three after it. */
#define ROUNDS4_EXPAND(m, m1, m2, m3, i)                             \
	do {                                                         \
		ROUNDS4(m, i);                                       \
		m = vsha256su1q_u32(vsha256su0q_u32(m, m1), m2, m3); \
	} while (0)

static void sha256_ce_compress(struct md *md, const uint8_t *p, size_t count)
{
	uint32x4_t abcd = ce_load4(md->h.w32);
	uint32x4_t efgh = ce_load4(md->h.w32 + 4);
	for (; count; count--, p += 64) {
		uint32x4_t abcd0 = abcd;
		uint32x4_t efgh0 = efgh;
		uint32x4_t m0, m1, m2, m3;

		ce_load_block(p, &m0, &m1, &m2, &m3);
		ROUNDS4_EXPAND(m0, m1, m2, m3, 0);
		ROUNDS4_EXPAND(m1, m2, m3, m0, 1);
		ROUNDS4_EXPAND(m2, m3, m0, m1, 2);
		ROUNDS4_EXPAND(m3, m0, m1, m2, 3);
		ROUNDS4_EXPAND(m0, m1, m2, m3, 4);
		ROUNDS4_EXPAND(m1, m2, m3, m0, 5);
		ROUNDS4_EXPAND(m2, m3, m0, m1, 6);
		ROUNDS4_EXPAND(m3, m0, m1, m2, 7);
		ROUNDS4_EXPAND(m0, m1, m2, m3, 8);
		ROUNDS4_EXPAND(m1, m2, m3, m0, 9);
		ROUNDS4_EXPAND(m2, m3, m0, m1, 10);
		ROUNDS4_EXPAND(m3, m0, m1, m2, 11);
		ROUNDS4(m0, 12);
		ROUNDS4(m1, 13);
		ROUNDS4(m2, 14);
		ROUNDS4(m3, 15);

		abcd = vaddq_u32(abcd, abcd0);
		efgh = vaddq_u32(efgh, efgh0);
	}

	ce_store4(md->h.w32, abcd);
	ce_store4(md->h.w32 + 4, efgh);
}

MD_CLASS(sha224_ce, 2, sha224_init, 28, 64, sha256_ce_compress);
MD_CLASS(sha256_ce, 3, sha256_init, 32, 64, sha256_ce_compress);
#endif
