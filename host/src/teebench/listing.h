/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of --list: what this machine can run, and why not the rest. */
#pragma once

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

/* Adds a row. If `why` is NULL or has no code, the machine can run it. */
void listing_add(struct listing *listing, const char *algorithm, const char *backend,
		 const struct error *why);

/*
 * For .list of struct workload. The first adds names (NULL-terminated) of a backend, which it can
 * run if there is such a desk; the second adds the wanted algorithms (NULL: all) of classes that a
 * backend has at all.
 */
void listing_add_names(struct listing *listing, struct pool *pool, const struct backend *backend,
		       enum desk_use use, const char *const *names);
void listing_add_algorithms(struct listing *listing, struct pool *pool,
			    const struct backend *backend, unsigned classes,
			    bool (*wanted)(const struct algorithm *alg));
/* Adds all rows of a workload. */
void listing_add_workload(struct listing *listing, struct pool *pool,
			  const struct workload *workload);
