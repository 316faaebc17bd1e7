/* SPDX-License-Identifier: BSD-2-Clause */
#include <teemark/kernels.h>

#include "bytes.h"

#define LINE 64

/*
 * Tells the compiler that memory may have changed, so that it neither replaces a loop by a library
 * call nor omits a copy that the next copy overwrites.
 */
static inline void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

static void copy(uint8_t *dst, const uint8_t *src, size_t len)
{
	size_t i = 0;

	if (bytes_aligned(src) && bytes_aligned(dst)) {
		for (; len - i >= LINE; i += LINE) {
			const bytes_u64 *from = (const void *)(src + i);
			bytes_u64 *to = (void *)(dst + i);

#pragma GCC unroll 8
			for (size_t word = 0; word < LINE / 8; word++)
				to[word] = from[word];
			barrier();
		}
	}
	for (; i < len; i++) {
		dst[i] = src[i];
		barrier();
	}
}

/* Returns the little-endian number of up to eight bytes at any address. */
static uint64_t word(const uint8_t *p, size_t len)
{
	uint64_t x = 0;

	for (size_t i = 0; i < len && i < 8; i++)
		x |= (uint64_t)p[i] << 8 * i;
	return x;
}

uint64_t kernel_memcpy(uint8_t *dst, size_t dst_len, const uint8_t *src, size_t len)
{
	size_t last = 0;

	for (size_t at = 0; at < len; at += last) {
		last = len - at < dst_len ? len - at : dst_len;
		copy(dst, src + at, last);
	}
	return word(dst, last) + 3 * word(dst + (last < 8 ? 0 : last - 8), last);
}

uint64_t kernel_memtouch(const uint8_t *src, size_t len)
{
	uint64_t sum = 0;

	if (bytes_aligned(src)) {
		for (size_t i = 0; i + 8 <= len; i += LINE)
			sum += load_le64(src + i);
	} else {
		for (size_t i = 0; i + 8 <= len; i += LINE)
			sum += word(src + i, 8);
	}
	return sum;
}

uint64_t kernel_intloop(size_t steps)
{
	uint64_t x = 0;

	for (size_t i = 0; i < steps; i++)
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return x;
}
