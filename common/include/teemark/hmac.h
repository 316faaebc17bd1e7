/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HMAC (FIPS 198-1, RFC 2104) over the digests of digest.h.
 *
 * The caller owns the context. One that has a key serves any number of
 * messages: hmac_begin() hmac_update()… hmac_final().
 */
#pragma once

#include <stdbool.h>

#include <teemark/digest.h>

struct hmac {
	const struct digest_class *class;
	size_t digest_bytes;
	union digest_ctx inner, outer; /* after the block made of the key */
	union digest_ctx ctx;          /* the message under way */
};

/*
 * Sets a key of any length; alg_id is that of a row of class ALG_MAC. Returns false, and does
 * nothing, if this code has no such algorithm.
 */
bool hmac_set_key(struct hmac *hmac, enum digest_code code, uint16_t alg_id, const uint8_t *key,
		  size_t key_len);
void hmac_begin(struct hmac *hmac);
void hmac_update(struct hmac *hmac, const void *data, size_t len);
/* Writes the MAC: as many bytes as out_bytes of the algorithm's row says. The key stays set. */
void hmac_final(struct hmac *hmac, uint8_t *out);
void hmac_wipe(struct hmac *hmac);
