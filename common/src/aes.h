/* SPDX-License-Identifier: BSD-2-Clause */
/* The block cipher AES (FIPS 197) by tables, and the modes built on it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <teemark/cipher.h>
#include <teemark/gcm.h>

#include "bytes.h"

#define AES_BLOCK 16

/* A block in words, so that it is aligned and xor is two instructions. */
struct aes_block {
	uint64_t w[2];
};

struct aes_key {
	unsigned int rounds;
	uint32_t words[60];
};

/* Expands a key of key_len bytes: 16, 24 or 32. */
void aes_set_encrypt_key(struct aes_key *key, const uint8_t *bytes, size_t key_len);
void aes_set_decrypt_key(struct aes_key *key, const uint8_t *bytes, size_t key_len);
/* Encrypts or decrypts a block in place, with a key that was set for that direction. */
void aes_encrypt(const struct aes_key *key, struct aes_block *block);
void aes_decrypt(const struct aes_key *key, struct aes_block *block);

/* Multiples of one element of GF(2^128), by four bits (SP 800-38D, 6.4). */
struct ghash_key {
	uint64_t high[16], low[16];
};

/* A union cipher_ctx holds this. */
struct aes_state {
	const struct aes_mode *mode;
	bool encrypt;
	struct aes_key key;
	struct aes_block iv;     /* chaining value, counter, tweak */
	struct aes_block stream; /* CTR: key stream … */
	unsigned int used;       /* … of which so many bytes are used */
	union {
		struct aes_key tweak; /* XTS: the second key */
		struct {
			struct ghash_key key;
			struct gcm_message message;
		} gcm;
	};
};

_Static_assert(sizeof(struct aes_state) <= sizeof(union cipher_ctx),
	       "union cipher_ctx is too small");

struct aes_mode {
	/* Is called with state->encrypt set, and the rest all zeros. */
	void (*set_key)(struct aes_state *state, const uint8_t *key, size_t key_len);
	void (*begin)(struct aes_state *state, const uint8_t *iv);
	void (*update)(struct aes_state *state, const uint8_t *in, uint8_t *out, size_t len);
	/* AEADs alone have a tag. */
	void (*tag)(struct aes_state *state, uint8_t *tag);
};

extern const struct aes_mode aes_ecb, aes_cbc, aes_ctr, aes_xts, aes_gcm;

static inline struct aes_block aes_get(const uint8_t *p)
{
	struct aes_block block;

	memcpy(&block, p, AES_BLOCK);
	return block;
}

static inline void aes_put(uint8_t *p, const struct aes_block *block)
{
	memcpy(p, block, AES_BLOCK);
}

static inline void aes_xor(struct aes_block *a, const struct aes_block *b)
{
	a->w[0] ^= b->w[0];
	a->w[1] ^= b->w[1];
}
