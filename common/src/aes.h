/* SPDX-License-Identifier: BSD-2-Clause */
/* The block cipher AES (FIPS 197) by tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bytes.h"

#define AES_BLOCK 16

/* A block as words, so that it is aligned and an XOR takes two instructions. */
struct aes_block {
	uint64_t w[2];
};

struct aes_key {
	unsigned int rounds;
	uint32_t words[60];
};

/* Expands a key of key_len bytes (16, 24 or 32) for encryption. */
void aes_set_encrypt_key(struct aes_key *key, const uint8_t *bytes, size_t key_len);
void aes_set_decrypt_key(struct aes_key *key, const uint8_t *bytes, size_t key_len);
/* aes_encrypt() and aes_decrypt() change a block in place, with a key set for that direction. */
void aes_encrypt(const struct aes_key *key, struct aes_block *block);
void aes_decrypt(const struct aes_key *key, struct aes_block *block);

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
