/* SPDX-License-Identifier: BSD-2-Clause */
/* The key expansion of AES-256 (FIPS 197, 5.2). */
#pragma once

#include "bytes.h"

#define ROUNDS    14
#define AES_WORDS (4 * (ROUNDS + 1))

/* Expands a key of 32 bytes; a word's first byte is its lowest. sub_word() applies the S-box. */
static inline void aes_expand(uint32_t words[AES_WORDS], const uint8_t *key,
			      uint32_t (*sub_word)(uint32_t word))
{
	uint32_t power = 1;

	memcpy(words, key, 32);
	for (int i = 8; i < AES_WORDS; i++) {
		uint32_t word = words[i - 1];

		if (i % 8 == 0) {
			word = sub_word(ror32(word, 8)) ^ power;
			power <<= 1;
		} else if (i % 8 == 4) {
			word = sub_word(word);
		}
		words[i] = words[i - 8] ^ word;
	}
}
