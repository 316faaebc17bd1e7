/* SPDX-License-Identifier: BSD-2-Clause */
/* The digests with ARMv8 Crypto Extensions; an empty list if the compiler may not use these. */
#include "ce.h"
#include "merkle_damgard.h"

/*
 * True if the compiler may use the SHA-1 and SHA-256 instructions. (Older compilers define
 * __ARM_FEATURE_CRYPTO.)
 */
#if defined(__aarch64__) && defined(__ARM_NEON) && \
	(defined(__ARM_FEATURE_SHA2) || defined(__ARM_FEATURE_CRYPTO))
/* Does four groups of four rounds, from group i; m0 to m3 are the schedule's sixteen words. */
#define ROUNDS16(ROUNDS4, i)                      \
	do {                                      \
		ROUNDS4(m0, m1, m2, m3, (i) + 0); \
		ROUNDS4(m1, m2, m3, m0, (i) + 1); \
		ROUNDS4(m2, m3, m0, m1, (i) + 2); \
		ROUNDS4(m3, m0, m1, m2, (i) + 3); \
	} while (0)

/*
 * SHA-1 with the instructions of FEAT_SHA1: SHA1C, SHA1P and SHA1M do four rounds with Ch, Parity
 * and Maj; SHA1H makes the e of the next four; SHA1SU0 and SHA1SU1 make four words of the message
 * schedule.
 *
 * This does group i of the twenty groups of four rounds, with the four words m of the schedule, and
 * replaces m by the words of sixteen rounds later.
 */
#define SHA1_ROUNDS4(m, m1, m2, m3, i)                                   \
	do {                                                             \
		uint32x4_t mk = vaddq_u32(m, k[(i) / 5]);                \
		uint32_t after = vsha1h_u32(vgetq_lane_u32(abcd, 0));    \
                                                                         \
		abcd = (i) / 5 == 0 ? vsha1cq_u32(abcd, e, mk) :         \
		       (i) / 5 == 2 ? vsha1mq_u32(abcd, e, mk) :         \
				      vsha1pq_u32(abcd, e, mk);          \
		e = after;                                               \
		if ((i) < 16)                                            \
			m = vsha1su1q_u32(vsha1su0q_u32(m, m1, m2), m3); \
	} while (0)

static void sha1_ce_compress(struct md *md, const uint8_t *p, size_t count)
{
	const uint32x4_t k[] = { vdupq_n_u32(0x5a827999), vdupq_n_u32(0x6ed9eba1),
				 vdupq_n_u32(0x8f1bbcdc), vdupq_n_u32(0xca62c1d6) };
	uint32x4_t abcd = ce_load4(md->h.w32);
	uint32_t e = md->h.w32[4];

	for (; count; count--, p += 64) {
		uint32x4_t abcd0 = abcd;
		uint32_t e0 = e;
		uint32x4_t m0, m1, m2, m3;

		ce_load_block(p, &m0, &m1, &m2, &m3);
		ROUNDS16(SHA1_ROUNDS4, 0);
		ROUNDS16(SHA1_ROUNDS4, 4);
		ROUNDS16(SHA1_ROUNDS4, 8);
		ROUNDS16(SHA1_ROUNDS4, 12);
		ROUNDS16(SHA1_ROUNDS4, 16);

		abcd = vaddq_u32(abcd, abcd0);
		e += e0;
	}

	ce_store4(md->h.w32, abcd);
	md->h.w32[4] = e;
}

MD_CLASS(sha1_ce, 1, sha1_initial, 20, 64, sha1_ce_compress);

/*
 * SHA-224 and SHA-256 with the instructions of FEAT_SHA256: SHA256H and SHA256H2 do four rounds;
 * SHA256SU0 and SHA256SU1 make four words of the message schedule. The compiler loads the sixteen
 * vectors of round constants before the loop and keeps them in registers.
 *
 * This does group i of the sixteen groups of four rounds, as for SHA-1.
 */
#define SHA256_ROUNDS4(m, m1, m2, m3, i)                                     \
	do {                                                                 \
		uint32x4_t k = ce_load4(sha256_k + 4 * (i));                 \
		uint32x4_t mk = vaddq_u32(m, k);                             \
		uint32x4_t before = abcd;                                    \
                                                                             \
		abcd = vsha256hq_u32(abcd, efgh, mk);                        \
		efgh = vsha256h2q_u32(efgh, before, mk);                     \
		if ((i) < 12)                                                \
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
		ROUNDS16(SHA256_ROUNDS4, 0);
		ROUNDS16(SHA256_ROUNDS4, 4);
		ROUNDS16(SHA256_ROUNDS4, 8);
		ROUNDS16(SHA256_ROUNDS4, 12);

		abcd = vaddq_u32(abcd, abcd0);
		efgh = vaddq_u32(efgh, efgh0);
	}

	ce_store4(md->h.w32, abcd);
	ce_store4(md->h.w32 + 4, efgh);
}

MD_CLASS(sha224_ce, 2, sha224_initial, 28, 64, sha256_ce_compress);
MD_CLASS(sha256_ce, 3, sha256_initial, 32, 64, sha256_ce_compress);
#endif

const struct digest_class *const digest_ce_classes[] = {
#ifdef SHA256_ROUNDS4
	&sha1_ce,
	&sha224_ce,
	&sha256_ce,
#endif
	NULL,
};
