/* SPDX-License-Identifier: BSD-2-Clause */
/* Ciphers, AEADs and HMACs against published vectors. */
#ifndef KNOWN_CIPHER_H
#define KNOWN_CIPHER_H

#include "keyed.h"

/* What a session's buffers must hold at least. */
enum { KNOWN_CIPHER_BYTES = 128 };

/*
 * Overwrites the session's buffers and its key. AEADs that decrypt must also
 * refuse messages and tags that were altered.
 */
int known_cipher_check(const struct keyed_backend *backend, struct keyed *k,
		       const struct algorithm *alg, bool decrypt,
		       struct error *err);

#endif
