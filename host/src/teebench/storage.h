/* SPDX-License-Identifier: BSD-2-Clause */
/* What is stored, for those who store: the bench TA, or files beside it. */
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
	STORAGE_OPEN_READ_CLOSE,
	STORAGE_OPS,
};

struct storage_job {
	enum storage_op op;
	size_t bytes;
	char name[32]; /* that no other case has */
};

struct store {
	const char *name;  /* as the backend in case keys */
	const char *title; /* as reports call it */
	bool secure;       /* the secure world stores it */
	/* So many objects it can make beforehand, for as many calls. */
	uint32_t made_max;
	/* For parse(); or NULL. */
	int (*reserve)(struct pool *pool, const struct storage_job *job,
		       struct error *err);
	/* Can it store here, as far as can be told without storing? */
	int (*probe)(struct pool *pool, struct error *err);
	/* Why it has no such operation, or NULL; .lacks NULL: it has all. */
	const char *(*lacks)(enum storage_op op);
	/* What becomes of a case once it is parsed. */
	const struct workload *workload;
};

/* "create", …; NULL-terminated */
extern const char *const storage_ops[];

/* What a case is to do. */
void storage_job_of(const struct bench_case *c, struct storage_job *job);

/* -EBADMSG: what was found wrong with what the operation stored. */
int storage_wrong(struct error *err, const struct storage_job *job,
		  const char *what);

/*
 * Most calls of an operation in a sample, of who can make so many objects
 * beforehand; 0: any.
 */
uint32_t storage_loops_max(enum storage_op op, uint32_t made_max);

#endif
