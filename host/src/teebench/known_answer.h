/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of results against independent ones: published vectors, or another backend's results. */
#pragma once

#include "vectors.h"
#include "workload.h"

/* Smallest size, in bytes, of a workplace's buffers on which vectors can be checked. */
enum { KNOWN_ANSWER_BYTES = VECTOR_MAX };

/*
 * Checks a workplace's backend against all published vectors of `alg`; -ENOENT if there is none. An AEAD
 * that decrypts must also refuse an altered message. A WORKPLACE_KEYED loses its owner's key and message
 * by this; a WORKPLACE_DIGEST keeps its message.
 */
int known_answer_check(struct workplace *workplace, const struct algorithm *alg, bool decrypt,
		       struct error *err);

/*
 * Returns the next backend that can check the results of `backend`, NULL after the last. Backends
 * that compute in this process come first. The list is read from its end, where the libraries are.
 * *next must be 0 at the first call.
 */
const struct backend *known_answer_referee(const struct backend *backend, enum workplace_use use,
					   size_t *next);

/*
 * Computes the digest of `len` bytes by a backend other than `not_by` (NULL: by any), which is
 * first checked against the published vectors. *by is set to the backend's name. -ENOENT: no other
 * backend has the algorithm.
 */
int known_answer_digest(struct pool *pool, const struct backend *not_by,
			const struct algorithm *alg, const uint8_t *data, size_t len, uint8_t *out,
			const char **by, struct error *err);
