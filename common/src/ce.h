/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads and stores for the code with Crypto Extensions. LD1 and ST1 only need the alignment of an
 * element, whatever SCTLR_EL1.A says. A compiler with -mstrict-align doesn't know that, and would
 * move bytes one by one.
 */
#pragma once

#include <stdint.h>

#if defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>

static inline uint32x4_t ce_load4(const uint32_t *p)
{
	uint32x4_t v;

	__asm__("ld1	{%0.4s}, [%1]" : "=w"(v) : "r"(p), "m"(*(const uint32_t(*)[4])p));
	return v;
}

static inline void ce_store4(uint32_t *p, uint32x4_t v)
{
	__asm__("st1	{%1.4s}, [%2]" : "=m"(*(uint32_t(*)[4])p) : "w"(v), "r"(p));
}

/* Loads a 64-byte block from any address as sixteen big-endian words. */
static inline void ce_load_block(const uint8_t *p, uint32x4_t *m0, uint32x4_t *m1, uint32x4_t *m2,
				 uint32x4_t *m3)
{
	register uint8x16_t b0 __asm__("v28");
	register uint8x16_t b1 __asm__("v29");
	register uint8x16_t b2 __asm__("v30");
	register uint8x16_t b3 __asm__("v31");

	__asm__("ld1	{%0.16b - %3.16b}, [%4]"
		: "=w"(b0), "=w"(b1), "=w"(b2), "=w"(b3)
		: "r"(p), "m"(*(const uint8_t(*)[64])p));
	*m0 = vreinterpretq_u32_u8(vrev32q_u8(b0));
	*m1 = vreinterpretq_u32_u8(vrev32q_u8(b1));
	*m2 = vreinterpretq_u32_u8(vrev32q_u8(b2));
	*m3 = vreinterpretq_u32_u8(vrev32q_u8(b3));
}
#endif
