/* SPDX-License-Identifier: BSD-2-Clause */
/* --list: what this machine can run, and why not the rest. */
#ifndef LISTING_H
#define LISTING_H

#include <stdbool.h>

#include "workload.h"

/* One row; why NULL or without a code: it can. */
void listing_add(struct listing *listing, const char *algorithm,
		 const char *backend, const struct error *why);

/*
 * For struct workload .list: every digest by every backend; those of the
 * algorithms with a key by every one that has such; empty calls.
 */
void listing_add_digests(struct listing *listing, struct pool *pool);
void listing_add_keyed(struct listing *listing,
		       bool (*wanted)(const struct algorithm *alg));
void listing_add_calls(struct listing *listing, struct pool *pool);

/*
 * Writes all of it to stdout, as a table or as one JSON object. Stores nothing
 * anywhere. allow_rpmb: as in struct pool.
 */
int listing_print(bool json, bool allow_rpmb, struct error *err);

#endif
