/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores for objects: the bench TA, files, and arrays in memory. workload_storage.c orders the
 * steps around an operation, for all stores alike; each store implements the steps.
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
	STORAGE_TRUNCATE, /* to half its size */
	STORAGE_DELETE,
	STORAGE_OPEN_READ_CLOSE,
	STORAGE_OPS,
};

/* Largest number of objects that a store makes before a sample, one for each call. */
enum { OBJECTS_MAX = 64 };

/* The state (c->state) of a case of workload storage. */
struct object {
	const struct store *store;
	enum storage_op op;
	size_t bytes;
	char name[32]; /* a name that no other case uses */
	uint8_t *data; /* the bytes that the object should hold */
	uint8_t *back; /* buffer for reading; in the TEE's call it is the workplace's */
	uint32_t made; /* number of objects that may exist */
	/* State of the case's store, which no other code uses. */
	union {
		uint8_t *arrays[OBJECTS_MAX]; /* NULL: deleted, or never created */
		struct {
			int dir;
			int fds[OBJECTS_MAX]; /* -1: the file isn't open */
			bool renamed;
		} files;
		struct {
			uint32_t storage;
			char names[2][64]; /* name before and after renaming; one is shared */
			unsigned name;     /* index of the object's present name */
			bool open;         /* the object is open, if the case owns the workplace */
			uint32_t size;     /* in bytes, as the last OPEN returned it */
			TEEC_Operation op;
		} tee;
	};
};

/* A store for objects. In its functions, c->state is a struct object. */
struct store {
	const char *name;  /* name in case keys, in the backend's place */
	const char *title; /* name in reports */
	bool secure;       /* the secure world stores the objects */
	/* Largest number of objects that it can make before a sample, one for each call. */
	uint32_t made_max;
	/* Reserves buffers for objects of `bytes` bytes, in parse(); NULL: none are needed. */
	int (*reserve)(struct pool *pool, size_t bytes, struct error *err);

	/*
	 * open() removes objects that a killed run may have left, and makes object 0, which stays
	 * open. close() is called when no object is left; NULL: there is nothing to do.
	 */
	int (*open)(struct bench_case *c, struct error *err);
	void (*close)(struct bench_case *c);

	/* Does the operation of the case on object i; this call is timed. */
	int (*once)(struct bench_case *c, uint32_t i, struct error *err);

	/*
	 * Untimed steps. create() makes object i, replaces an existing one, and leaves it open if
	 * the operation needs that. forget() deletes object i if it exists. shut() closes the
	 * object, hold() opens it, and arrange() sets the operation's parameters. read_back() opens
	 * object i anew, and copies its bytes to ->back and its length to *len; -ENOENT if there is
	 * none. checked() gets the result `ret` of a check, and returns the result to report.
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
/* All stores; NULL ends the list. */
extern const struct store *const stores[];
