/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench TA, files, or arrays beside it store objects. What every operation needs before a call
 * and is checked for after it is the same for all (storage.c); a store brings the steps.
 */
#pragma once

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

/* The state of a store's workload begins with this. */
struct object {
	struct bench_case *c;
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
	/* It can make so many objects beforehand, for as many calls. */
	uint32_t made_max;
	/* Reserves memory for parse(); or NULL. */
	int (*reserve)(struct pool *pool, size_t bytes, struct error *err);
	/* A case gets this workload once it is parsed. */
	const struct workload *workload;

	/*
	 * Untimed steps. After forget() no object is there; after make() so many are, open where the
	 * operation wants that. After shut() the object is closed, and after hold() it is open; NULL:
	 * there is nothing to do. read_back() opens object i anew, and puts all of it to ->back and
	 * its length to *len. is_there() returns -ENOENT if it isn't.
	 */
	int (*forget)(struct object *o, struct error *err);
	int (*make)(struct object *o, uint32_t count, struct error *err);
	int (*shut)(struct object *o, struct error *err);
	int (*hold)(struct object *o, struct error *err);
	int (*read_back)(struct object *o, uint32_t i, size_t *len, struct error *err);
	int (*is_there)(struct object *o, uint32_t i, struct error *err);
};

extern const struct store storage_ree_fs, storage_rpmb, storage_memory, storage_file,
	storage_file_fsync;
/* All of these; NULL ends them. */
extern const struct store *const stores[];
/* The operations' names: "create", …; NULL ends them. */
extern const char *const storage_ops[];

/* For a store's prepare(): sets what the case is to do, and its bytes; storage_end() frees them. */
int storage_begin(struct bench_case *c, struct error *err);
void storage_end(struct object *o);

/* These are for struct workload, and take the store's steps. */
int storage_ready(void *state, uint32_t loops, struct error *err);
int storage_check(void *state, struct error *err);
