/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results that are known from elsewhere: published vectors, and another backend
 * that computes the same.
 */
#pragma once

#include "vectors.h"
#include "workload.h"

/* The buffers of a desk must hold so many bytes to check vectors there. */
enum { KNOWN_ANSWER_BYTES = VECTOR_MAX };

/*
 * Checks the backend of a desk against all published vectors of alg, at least one. An AEAD that
 * decrypts must also refuse an altered message. Afterwards a DESK_KEYED has none of the caller's
 * keys and messages any more; a DESK_DIGEST still has its message.
 */
int known_answer_check(struct desk *desk, const struct algorithm *alg, bool decrypt,
		       struct error *err);

/*
 * Returns the next backend that may be asked for another opinion, and NULL after the last: not
 * `backend`; first those that compute in this process, from the end of the list, where the
 * libraries of others are. *next begins with 0.
 */
const struct backend *known_answer_referee(const struct backend *backend, enum desk_use use,
					   size_t *next);

/*
 * Computes the digest of len bytes of ordinary memory by another backend than `not_by` (or any,
 * NULL), which is held against the published vectors first. *by is its name. -ENOENT: no other
 * backend has the algorithm.
 */
int known_answer_digest(struct pool *pool, const struct backend *not_by,
			const struct algorithm *alg, const uint8_t *data, size_t len, uint8_t *out,
			const char **by, struct error *err);
