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

struct session; /* a backend's own */
struct tee_session;

/*
 * Memory that a backend reads without a copy: an allocated shared buffer for
 * the TEE, plain memory elsewhere. Allocated once, used for many calls.
 */
struct buffer {
	uint8_t *data;
	size_t size; /* bytes */
	void *priv;  /* the backend's own */
};

struct open_cost {
	uint64_t context_ns; /* connecting to the TEE */
	uint64_t session_ns; /* opening the session, TA load included */
	uint64_t invoke_ns;  /* the very first call in it */
};

/* What a session's TA tells of itself; -1: not known, and why not. */
struct session_facts {
	int64_t stack_peak; /* bytes */
	int64_t stack_size;
	int64_t heap_peak;
	int64_t heap_size;
	char stack_reason[160];
	char heap_reason[160];
};

struct backend {
	const char *name;    /* as in case keys: "tee", "ta-ce", … */
	const char *summary; /* one line for --list */

	/*
	 * A call goes into another world, so that many calls and one that
	 * repeats are two things. Elsewhere both are a loop in here.
	 */
	bool crosses;

	/*
	 * Can this machine run it at all? 0, or -errno with the reason in
	 * err, err->skip set. Changes nothing and costs little (a TEE backend
	 * opens no session here).
	 */
	int (*probe)(struct error *err);

	/* Who opens closes; close() accepts NULL. */
	int (*open)(struct session **session, struct error *err);
	void (*close)(struct session *session);

	/*
	 * 0, or -errno with the reason (-EOPNOTSUPP and err->skip
	 * "unsupported-algorithm": no such algorithm). Drops a message that
	 * is under way in this session.
	 */
	int (*supports)(struct session *session, const struct algorithm *alg,
			struct error *err);

	int (*buffer_alloc)(struct session *session, size_t size,
			    struct buffer *buffer, struct error *err);
	/*
	 * The same of ordinary memory, which crosses as a temporary memory
	 * reference, mapped anew at every call: for comparison only. NULL
	 * where buffer_alloc() gives ordinary memory anyway.
	 */
	int (*buffer_plain)(struct session *session, size_t size,
			    struct buffer *buffer, struct error *err);
	/* Frees either kind. */
	void (*buffer_free)(struct session *session, struct buffer *buffer);

	/*
	 * Digest of len bytes at in->data + offset, `repeat` times over (a
	 * loop here; one call that loops inside for a TA). out: out_bytes of
	 * the algorithm's row. `in` is of this session's buffer_alloc().
	 */
	int (*digest)(struct session *session, const struct algorithm *alg,
		      const struct buffer *in, size_t offset, size_t len,
		      uint8_t *out, uint32_t repeat, struct error *err);

	/*
	 * A message in pieces; one message at a time in a session.
	 * digest_init() drops one that is under way. The last piece, which may
	 * be empty (in may be NULL with len 0), goes to digest_final().
	 */
	int (*digest_init)(struct session *session, const struct algorithm *alg,
			   struct error *err);
	int (*digest_update)(struct session *session, const struct buffer *in,
			     size_t offset, size_t len, struct error *err);
	int (*digest_final)(struct session *session, const struct buffer *in,
			    size_t offset, size_t len, uint8_t *out,
			    struct error *err);

	/* Empty calls; NULL where a call costs nothing to speak of. */
	int (*nop)(struct session *session, uint32_t calls, struct error *err);

	/* What opening took; NULL where opening costs nothing to speak of. */
	void (*open_cost)(const struct session *session,
			  struct open_cost *cost);

	/* Asks the session; NULL where there is nothing to ask. */
	void (*facts)(struct session *session, struct session_facts *facts);

	/* The session with the TA behind it (ta_counter.h); NULL: no TA. */
	struct tee_session *(*tee)(struct session *session);
};

/* NULL-terminated, in the order of --list. */
extern const struct backend *const backends[];
const struct backend *backend_by_name(const char *name);

/* buffer_alloc() and buffer_free() of backends that read plain memory. */
int buffer_alloc_plain(struct session *session, size_t size,
		       struct buffer *buffer, struct error *err);
void buffer_free_plain(struct session *session, struct buffer *buffer);

#endif
