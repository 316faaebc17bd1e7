/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What cases share: one session and one buffer a backend. The secure world's
 * memory is small, and what is shared is opened once, its cost kept apart.
 */
#ifndef POOL_H
#define POOL_H

#include "backend.h"

enum { POOL_MAX = 32 };

struct pool_entry {
	const struct backend *backend;
	size_t reserved; /* largest size asked for */
	bool tried;      /* to open */
	int code;        /* of opening: 0 or -errno */
	struct error error;
	struct session *session;
	bool filled;
	int buffer_code;
	struct error buffer_error;
	struct buffer buffer;
	bool reported; /* its opening was recorded */
};

/* Something else that cases share, as a session with another TA. */
struct pool_share {
	const void *kind; /* any address that is this kind's own */
	size_t reserved;
	bool tried;
	int code;
	struct error error;
	void *value;
	void (*close)(void *value);
};

struct pool {
	struct pool_entry entries[POOL_MAX];
	size_t count;
	struct pool_share shares[POOL_MAX];
	size_t n_shares;
	/* May an RPMB partition be written to? That can be for good. */
	bool allow_rpmb;
};

/* Before anything is opened: this backend will need a buffer of that size. */
int pool_reserve(struct pool *pool, const struct backend *backend, size_t size,
		 struct error *err);

/* Opens at the first call; the same answer ever after. */
int pool_session(struct pool *pool, const struct backend *backend,
		 struct session **session, struct error *err);

/*
 * The backend's buffer, filled with pool_message(). It is of the largest size
 * reserved, and where there is no memory for that of `need` bytes or more, not
 * 0; its data moves when it grows for another case. Nobody writes to it.
 */
int pool_buffer(struct pool *pool, const struct backend *backend, size_t need,
		const struct buffer **buffer, struct error *err);

/*
 * The same for what is no backend: reserve a size (0 will do), then take it;
 * open() is called once, with the largest size reserved, and gives the same
 * answer ever after. close() is called by pool_close().
 */
int pool_share_reserve(struct pool *pool, const void *kind, size_t size,
		       struct error *err);
int pool_share(struct pool *pool, const void *kind,
	       int (*open)(const void *kind, size_t size, void **value,
			   struct error *err),
	       void (*close)(void *value), void **value, struct error *err);

/*
 * The message: the same bytes everywhere, a shorter one begins the same. It
 * stays unfinished where a signal ends the run.
 */
void pool_message(uint8_t *data, size_t len);

void pool_close(struct pool *pool);

#endif
