/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AES in portable C: the baseline for measuring libraries, kernels and TEEs. Its table look-ups
 * depend on secret bytes, so its timing reveals the key to programs that share the CPU's cache: use
 * it for measuring, not to protect data.
 *
 * The caller owns the context; there is no other state. A context with a key serves any number of
 * messages:
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

/* Memory for the state of any mode, with its alignment. */
union cipher_ctx {
	_Alignas(16) uint64_t align[112];
};

/* Sets a key for one direction. Returns false, and does nothing, if this code lacks the cipher. */
bool cipher_set_key(union cipher_ctx *ctx, uint16_t alg_id, bool encrypt, const uint8_t *key);

/* Begins a message, and drops one that is under way. iv may be NULL for ECB. */
void cipher_begin(union cipher_ctx *ctx, const uint8_t *iv);

/*
 * Processes the next len bytes of the message: a multiple of the row's unit_bytes, or 0. in and out
 * are equal or do not overlap.
 */
void cipher_update(union cipher_ctx *ctx, const uint8_t *in, uint8_t *out, size_t len);

/*
 * Ends an AEAD message and writes its 16-byte tag; to decrypt, the caller compares it with the tag
 * received. There is no data that is only authenticated.
 */
void cipher_tag(union cipher_ctx *ctx, uint8_t *tag);

void cipher_wipe(union cipher_ctx *ctx);
