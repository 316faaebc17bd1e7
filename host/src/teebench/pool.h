/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases share desks. A desk is a session of a backend, with its buffers. Sharing spares the small
 * memory of the secure world, and keeps the cost of opening sessions out of the cases.
 */
#pragma once

#include "backend.h"

/* The use of a desk. Uses that would disturb each other have desks of their own. */
enum desk_use {
	DESK_NONE,      /* the case needs no desk */
	DESK_DIGEST,    /* `in` holds pool_message(), which nobody overwrites */
	DESK_PIECES,    /* digests of data that is read into `in` */
	DESK_SHM,       /* one shared buffer at a time, which is the owner's */
	DESK_KEYED,     /* `in`, `out` and the key are the owner's */
	DESK_SAME_CODE, /* `in` holds pool_message(), which nobody overwrites */
	DESK_STORAGE,   /* the open object is the owner's */
	DESK_RANDOM,    /* random bytes are written to `out` */
	DESK_ASYM,      /* `in`, `out` and the key are the owner's */
	DESK_USES,
};

struct bench_case;

struct desk {
	const struct backend *backend;
	enum desk_use use;
	struct session *session;
	struct buffer in, out;
	struct bench_case *owner; /* the case whose data and key are on the desk, or NULL */

	/* The members below are for the pool alone. */
	size_t reserved; /* largest size that was reserved, in bytes */
	bool tried;      /* opening was tried */
	struct error error;
	struct error memory_error; /* why no larger buffer could be allocated */
	bool reported;             /* the time of its opening was recorded */
};

enum { POOL_MAX = 160 }; /* most desks of a run, for 12 backends and the kernel's drivers */

struct pool {
	struct desk desks[POOL_MAX];
	size_t count;
	/* Whether the RPMB partition may be used, which may program its key, once and for good. */
	bool allow_rpmb;
};

/*
 * Announces, before any desk is opened, that this desk will need buffers of `size` bytes. A
 * DESK_KEYED gets additional room for a tag or a MAC.
 */
int pool_reserve(struct pool *pool, const struct backend *backend, enum desk_use use, size_t size,
		 struct error *err);

/*
 * Opens the desk at the first call; later calls return the first call's result. The buffers have
 * the largest reserved size or, if there is no memory for that, at least `need` bytes. Their
 * addresses change if they grow for another case.
 */
int pool_desk(struct pool *pool, const struct backend *backend, enum desk_use use, size_t need,
	      struct desk **desk, struct error *err);

/* Returns the session with the TA behind a desk; NULL if no TA computes there or `desk` is NULL. */
struct tee_session *desk_ta(const struct desk *desk);

/*
 * Writes the message: `len` pseudorandom bytes, the same in all cases; a short message is the
 * beginning of a long one. A signal that ends the run leaves the message unfinished.
 */
void pool_message(uint8_t *data, size_t len);

void pool_close(struct pool *pool);
