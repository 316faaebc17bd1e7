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
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GCM_KEY_BYTES   32
#define GCM_NONCE_BYTES 12
#define GCM_TAG_BYTES   16

/* An expanded key; large enough for each class. */
struct gcm_key {
	_Alignas(16) uint8_t bytes[512];
};

struct gcm_message {
	_Alignas(16) uint8_t counter[16]; /* of the last block of key stream */
	_Alignas(16) uint8_t hash[16];    /* GHASH so far */
	uint64_t authenticated, crypted;  /* bytes */
};

static inline void gcm_begin(struct gcm_message *message, const uint8_t nonce[GCM_NONCE_BYTES])
{
	memset(message, 0, sizeof(*message));
	memcpy(message->counter, nonce, GCM_NONCE_BYTES);
	message->counter[15] = 1;
}

/* An implementation. A key serves messages of the class that expanded it. */
struct gcm_class {
	void (*set_key)(struct gcm_key *key, const uint8_t bytes[GCM_KEY_BYTES]);
	/* Is called once for each message, before crypt; len may be 0. */
	void (*authenticate)(struct gcm_message *message, const struct gcm_key *key,
			     const uint8_t *data, size_t len);
	/*
	 * Encrypts or decrypts; len is a multiple of 16, but for the last call. in and out are the
	 * same or don't overlap, and nobody else writes to either: both are read again.
	 */
	void (*crypt)(struct gcm_message *message, const struct gcm_key *key, bool encrypt,
		      const uint8_t *in, uint8_t *out, size_t len);
	/* Copies from and to any addresses, as fast as aligned ones. */
	void (*copy)(uint8_t *out, const uint8_t *in, size_t len);
	void (*tag)(struct gcm_message *message, const struct gcm_key *key,
		    uint8_t tag[GCM_TAG_BYTES]);
};

/*
 * Portable C, by tables: its timing tells of the key to who shares a cache
 * with it. Where the CPU has AES and PMULL, gcm_ce keeps the key to itself.
 */
extern const struct gcm_class gcm_c;
/* Its functions; the key may have 16, 24 or 32 bytes here. */
void gcm_c_set_key(struct gcm_key *key, const uint8_t *bytes, size_t len);
void gcm_c_crypt(struct gcm_message *message, const struct gcm_key *key, bool encrypt,
		 const uint8_t *in, uint8_t *out, size_t len);
void gcm_c_tag(struct gcm_message *message, const struct gcm_key *key, uint8_t tag[GCM_TAG_BYTES]);

/* The class that uses ARMv8's AES and PMULL instructions; NULL where there can be none. */
extern const struct gcm_class *const gcm_ce;
