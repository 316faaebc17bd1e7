/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SHA-1 with the instructions of FEAT_SHA1: SHA1C, SHA1P and SHA1M do four
 * rounds with Ch, Parity and Maj, SHA1H makes the e of the next four, SHA1SU0
 * and SHA1SU1 make four words of the message schedule.
 */
#include "digest_classes.h"

#if DIGEST_HAVE_CE
#include "ce.h"
#include "merkle_damgard.h"

/* Four rounds of kind (c, p or m) with four words m of the schedule. */
#define ROUNDS4(kind, m, k)                                           \
	do {                                                          \
		uint32x4_t mk = vaddq_u32(m, k);                      \
		uint32_t after = vsha1h_u32(vgetq_lane_u32(abcd, 0)); \
                                                                      \
		abcd = vsha1##kind##q_u32(abcd, e, mk);               \
		e = after;                                            \
	} while (0)

/* … and makes m the words of sixteen rounds later from the three after it. */
#define ROUNDS4_EXPAND(kind, m, m1, m2, m3, k)                   \
	do {                                                     \
		ROUNDS4(kind, m, k);                             \
		m = vsha1su1q_u32(vsha1su0q_u32(m, m1, m2), m3); \
	} while (0)

static void sha1_ce_compress(struct md *md, const uint8_t *p, size_t count)
{
	const uint32x4_t k0 = vdupq_n_u32(0x5a827999);
	const uint32x4_t k1 = vdupq_n_u32(0x6ed9eba1);
	const uint32x4_t k2 = vdupq_n_u32(0x8f1bbcdc);
	const uint32x4_t k3 = vdupq_n_u32(0xca62c1d6);
	uint32x4_t abcd = ce_load4(md->h.w32);
	uint32_t e = md->h.w32[4];

	for (; count; count--, p += 64) {
		uint32x4_t abcd0 = abcd;
		uint32_t e0 = e;
		uint32x4_t m0, m1, m2, m3;

		ce_load_block(p, &m0, &m1, &m2, &m3);
		ROUNDS4_EXPAND(c, m0, m1, m2, m3, k0);
		ROUNDS4_EXPAND(c, m1, m2, m3, m0, k0);
		ROUNDS4_EXPAND(c, m2, m3, m0, m1, k0);
		ROUNDS4_EXPAND(c, m3, m0, m1, m2, k0);
		ROUNDS4_EXPAND(c, m0, m1, m2, m3, k0);
		ROUNDS4_EXPAND(p, m1, m2, m3, m0, k1);
		ROUNDS4_EXPAND(p, m2, m3, m0, m1, k1);
		ROUNDS4_EXPAND(p, m3, m0, m1, m2, k1);
		ROUNDS4_EXPAND(p, m0, m1, m2, m3, k1);
		ROUNDS4_EXPAND(p, m1, m2, m3, m0, k1);
		ROUNDS4_EXPAND(m, m2, m3, m0, m1, k2);
		ROUNDS4_EXPAND(m, m3, m0, m1, m2, k2);
		ROUNDS4_EXPAND(m, m0, m1, m2, m3, k2);
		ROUNDS4_EXPAND(m, m1, m2, m3, m0, k2);
		ROUNDS4_EXPAND(m, m2, m3, m0, m1, k2);
		ROUNDS4_EXPAND(p, m3, m0, m1, m2, k3);
		ROUNDS4(p, m0, k3);
		ROUNDS4(p, m1, k3);
		ROUNDS4(p, m2, k3);
		ROUNDS4(p, m3, k3);

		abcd = vaddq_u32(abcd, abcd0);
		e += e0;
	}

	ce_store4(md->h.w32, abcd);
	md->h.w32[4] = e;
}

MD_CLASS(sha1_ce, 1, sha1_init, 20, 64, sha1_ce_compress);
#endif
