/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Published asymmetric keys, and for each algorithm of asym.h one answer that
 * is known for one of them.
 */
#pragma once

/* A key in hexadecimal, laid out as asym.h says; RSA keys have what the CRT needs. */
struct asym_key {
	const char *name, *public, *private;
};

/*
 * SIGN, VERIFY: a digest or message, and a signature that is right; DERIVE:
 * another's public key, and the shared secret; ENCRYPT, DECRYPT: a plaintext
 * and a ciphertext of it.
 */
struct asym_vector {
	const char *algorithm, *key, *in, *result;
};

/* Both end with a row of NULLs. */
extern const struct asym_key asym_keys[];
extern const struct asym_vector asym_vectors[];

/* Both return NULL if there is none. */
const struct asym_vector *asym_vector_of(const char *algorithm);
const struct asym_key *asym_key_of(const struct asym_vector *vector);
