/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench TA, files, or arrays beside it store objects. What every operation needs before a call
 * and is checked for after it is the same for all (workload_storage.c); a store brings the steps.
 */
#pragma once

#include <tee_client_api.h>

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

/* Most objects that a store makes beforehand, for as many calls. */
enum { OBJECTS_MAX = 64 };

/* The state of a case. */
struct object {
	const struct store *store;
	enum storage_op op;
	size_t bytes;
	char name[32]; /* that no other case has */
	uint8_t *data; /* what it should hold */
	uint8_t *back; /* where it is read to; the TEE reads to the desk */
	uint32_t made; /* objects that may be there */
	/* The store's own. */
	union {
		uint8_t *arrays[OBJECTS_MAX]; /* NULL: deleted, or never created */
		struct {
			int dir;
			int fds[OBJECTS_MAX]; /* -1: not open */
			bool renamed;
		} files;
		struct {
			uint32_t storage;
			char names[2][64]; /* one of them is in the shared memory at a time */
			unsigned name;     /* which of them it has */
			bool open;         /* when it is ours */
			uint32_t size;     /* as OPEN told */
			TEEC_Operation op;
		} tee;
	};
};

/* A store. The c->state of its functions is a struct object. */
struct store {
	const char *name;  /* as the backend in case keys */
	const char *title; /* as reports call it */
	bool secure;       /* the secure world stores it */
	/* It can make so many objects beforehand, for as many calls. */
	uint32_t made_max;
	/* Reserves memory for parse(); or NULL. */
	int (*reserve)(struct pool *pool, size_t bytes, struct error *err);
	/* probe() of struct workload; NULL: open() stores nothing that stays. */
	int (*probe)(struct bench_case *c, struct error *err);

	/*
	 * open() makes object 0, which stays open, and removes what a run that was killed may have
	 * left. close() is called when no object is left; NULL: there is nothing to do.
	 */
	int (*open)(struct bench_case *c, struct error *err);
	void (*close)(struct bench_case *c);

	/* The operation on object i. */
	int (*once)(struct bench_case *c, uint32_t i, struct error *err);

	/*
	 * Untimed steps. create() makes object i in place of one that may be there, open where the
	 * operation wants that; forget() deletes it, whether there is one or not. shut() closes the
	 * object, hold() opens it, and arrange() sets the parameters of the operation. read_back()
	 * opens object i anew, and puts all of it to ->back and its length to *len; -ENOENT: there
	 * is none. checked() gets the result of a check, `ret`, and returns what is to be reported.
	 * shut(), hold(), arrange() and checked() may be NULL: there is nothing to do.
	 */
	int (*create)(struct bench_case *c, uint32_t i, struct error *err);
	int (*forget)(struct bench_case *c, uint32_t i, struct error *err);
	int (*shut)(struct bench_case *c, struct error *err);
	int (*hold)(struct bench_case *c, struct error *err);
	void (*arrange)(struct bench_case *c);
	int (*read_back)(struct bench_case *c, uint32_t i, size_t *len, struct error *err);
	int (*checked)(struct bench_case *c, int ret, struct error *err);
};

extern const struct store storage_ree_fs, storage_rpmb, storage_memory, storage_file,
	storage_file_fsync;
/* All of these; NULL ends them. */
extern const struct store *const stores[];
