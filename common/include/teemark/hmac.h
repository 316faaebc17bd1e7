/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HMAC (FIPS 198-1, RFC 2104) over the digests of digest.h.
 *
 * The caller owns the context. A context with a key serves any number of messages.
 */
#pragma once

#include <stdbool.h>

#include <teemark/digest.h>

struct hmac {
	const struct digest_class *class;
	size_t digest_bytes;
	union digest_ctx inner, outer; /* states after the block derived from the key */
};

/*
 * Sets a key of any length; alg_id is from a row of class ALG_MAC. Returns false, and does nothing,
 * if this code lacks the algorithm.
 */
bool hmac_set_key(struct hmac *hmac, enum digest_code code, uint16_t alg_id, const uint8_t *key,
		  size_t key_len);
/* Writes the MAC of a whole message, out_bytes of the algorithm's row long. */
void hmac_message(const struct hmac *hmac, const void *data, size_t len, uint8_t *out);
void hmac_wipe(struct hmac *hmac);
