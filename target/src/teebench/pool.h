/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What cases share: one session and one buffer a backend. The secure world's
 * memory is small, and what is shared is opened once, its cost kept apart.
 */
#ifndef POOL_H
#define POOL_H

#include "backend.h"

enum { POOL_MAX = 16 };

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

struct pool {
	struct pool_entry entries[POOL_MAX];
	size_t count;
};

/* Before anything is opened: this backend will need a buffer of that size. */
int pool_reserve(struct pool *pool, const struct backend *backend, size_t size,
		 struct error *err);

/* Opens at the first call; the same answer ever after. */
int pool_session(struct pool *pool, const struct backend *backend,
		 struct session **session, struct error *err);

/*
 * The backend's buffer, of the largest size reserved, filled with
 * pool_message(). Nobody writes to it.
 */
int pool_buffer(struct pool *pool, const struct backend *backend,
		const struct buffer **buffer, struct error *err);

/* The message: the same bytes everywhere, a shorter one begins the same. */
void pool_message(uint8_t *data, size_t len);

void pool_close(struct pool *pool);

#endif
