/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Published test vectors: for each algorithm of the tables at least one. A case
 * of an algorithm without any is never measured.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { VECTOR_MAX = 128 }; /* bytes of a message or result */

/* A vector in hexadecimal; "" where there is none. A tag follows its message. */
struct vector {
	const char *algorithm, *key, *iv, *message, *result;
};

/* Ends with a row without an algorithm. */
extern const struct vector vectors[];

/* An asymmetric key in hexadecimal, laid out as asym.h says; RSA keys have what the CRT needs. */
struct asym_key {
	const char *name, *public, *private;
};

/*
 * An answer that is known for one of these keys.
 *
 * SIGN, VERIFY: a digest or message, and a signature that is right; DERIVE:
 * another's public key, and the shared secret; ENCRYPT, DECRYPT: a plaintext
 * and a ciphertext of it.
 */
struct asym_vector {
	const char *algorithm, *key, *in, *result;
};

/* Each ends with a row without a name. */
extern const struct asym_key asym_keys[];
extern const struct asym_vector asym_vectors[];

/* Both return NULL if there is none. */
const struct asym_vector *asym_vector_of(const char *algorithm);
const struct asym_key *asym_key_of(const struct asym_vector *vector);

/* Writes the bytes of hex, and returns their number. */
size_t vector_bytes(uint8_t *data, size_t room, const char *hex);
