/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small loops that both worlds compile from the same source, so that a difference between the two
 * results is due to the world, not to code or library. They call no library function, not even
 * memcpy().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Both worlds pass this to kernel_memcpy() as dst_len. */
#define KERNEL_COPY_BYTES 4096u

/*
 * Copies src to dst in blocks of dst_len bytes that overwrite each other, so that a TA with little
 * memory can copy any length; dst_len > 0. Returns a checksum of the last block: its first eight
 * bytes (all, if it is shorter) plus three times its last eight, as little-endian numbers. It
 * copies 64 bytes at a time if both addresses are multiples of 8.
 */
uint64_t kernel_memcpy(uint8_t *dst, size_t dst_len, const uint8_t *src, size_t len);
/* Returns the sum of the first little-endian 64-bit word of each complete 64-byte line. */
uint64_t kernel_memtouch(const uint8_t *src, size_t len);
/*
 * Computes x = x * 6364136223846793005 + 1442695040888963407 (Knuth) `steps` times, from x = 0.
 * Returns x.
 */
uint64_t kernel_intloop(size_t steps);
