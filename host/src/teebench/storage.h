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
	const char *name; /* as in case keys */
	uint32_t which;   /* the backend's own */

	/* Most calls of an operation in a sample; 0: any. */
	uint32_t (*loops_max)(enum storage_op op);
	/* For parse(). */
	int (*reserve)(struct pool *pool, size_t bytes, struct error *err);
	/* Can it store here, as far as can be told without storing? */
	int (*probe)(const struct storage_backend *backend, struct pool *pool,
		     struct error *err);

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

extern const struct storage_backend storage_ree_fs, storage_rpmb, storage_file,
	storage_file_fsync;

int storage_wrong(struct error *err, const struct storage_job *job,
		  const char *what);

#endif
