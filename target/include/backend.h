/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A backend: who computes.
 *
 * To add one: a file that defines a `const struct backend`, and a line in
 * backends[] (backends.c). A backend knows nothing of measuring; teebench and
 * teehash know nothing of how a backend computes.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <teemark/algorithms.h>

#include "error.h"

struct session;			/* a backend's own */

/*
 * Memory that a backend reads without a copy: an allocated shared buffer for
 * the TEE, plain memory elsewhere. Allocated once, used for many calls.
 */
struct buffer {
	uint8_t *data;
	size_t size;		/* bytes */
	void *priv;		/* the backend's own */
};

struct backend {
	const char *name;	/* as in case keys: "tee", "ta-ce", … */
	const char *summary;	/* one line for --list */

	/*
	 * Can this machine run it at all? 0, or -errno with the reason in
	 * err. Changes nothing and costs little (a TEE backend opens no
	 * session here).
	 */
	int (*probe)(struct error *err);

	/* Who opens closes; close() accepts NULL. */
	int (*open)(struct session **session, struct error *err);
	void (*close)(struct session *session);

	/* 0, or -errno with the reason (-EOPNOTSUPP: no such algorithm). */
	int (*supports)(struct session *session, const struct algorithm *alg,
			struct error *err);

	int (*buffer_alloc)(struct session *session, size_t size,
			    struct buffer *buffer, struct error *err);
	void (*buffer_free)(struct session *session, struct buffer *buffer);

	/*
	 * Digest of len bytes at in->data + offset, `repeat` times over (a
	 * loop here; one call that loops inside for a TA). out: out_bytes of
	 * the algorithm's row.
	 */
	int (*digest)(struct session *session, const struct algorithm *alg,
		      const struct buffer *in, size_t offset, size_t len,
		      uint8_t *out, uint32_t repeat, struct error *err);

	/* A message in pieces; one message at a time in a session. */
	int (*digest_init)(struct session *session,
			   const struct algorithm *alg, struct error *err);
	int (*digest_update)(struct session *session, const struct buffer *in,
			     size_t offset, size_t len, struct error *err);
	int (*digest_final)(struct session *session, const struct buffer *in,
			    size_t offset, size_t len, uint8_t *out,
			    struct error *err);

	/* An empty call; NULL where a call costs nothing to speak of. */
	int (*nop)(struct session *session, struct error *err);
};

/* NULL-terminated, in the order of --list. */
extern const struct backend *const backends[];
const struct backend *backend_by_name(const char *name);

#endif
