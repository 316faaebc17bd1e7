/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is stored, for those who store: the bench TA, files, or arrays beside
 * it. What every operation needs before a call and is checked for after it is
 * the same for all (storage.c); a store brings the steps.
 */
#ifndef STORAGE_H
#define STORAGE_H

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

/* The beginning of the state of a store's workload. */
struct object {
	const struct store *store;
	enum storage_op op;
	size_t bytes;
	char name[32];  /* that no other case has */
	uint8_t *data;  /* what it should hold */
	uint8_t *back;  /* where it is read to */
	uint32_t loops; /* of the last run */
};

struct store {
	const char *name;  /* as the backend in case keys */
	const char *title; /* as reports call it */
	bool secure;       /* the secure world stores it */
	/* So many objects it can make beforehand, for as many calls. */
	uint32_t made_max;
	/* For parse(); or NULL. */
	int (*reserve)(struct pool *pool, size_t bytes, struct error *err);
	/* Can it store here, as far as can be told without storing? */
	int (*probe)(const struct store *store, struct pool *pool, struct error *err);
	/* Why it has no such operation, or NULL; .lacks NULL: it has all. */
	const char *(*lacks)(enum storage_op op);
	/* What becomes of a case once it is parsed. */
	const struct workload *workload;

	/*
	 * Steps, untimed. forget(): no object is there. make(): so many are,
	 * open where the operation wants that. shut(): the object is closed.
	 * hold(): it is open. read_back(): all of object i, opened anew, to
	 * ->back; its length to *len. is_there(): -ENOENT, or another answer.
	 */
	int (*forget)(struct object *o, struct error *err);
	int (*make)(struct object *o, uint32_t count, struct error *err);
	int (*shut)(struct object *o, struct error *err);
	int (*hold)(struct object *o, struct error *err);
	int (*read_back)(struct object *o, uint32_t i, size_t *len, struct error *err);
	int (*is_there)(struct object *o, uint32_t i, struct error *err);
};

/* All of them, NULL-terminated. */
extern const struct store *const stores[];
/* "create", …; NULL-terminated */
extern const char *const storage_ops[];

/* For a store's prepare(): what the case is to do, and its bytes. */
int storage_begin(struct object *o, const struct bench_case *c, const struct store *store,
		  struct error *err);

/* For struct workload: by the store's steps. */
int storage_ready(void *state, uint32_t loops, struct error *err);
int storage_check(void *state, struct error *err);

#endif
