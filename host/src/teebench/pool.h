/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases share desks, each a session of a backend with its buffers. The secure world's memory is
 * small, and what is shared is opened once, its cost kept apart.
 */
#pragma once

#include "backend.h"

/* The uses of a desk: those that would disturb each other are apart. */
enum desk_use {
	DESK_NONE,      /* a case without one */
	DESK_DIGEST,    /* `in` holds pool_message(): nobody writes to it */
	DESK_PIECES,    /* digests of what is read into `in` */
	DESK_SHM,       /* one shared buffer at a time, the owner's */
	DESK_KEYED,     /* `in` and `out` are the owner's, and the key */
	DESK_SAME_CODE, /* `in` holds pool_message(): nobody writes to it */
	DESK_STORAGE,   /* the object that is open is the owner's */
	DESK_RANDOM,    /* to `out` */
	DESK_ASYM,      /* `in` and `out` are the owner's, and the key */
	DESK_USES,
};

struct bench_case;

struct desk {
	const struct backend *backend;
	enum desk_use use;
	struct session *session;
	struct buffer in, out;
	struct bench_case *owner; /* whose things lie on it, or NULL */

	/* The pool's own. */
	size_t reserved; /* largest size asked for */
	bool tried;      /* to open */
	struct error error;
	struct error memory_error; /* why there is no larger buffer */
	bool reported;             /* its opening was recorded */
};

enum { POOL_MAX = 160 }; /* 12 backends, the kernel's drivers apart */

struct pool {
	struct desk desks[POOL_MAX];
	size_t count;
	/* An RPMB partition may be written to, which can be for good. */
	bool allow_rpmb;
};

/*
 * Says, before anything is opened, that this desk will need buffers of that size; a DESK_KEYED also
 * gets room for a tag after the message, or a MAC longer than it.
 */
int pool_reserve(struct pool *pool, const struct backend *backend, enum desk_use use, size_t size,
		 struct error *err);

/*
 * Opens the desk at the first call; later calls return what the first one did. Its buffers have the
 * largest size that was reserved; where there is no memory for that, `need` bytes or more. Their
 * addresses change when they grow for another case.
 */
int pool_desk(struct pool *pool, const struct backend *backend, enum desk_use use, size_t need,
	      struct desk **desk, struct error *err);

/* Returns the session with the TA behind a desk; NULL if no TA computes there, or `desk` is NULL. */
struct tee_session *desk_ta(const struct desk *desk);

/*
 * Writes the message: the same bytes everywhere, and a shorter one begins the same. It stays
 * unfinished where a signal ends the run.
 */
void pool_message(uint8_t *data, size_t len);

void pool_close(struct pool *pool);
