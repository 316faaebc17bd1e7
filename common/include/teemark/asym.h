/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of asymmetric algorithms: one row for each algorithm, the same table in both worlds.
 *
 * To add an algorithm, add a row to common/src/asym.c, and a published key and answer to
 * host/src/teebench/asym_keys.inc and asym_vectors.inc.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of a key, which determines its parts. */
enum asym_kind {
	ASYM_RSA = 1, /* modulus, exponents; parts for the CRT */
	ASYM_EC = 2,  /* public: point coordinates; private: a scalar */
	ASYM_RAW = 3, /* public and private: byte strings (RFC 7748, 8032) */
	/* Post-quantum (FIPS 203, 204): a public string, a private seed; not in GlobalPlatform. */
	ASYM_SEED = 4,
};

/* An operation with a key. */
enum asym_use {
	ASYM_SIGN = 0,
	ASYM_VERIFY = 1,
	ASYM_DERIVE = 2,
	ASYM_ENCRYPT = 3,
	ASYM_DECRYPT = 4,
	ASYM_ENCAPSULATE = 5, /* result: the ciphertext, then the shared secret */
	ASYM_DECAPSULATE = 6,
	ASYM_USES
};

struct asym_algorithm {
	uint16_t id; /* the algorithm's number in calls to the TA; never reused */
	uint8_t kind;
	uint8_t uses;      /* bit mask of 1 << enum asym_use */
	const char *name;  /* in case keys */
	const char *title; /* as people write it: "ECDSA P-256" */
	uint16_t bits;     /* key size, as GlobalPlatform counts it */
	/* bytes of an RSA modulus, a coordinate, or a raw or post-quantum public key */
	uint16_t value_bytes;
	/* bytes of the digest that is signed; 0: a message of any length is signed */
	uint16_t digest_bytes;
	uint16_t out_bytes; /* bytes of signature, secret or ciphertext */
	uint32_t tee;       /* TEE_ALG_*; 0: no TEE has this algorithm */
	uint32_t tee_pair;  /* TEE_TYPE_*_KEYPAIR */
	uint32_t tee_curve; /* TEE_ECC_CURVE_*; 0: there is no curve parameter */
	/* TEE_ATTR_* of a raw key's two parts */
	uint32_t tee_public_value, tee_private_value;
	const char *evp;     /* OpenSSL's name of the key type */
	const char *group;   /* OpenSSL's name of the curve, or "" */
	const char *digest;  /* OpenSSL's name of the digest, or "" */
	const char *padding; /* of RSA: OpenSSL's "pad-mode", or "" */
};

#define ASYM_VALUE_MAX_BYTES 512u /* RSA-4096's modulus */
/* Bytes of an RSA key's public exponent in calls to the TA. */
#define ASYM_EXPONENT_BYTES    4u
#define ASYM_PUBLIC_MAX_BYTES  (ASYM_VALUE_MAX_BYTES + ASYM_EXPONENT_BYTES)
#define ASYM_PRIVATE_MAX_BYTES (ASYM_VALUE_MAX_BYTES * 7 / 2)
/* Longest input in bytes that a TEE signs, verifies, encrypts or decrypts in one operation. */
#define ASYM_IN_MAX_BYTES 512u
/* Longest input or output in bytes of an operation in the normal world: ML-DSA-87's signature. */
#define ASYM_MAX_BYTES    4627u
#define ASYM_SECRET_BYTES 32u /* bytes of ML-KEM's shared secret */
/* Bytes of ML-DSA's context, which precedes the message in the input. */
#define ASYM_CONTEXT_BYTES 16u

extern const struct asym_algorithm asym_algorithms[];
extern const size_t asym_algorithms_count;

/* asym_by_id() and asym_by_name() return NULL if there is no such row. */
const struct asym_algorithm *asym_by_id(uint32_t id);
const struct asym_algorithm *asym_by_name(const char *name);

/* Returns true if this use needs the private key. */
bool asym_is_private(enum asym_use use);

/*
 * Return the length in bytes of a key's part in calls to the TA. The public part is the RSA modulus
 * and exponent, EC x and y, or the raw or post-quantum key. The private part follows: the RSA
 * private exponent, and with `crt` the primes p and q, d mod p-1, d mod q-1 and 1/q mod p; the EC
 * scalar; the raw key; or the seed.
 */
size_t asym_public_bytes(const struct asym_algorithm *alg);
size_t asym_private_bytes(const struct asym_algorithm *alg, bool crt);
