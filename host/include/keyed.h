/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A backend for algorithms with a key: ciphers, AEADs and MACs. The sibling of
 * struct backend, which is for digests; a session has one key at a time.
 *
 * To add one: a file that defines a `const struct keyed_backend`, and a line
 * in keyed_backends[] (keyed.c).
 */
#ifndef KEYED_H
#define KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <teemark/algorithms.h>

#include "error.h"

/* For a tag after the message, or a MAC that is longer than it. */
#define KEYED_ROOM_BYTES ALG_DIGEST_MAX_BYTES

/* The head of a backend's session. */
struct keyed {
	/*
	 * Memory that the backend reads and writes without a copy: `size`
	 * bytes each, KEYED_ROOM_BYTES more than was asked for.
	 */
	uint8_t *in;
	uint8_t *out;
	size_t size;
};

/* What is to be done. All of it belongs to the caller, and stays. */
struct keyed_job {
	const struct algorithm *alg;
	bool decrypt;
	const uint8_t *key; /* key_bytes of the row */
	const uint8_t *iv;  /* iv_bytes of the row */
	size_t len; /* of the message; AEADs that decrypt: and its tag */
};

/* Bytes of the result: an AEAD's tag follows what it encrypted. */
size_t keyed_result_len(const struct keyed_job *job);

/* Those of a cipher, each a call of its own where it can be. */
enum keyed_step {
	KEYED_PREPARE,
	KEYED_SET_KEY,
	KEYED_SET_IV,
	KEYED_CIPHER_BUFFER, /* goes on with the message */
};

struct tee_session;

struct keyed_backend {
	const char *name; /* as in case keys */

	/*
	 * -errno with the reason (err->skip set where this machine cannot).
	 * Who opens closes; close() accepts NULL.
	 */
	int (*open)(struct keyed **k, size_t size, struct error *err);
	void (*close)(struct keyed *k);

	/*
	 * The key, and the direction of ciphers. -EOPNOTSUPP and err->skip
	 * "unsupported-algorithm": it has no such algorithm.
	 */
	int (*set_up)(struct keyed *k, const struct keyed_job *job,
		      struct error *err);
	/*
	 * Whole messages, `repeat` times the same, from k->in to k->out; after
	 * set_up() with the same key and direction; IV and length may be
	 * others. -EBADMSG: the tag is wrong.
	 */
	int (*message)(struct keyed *k, const struct keyed_job *job,
		       uint32_t repeat, struct error *err);
	/* Longest message; NULL: whatever there is memory for. */
	size_t (*len_max)(const struct keyed *k, const struct keyed_job *job);

	/*
	 * Of ciphers: what leads to a step (its parameters, put where the
	 * backend takes them), and the step alone. A step that this backend
	 * has not: -EOPNOTSUPP with err->skip "no-step". Both NULL: no steps.
	 */
	int (*arrange)(struct keyed *k, const struct keyed_job *job,
		       enum keyed_step step, struct error *err);
	int (*step)(struct keyed *k, const struct keyed_job *job,
		    enum keyed_step step, struct error *err);

	/* The session with the TA behind it (ta_counter.h); NULL: no TA. */
	struct tee_session *(*tee)(struct keyed *k);
};

/* NULL-terminated: tee, openssl, afalg, c. */
extern const struct keyed_backend *const keyed_backends[];
const struct keyed_backend *keyed_backend_by_name(const char *name);

/* in and out of ordinary memory; for backends. */
int keyed_memory(struct keyed *k, size_t size, struct error *err);
void keyed_memory_free(struct keyed *k);

#endif
