/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Published test vectors, at least one for each algorithm of the tables. A case of an algorithm
 * without any vector is never measured.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { VECTOR_MAX = 128 }; /* longest message or result, in bytes */

/* A vector in hexadecimal; "" for what the algorithm doesn't use. A tag follows the ciphertext. */
struct vector {
	const char *algorithm, *key, *iv, *message, *result;
};

/* All vectors; the last row has no algorithm. */
extern const struct vector vectors[];

/* An asymmetric key in hexadecimal, laid out as asym.h says; RSA keys include the CRT's values. */
struct asym_key {
	const char *name, *public, *private;
};

/*
 * A published answer for one of these keys: `in` and `result`.
 *
 * SIGN, VERIFY: a digest or message, and its right signature. DERIVE: the other party's public key,
 * and the shared secret. ENCRYPT, DECRYPT: a plaintext, and a ciphertext of it.
 */
struct asym_vector {
	const char *algorithm, *key, *in, *result;
};

/* Each ends with a row without a name. */
extern const struct asym_key asym_keys[];
extern const struct asym_vector asym_vectors[];

/* Return an algorithm's answer, and the key of an answer; NULL if there is none. */
const struct asym_vector *asym_vector_of(const char *algorithm);
const struct asym_key *asym_key_of(const struct asym_vector *vector);

/* Decodes hex digits to `data`, at most `room` bytes; returns how many bytes the digits encode. */
size_t vector_bytes(uint8_t *data, size_t room, const char *hex);
