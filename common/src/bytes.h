/* SPDX-License-Identifier: BSD-2-Clause */
/* Conversions between words and bytes, rotations, and a wipe that the compiler keeps. */
#pragma once

#include <stdint.h>
#include <string.h>

/*
 * 1 if one instruction can load a word from any address. If 0, a load would be assembled from
 * bytes, so load_*() need aligned addresses (a multiple of BYTES_ALIGN plus whole words); callers
 * check bytes_aligned() and copy other blocks first. gcc has no macro for -mstrict-align, with
 * which OP-TEE builds TAs; such a build defines BYTES_UNALIGNED_OK=0.
 */
#ifndef BYTES_UNALIGNED_OK
#if defined(__x86_64__) || defined(__i386__) || defined(__ARM_FEATURE_UNALIGNED)
#define BYTES_UNALIGNED_OK 1
#else
#define BYTES_UNALIGNED_OK 0
#endif
#endif

#define BYTES_ALIGN 8

#if BYTES_UNALIGNED_OK
typedef uint32_t bytes_u32 __attribute__((may_alias, aligned(1)));
typedef uint64_t bytes_u64 __attribute__((may_alias, aligned(1)));
#else
typedef uint32_t bytes_u32 __attribute__((may_alias));
typedef uint64_t bytes_u64 __attribute__((may_alias));
#endif

static inline int bytes_aligned(const uint8_t *p)
{
	return BYTES_UNALIGNED_OK || (uintptr_t)p % BYTES_ALIGN == 0;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTES_BE32(x) __builtin_bswap32(x)
#define BYTES_BE64(x) __builtin_bswap64(x)
#define BYTES_LE64(x) (x)
#else
#define BYTES_BE32(x) (x)
#define BYTES_BE64(x) (x)
#define BYTES_LE64(x) __builtin_bswap64(x)
#endif

static inline uint32_t load_be32(const uint8_t *p)
{
	return BYTES_BE32(*(const bytes_u32 *)(const void *)p);
}

static inline uint64_t load_be64(const uint8_t *p)
{
	return BYTES_BE64(*(const bytes_u64 *)(const void *)p);
}

static inline uint64_t load_le64(const uint8_t *p)
{
	return BYTES_LE64(*(const bytes_u64 *)(const void *)p);
}

static inline void store_be64(uint8_t *p, uint64_t x)
{
	x = BYTES_BE64(x);
	memcpy(p, &x, sizeof(x));
}

/* Rotations by n bits, 1 … 31 or 1 … 63. */
static inline uint32_t ror32(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static inline uint64_t ror64(uint64_t x, unsigned int n)
{
	return x >> n | x << (64 - n);
}

#define rol32(x, n) ror32(x, 32 - (n))
#define rol64(x, n) ror64(x, 64 - (n))

static inline void wipe(void *p, size_t len)
{
	memset(p, 0, len);
	/* Tells the compiler that the zeros are read, so that it keeps the stores. */
	__asm__ volatile("" : : "r"(p) : "memory");
}
