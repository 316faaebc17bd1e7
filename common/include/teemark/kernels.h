/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small loops that both worlds compile from the same source: what differs
 * between the two figures is the world, not the code or the library. So they
 * call no library, not even memcpy().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* kernel_memcpy() is given this for dst_len in both worlds. */
#define KERNEL_COPY_BYTES 4096u

/*
 * Copies src to dst in blocks of dst_len bytes that overwrite each other, so
 * that a TA with little memory can copy any length; dst_len > 0. Returns
 * the first eight of the bytes that the last block left in dst (fewer: all)
 * plus three times its last eight, as little-endian numbers: seen to be there.
 * It goes by 64 bytes where both addresses are multiples of 8.
 */
uint64_t kernel_memcpy(uint8_t *dst, size_t dst_len, const uint8_t *src, size_t len);
/*
 * Sum of the first little-endian 64-bit word of every 64 bytes, of those that
 * are there in full.
 */
uint64_t kernel_memtouch(const uint8_t *src, size_t len);
/*
 * Begins with x = 0, then steps times
 * x = x * 6364136223846793005 + 1442695040888963407 (Knuth). Returns x.
 */
uint64_t kernel_intloop(size_t steps);
