/* SPDX-License-Identifier: BSD-2-Clause */
/* Who stores: the bench TA, or files beside it. For workload_storage.c. */
#ifndef STORAGE_H
#define STORAGE_H

#include "pool.h"
#include "workload.h"

enum storage_op {
	STORAGE_CREATE,
	STORAGE_OPEN,
	STORAGE_READ,
	STORAGE_WRITE,
	STORAGE_RENAME,
	STORAGE_TRUNCATE, /* to half */
	STORAGE_DELETE,
	STORAGE_OPS,
};

struct storage_job {
	enum storage_op op;
	size_t bytes;
	char name[32]; /* that no other case has */
};

struct storage_backend {
	const char *name;  /* as in case keys */
	const char *title; /* as reports call it */
	bool secure;       /* the secure world stores it */
	uint32_t which;    /* the backend's own */

	/* So many objects it can make beforehand, for as many calls. */
	uint32_t made_max;
	/* For parse(). */
	int (*reserve)(struct pool *pool, const struct storage_job *job,
		       struct error *err);
	/* Can it store here? */
	int (*probe)(const struct storage_backend *backend, struct error *err);

	/* close() also after an error, unless *state is NULL. */
	int (*open)(void **state, const struct storage_backend *backend,
		    const struct storage_job *job, struct pool *pool,
		    struct error *err);
	/* Removes what it stored. */
	void (*close)(void *state);

	/* As those of struct workload. */
	int (*ready)(void *state, uint32_t loops, struct error *err);
	int (*run)(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err);
	int (*check)(void *state, struct error *err);
	void (*facts)(const void *state, struct json *json);
};

/* "create", …; NULL-terminated */
extern const char *const storage_ops[];

/* -EBADMSG: what was found wrong with what the operation stored. */
int storage_wrong(struct error *err, const struct storage_job *job,
		  const char *what);

/*
 * Most calls of an operation in a sample, of who can make so many objects
 * beforehand; 0: any.
 */
uint32_t storage_loops_max(enum storage_op op, uint32_t made_max);

#endif
