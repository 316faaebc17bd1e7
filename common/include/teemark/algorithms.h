/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The algorithm table: one row for each algorithm, the same table in both worlds.
 *
 * To add an algorithm, add a row to common/src/algorithms.c, and a published vector to
 * host/src/teebench/vectors.inc. Each backend reads its own column; help texts, lists and reports
 * read this table.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum alg_class {
	ALG_DIGEST = 1,
	ALG_MAC = 2,
	ALG_CIPHER = 3,
	ALG_AEAD = 4,
};

struct algorithm {
	uint16_t id;          /* the algorithm's number in calls to the TA; never reused */
	uint8_t class;        /* enum alg_class */
	const char *name;     /* in case keys and on the command line */
	const char *title;    /* as people write it: "SHA-256" */
	const char *tag;      /* of a digest, as in sha256sum --tag: "SHA256"; otherwise "" */
	uint32_t tee;         /* TEE_ALG_*, TEE Internal Core API 1.3 */
	const char *evp;      /* OpenSSL EVP name; for an HMAC, its digest's name */
	const char *kernel;   /* Linux crypto API name, for AF_ALG */
	uint16_t block_bytes; /* block of the hash function or cipher */
	/*
	 * Fewest bytes that padding adds before a message is cut into blocks: 9 or 17 for
	 * Merkle-Damgard (a bit and the length), 1 for a sponge, 0 for ciphers.
	 */
	uint16_t pad_bytes;
	/*
	 * A message's length must be a multiple of this. An XTS message has at least one unit,
	 * without ciphertext stealing.
	 */
	uint16_t unit_bytes;
	uint16_t out_bytes; /* digest, MAC or tag length; 0: the input's length */
	uint16_t key_bytes; /* 0 for digests; for XTS, both keys together */
	uint16_t iv_bytes;  /* IV, counter block, tweak, nonce; 0: none */
};

#define ALG_DIGEST_MAX_BYTES 64
#define ALG_BLOCK_MAX_BYTES  144 /* SHA3-224 */
#define ALG_KEY_MAX_BYTES    64  /* AES-256-XTS, HMAC-SHA512 */
#define ALG_IV_MAX_BYTES     16
#define ALG_TAG_MAX_BYTES    16

extern const struct algorithm algorithms[];
extern const size_t algorithms_count;

/* Returns the class as records name it: "digest", "mac", "cipher", "aead". */
const char *algorithm_class(enum alg_class class);

/* algorithm_by_id() and algorithm_by_name() return NULL if there is no such row. */
const struct algorithm *algorithm_by_id(uint32_t id);
const struct algorithm *algorithm_by_name(const char *name);
