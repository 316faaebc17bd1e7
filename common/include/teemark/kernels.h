/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small loops that both worlds compile from the same source: what differs
 * between the two figures is the world, not the code or the library.
 */
#ifndef TEEMARK_KERNELS_H
#define TEEMARK_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies src to dst in blocks of dst_len bytes that overwrite each other, so
 * that a TA with little memory can copy any length. Returns a checksum of
 * what lies in dst in the end.
 */
uint64_t kernel_memcpy(uint8_t *dst, size_t dst_len, const uint8_t *src,
		       size_t len);
/* Sum of one 64-bit word of every 64 bytes. */
uint64_t kernel_memtouch(const uint8_t *src, size_t len);
/* steps times x = x * 6364136223846793005 + 1442695040888963407 (Knuth). */
uint64_t kernel_intloop(size_t steps);

#endif
