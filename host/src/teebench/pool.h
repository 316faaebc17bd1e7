/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases share workplaces. A workplace is a session of a backend, with its buffers. Sharing spares the small
 * memory of the secure world, and keeps the cost of opening sessions out of the cases.
 */
#pragma once

#include "backend.h"

/* The use of a workplace. Uses that would disturb each other have workplaces of their own. */
enum workplace_use {
	WORKPLACE_NONE,      /* the case needs no workplace */
	WORKPLACE_DIGEST,    /* `in` holds pool_message(), which nobody overwrites */
	WORKPLACE_PIECES,    /* digests of data that is read into `in` */
	WORKPLACE_SHM,       /* one shared buffer at a time, which is the owner's */
	WORKPLACE_KEYED,     /* `in`, `out` and the key are the owner's */
	WORKPLACE_SAME_CODE, /* `in` holds pool_message(), which nobody overwrites */
	WORKPLACE_STORAGE,   /* the open object is the owner's */
	WORKPLACE_RANDOM,    /* random bytes are written to `out` */
	WORKPLACE_ASYM,      /* `in`, `out` and the key are the owner's */
	WORKPLACE_USES,
};

struct bench_case;

struct workplace {
	const struct backend *backend;
	enum workplace_use use;
	struct session *session;
	struct buffer in, out;
	struct bench_case *owner; /* the case whose data and key are on the workplace, or NULL */

	/* The members below are for the pool alone. */
	size_t reserved; /* largest size that was reserved, in bytes */
	bool tried;      /* opening was tried */
	struct error error;
	struct error memory_error; /* why no larger buffer could be allocated */
	bool reported;             /* the time of its opening was recorded */
};

enum { POOL_MAX = 160 }; /* most workplaces of a run, for 12 backends and the kernel's drivers */

struct pool {
	struct workplace workplaces[POOL_MAX];
	size_t count;
	/* Whether the RPMB partition may be used, which may program its key, once and for good. */
	bool allow_rpmb;
};

/*
 * Announces, before any workplace is opened, that this workplace will need buffers of `size` bytes. A
 * WORKPLACE_KEYED gets additional room for a tag or a MAC.
 */
int pool_reserve(struct pool *pool, const struct backend *backend, enum workplace_use use,
		 size_t size, struct error *err);

/*
 * Opens the workplace at the first call; later calls return the first call's result. The buffers have
 * the largest reserved size or, if there is no memory for that, at least `need` bytes. Their
 * addresses change if they grow for another case.
 */
int pool_workplace(struct pool *pool, const struct backend *backend, enum workplace_use use,
		   size_t need, struct workplace **workplace, struct error *err);

/* Returns true if the workplace has the buffers of its use, with `need` bytes of room or more. */
bool workplace_has_room(const struct workplace *workplace, size_t need);

/* Returns the session with the TA behind a workplace; NULL if no TA computes there or `workplace` is NULL. */
struct tee_session *workplace_ta(const struct workplace *workplace);

/*
 * Writes the message: `len` pseudorandom bytes, the same in all cases; a short message is the
 * beginning of a long one. A signal that ends the run leaves the message unfinished.
 */
void pool_message(uint8_t *data, size_t len);

void pool_close(struct pool *pool);
