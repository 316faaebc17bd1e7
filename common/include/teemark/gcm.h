/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AES-256-GCM (SP 800-38D) with nonces of 96 bits and data that is
 * authenticated only. One key serves any number of messages, several at a
 * time; a message goes:
 *
 *	gcm_begin()  authenticate  crypt…  tag
 *
 * The caller owns key and message, and wipes both.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define GCM_KEY_BYTES   32
#define GCM_NONCE_BYTES 12
#define GCM_TAG_BYTES   16

/* An expanded key, large enough for every class. */
struct gcm_key {
	_Alignas(16) uint8_t bytes[512];
};

struct gcm_message {
	_Alignas(16) uint8_t counter[16]; /* counter block used last */
	_Alignas(16) uint8_t hash[16];    /* intermediate GHASH value */
	uint64_t authenticated, crypted;  /* bytes processed so far */
};

static inline void gcm_begin(struct gcm_message *message, const uint8_t nonce[GCM_NONCE_BYTES])
{
	memset(message, 0, sizeof(*message));
	memcpy(message->counter, nonce, GCM_NONCE_BYTES);
	message->counter[15] = 1;
}

/* An implementation of GCM. A key only works with the class that expanded it. */
struct gcm_class {
	void (*set_key)(struct gcm_key *key, const uint8_t bytes[GCM_KEY_BYTES]);
	/* Called once for each message, before crypt(); len may be 0. */
	void (*authenticate)(struct gcm_message *message, const struct gcm_key *key,
			     const uint8_t *data, size_t len);
	/*
	 * Encrypts or decrypts the next piece; only the last piece may have a len that isn't a
	 * multiple of 16. in and out are equal or don't overlap, and nobody else may write to them
	 * meanwhile: both are read twice.
	 */
	void (*crypt)(struct gcm_message *message, const struct gcm_key *key, bool encrypt,
		      const uint8_t *in, uint8_t *out, size_t len);
	/* Copies between any addresses, as fast as between aligned ones. */
	void (*copy)(uint8_t *out, const uint8_t *in, size_t len);
	void (*tag)(struct gcm_message *message, const struct gcm_key *key,
		    uint8_t tag[GCM_TAG_BYTES]);
};

/* Portable C without tables: no address and no branch depends on key or text. */
extern const struct gcm_class gcm_ct;

/* The class with ARMv8's AES and PMULL; NULL if the compiler may not use these. */
extern const struct gcm_class *const gcm_ce;
