/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AES in portable C: the baseline that libraries, kernels and TEEs are
 * measured against. It looks up tables by secret bytes, so its timing tells
 * of the key to who shares a cache with it: to measure, not to keep secrets.
 *
 * The caller owns the context; there is no other state. A context that has a
 * key serves any number of messages:
 *
 *	cipher_set_key()  cipher_begin()  cipher_update()…
 *	AEADs: cipher_tag()
 *
 * Lengths of keys and IVs are those of the algorithm's row.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Large and aligned enough for every mode's state. */
union cipher_ctx {
	_Alignas(16) uint64_t align[112];
};

/* Returns false, and does nothing, if there is no such cipher here. */
bool cipher_set_key(union cipher_ctx *ctx, uint16_t alg_id, bool encrypt, const uint8_t *key);

/* Begins a message; one under way is dropped. iv may be NULL for ECB. */
void cipher_begin(union cipher_ctx *ctx, const uint8_t *iv);

/*
 * Goes on with the message. len: a multiple of the row's unit_bytes, 0 too.
 * in and out are the same or do not overlap.
 */
void cipher_update(union cipher_ctx *ctx, const uint8_t *in, uint8_t *out, size_t len);

/*
 * Ends the message of an AEAD and writes the 16 bytes of its tag; a caller who decrypts compares
 * them with those that came. No data is authenticated without being encrypted.
 */
void cipher_tag(union cipher_ctx *ctx, uint8_t *tag);

void cipher_wipe(union cipher_ctx *ctx);
