/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common part of SHA-1 and SHA-2 (FIPS 180-4, 5.1 and 5.2): a message is cut into blocks, and
 * the last block is padded and ends with the length. Digests and implementations differ only in the
 * compression of whole blocks.
 */
#pragma once

#include <string.h>

#include <teemark/digest.h>

struct md {
	union {
		uint32_t w32[8];
		uint64_t w64[8];
	} h;
	uint8_t buffer[128]; /* the incomplete block: its first bytes % block bytes */
	uint64_t bytes;      /* bytes of the message so far, below 2^61 */
};

_Static_assert(sizeof(struct md) <= sizeof(union digest_ctx), "union digest_ctx is too small");

/* Compresses `count` whole blocks into md->h; count > 0, and blocks is bytes_aligned(). */
typedef void md_compress(struct md *md, const uint8_t *blocks, size_t count);

static inline struct md *md_of(union digest_ctx *ctx)
{
	return (struct md *)(void *)ctx;
}

/* Processes the next len bytes of the message; `block` is the block size, 64 or 128 bytes. */
void md_update(struct md *md, const void *data, size_t len, size_t block, md_compress *compress);

/*
 * Pads the message, writes the first out_bytes of the state, whose words have block / 16 bytes, and
 * wipes md.
 */
void md_final(struct md *md, uint8_t *out, size_t out_bytes, size_t block, md_compress *compress);

/* Defines a digest's class: initial state, compression, out_bytes of the final state. */
#define MD_CLASS(name, id, initial, out_bytes, block, compress)                        \
	static void name##_init(union digest_ctx *ctx)                                 \
	{                                                                              \
		memcpy(&md_of(ctx)->h, initial, sizeof(initial));                      \
		md_of(ctx)->bytes = 0;                                                 \
	}                                                                              \
	static void name##_update(union digest_ctx *ctx, const void *data, size_t len) \
	{                                                                              \
		md_update(md_of(ctx), data, len, block, compress);                     \
	}                                                                              \
	static void name##_final(union digest_ctx *ctx, uint8_t *out)                  \
	{                                                                              \
		md_final(md_of(ctx), out, out_bytes, block, compress);                 \
	}                                                                              \
	const struct digest_class name = {                                             \
		.alg_id = id,                                                          \
		.init = name##_init,                                                   \
		.update = name##_update,                                               \
		.final = name##_final,                                                 \
	}

/* Initial values, also used by the ce code; SHA-1 uses only the first five. */
extern const uint32_t sha1_initial[8], sha224_initial[8], sha256_initial[8];

/* Round constants of SHA-256 (FIPS 180-4, 4.2.2). */
extern const uint32_t sha256_k[64];
