/* SPDX-License-Identifier: BSD-2-Clause */
/* Digests that are known without computing them, and those of backend `c`. */
#ifndef KNOWN_ANSWER_H
#define KNOWN_ANSWER_H

#include "pool.h"

/*
 * Checks a backend against published vectors of alg. The buffer is written to
 * and restored; it must hold KNOWN_ANSWER_BYTES.
 */
enum { KNOWN_ANSWER_BYTES = 128 };
int known_answer_check(const struct backend *backend, struct session *session,
		       const struct algorithm *alg, const struct buffer *buffer,
		       struct error *err);

/*
 * The digest of len bytes by backend `c`, which is held against the published
 * vectors first. -EOPNOTSUPP: `c` has no such algorithm.
 */
int known_answer_by_c(const struct algorithm *alg, const uint8_t *data,
		      size_t len, uint8_t *out, struct error *err);

/* "a, b" both in hexadecimal */
int digest_differs(const struct algorithm *alg, const uint8_t *got,
		   const uint8_t *want, const char *of_what, struct error *err);

#endif
