/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of --list: what this machine can run, and why not the rest. */
#ifndef LISTING_H
#define LISTING_H

#include <stdbool.h>

#include "pool.h"
#include "workload.h"

struct listing_row {
	const char *workload, *algorithm, *backend;
	struct error why; /* .code 0: it can */
};

struct listing {
	const char *workload; /* whose rows are being added */
	struct listing_row *rows;
	size_t count, room;
	bool failed; /* out of memory */
};

/* One row; why NULL or without a code: it can. */
void listing_add(struct listing *listing, const char *algorithm,
		 const char *backend, const struct error *why);

/*
 * For struct workload .list: names (NULL-terminated) of one backend, which it
 * can if there is such a desk; the wanted algorithms by every backend that
 * has such a use (DESK_DIGEST, DESK_KEYED); every digest.
 */
void listing_add_names(struct listing *listing, struct pool *pool,
		       const struct backend *backend, enum desk_use use,
		       const char *const *names);
void listing_add_algorithms(struct listing *listing, struct pool *pool,
			    enum desk_use use,
			    bool (*wanted)(const struct algorithm *alg));
void listing_add_digests(struct listing *listing, struct pool *pool);

#endif
