/* SPDX-License-Identifier: BSD-2-Clause */
#include "merkle_damgard.h"

#include "bytes.h"

void md_update(struct md *md, const void *data, size_t len, size_t block, md_compress *compress)
{
	const uint8_t *p = data;
	size_t fill = md->bytes & (block - 1);

	if (!len)
		return;
	md->bytes += len;

	if (fill) {
		size_t take = block - fill < len ? block - fill : len;

		memcpy(md->buffer + fill, p, take);
		p += take;
		len -= take;
		if (fill + take < block)
			return;
		compress(md, md->buffer, 1);
	}

	if (bytes_aligned(p)) {
		if (len >= block)
			compress(md, p, len / block);
		p += len & ~(block - 1);
	} else {
		for (size_t n = len / block; n; n--, p += block) {
			memcpy(md->buffer, p, block);
			compress(md, md->buffer, 1);
		}
	}

	memcpy(md->buffer, p, len & (block - 1));
}

static void store_words(const struct md *md, uint8_t *out, size_t len, size_t block)
{
	uint8_t words[64];

	for (size_t i = 0; i < 8; i++) {
		if (block == 128) {
			store_be64(words + 8 * i, md->h.w64[i]);
		} else {
			uint32_t x = BYTES_BE32(md->h.w32[i]);

			memcpy(words + 4 * i, &x, sizeof(x));
		}
	}
	memcpy(out, words, len);
	wipe(words, sizeof(words));
}

void md_final(struct md *md, uint8_t *out, size_t out_bytes, size_t block, md_compress *compress)
{
	size_t fill = md->bytes & (block - 1);
	size_t length_at = block - block / 8;

	md->buffer[fill++] = 0x80;
	if (fill > length_at) {
		memset(md->buffer + fill, 0, block - fill);
		compress(md, md->buffer, 1);
		fill = 0;
	}
	/* The message's length in bits: 64 bits, or 128, of which the highest 61 are 0. */
	memset(md->buffer + fill, 0, block - 8 - fill);
	store_be64(md->buffer + block - 8, md->bytes << 3);
	if (block == 128)
		md->buffer[block - 9] = (uint8_t)(md->bytes >> 61);
	compress(md, md->buffer, 1);

	store_words(md, out, out_bytes, block);
	wipe(md, sizeof(*md));
}
