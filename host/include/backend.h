/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A backend: who computes digests, ciphers and MACs, or gives random bytes.
 *
 * To add one: a file that defines a `const struct backend`, and a line in
 * backends[] (backends.c). Whatever else shows backends asks this list. A
 * backend knows nothing of measuring; teebench and teehash know nothing of how
 * a backend computes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <teemark/algorithms.h>
#include <teemark/asym.h>

#include "error.h"

struct kernel_driver;
struct kernel_drivers;
struct session; /* a backend's own */
struct tee_session;

/* Memory that it reads and writes without a copy: shared with the TEE, or plain. */
struct buffer {
	uint8_t *data;
	size_t size; /* bytes */
	void *priv;  /* the backend's own */
};

/* The most memory that a TA has used, and how much it has; -1: not known, and why not. */
struct peak {
	int64_t bytes, of;
	char reason[160];
};

/* The figures that a TA tells of itself. */
struct session_facts {
	struct peak stack, heap;
};

/* A message with a key. All of it belongs to the caller, and stays. */
struct keyed_job {
	const struct algorithm *alg;
	bool decrypt;
	const uint8_t *key; /* key_bytes of the row */
	const uint8_t *iv;  /* iv_bytes of the row */
	size_t len;         /* of the message; AEADs that decrypt: and its tag */
	/* The message, and room for the result, of this session's memory. */
	const struct buffer *in, *out;
};

/* Returns the bytes of the result: an AEAD's tag follows what it encrypted. */
size_t keyed_result_len(const struct keyed_job *job);

/* The steps of a cipher, each a call of its own where it can be. */
enum keyed_step {
	KEYED_PREPARE,
	KEYED_SET_KEY,
	KEYED_SET_IV,
	KEYED_CIPHER_BUFFER, /* goes on with the message */
	KEYED_STEPS,
};

/*
 * An operation with an asymmetric key. `in` and `out` are of the session's
 * memory, ASYM_BUFFER_BYTES each. What goes in begins in->data; the key, as
 * asym.h lays it out, is where asym_key_in() says. `out` takes the result, or
 * holds the signature that is to be verified.
 */
struct asym_job {
	const struct asym_algorithm *alg;
	enum asym_use use;
	size_t key_len, in_len;
	size_t out_len; /* of the signature to verify, or of the result */
	const struct buffer *in, *out;
};

enum { ASYM_KEY_AT = ASYM_IN_MAX_BYTES, ASYM_SEED_KEY_AT = 2048, ASYM_BUFFER_BYTES = 8192 };

/* Returns where the key lies: behind what goes in, which is longer after the quantum. */
static inline uint8_t *asym_key_in(const struct asym_job *job)
{
	return job->in->data + (job->alg->kind == ASYM_SEED ? ASYM_SEED_KEY_AT : ASYM_KEY_AT);
}

/* The steps of an operation, each a call of its own where it can be. */
enum asym_step {
	ASYM_ALLOCATE,
	ASYM_IMPORT,
	ASYM_PREPARE, /* gives the key to the operation */
	ASYM_OPERATE, /* -EBADMSG: the signature is wrong */
	ASYM_STEPS,
};

/* A session is opened for one of these. */
enum backend_use { USE_DIGESTS, USE_KEYS, USE_RANDOM, USE_ASYM };

struct backend {
	const char *name;    /* as in case keys: "tee", "ta-ce", … */
	const char *title;   /* as reports call it, in two or three words */
	const char *summary; /* one line for --list */

	bool crosses; /* a call goes into the secure world */
	bool local;   /* it computes in this process */
	/* A device may do the work: what the machine did is recorded. */
	bool may_offload;
	/*
	 * The environment's variable and value without which it uses the CPU's
	 * crypto instructions, where there are some; or NULL.
	 */
	const char *(*mask)(const char **value);
	/* DRIVER of "afalg:DRIVER"; DRIVER_ANY can't be opened. NULL: any. */
	const char *driver;
	/* Finds the kernel's driver that computes the algorithm (NULL: random bytes). */
	int (*driver_of)(const struct algorithm *alg, const char *driver,
			 struct kernel_driver *found, struct error *err);
	/*
	 * Finds all drivers that could compute it; the caller frees the list. NULL: there is no
	 * choice, and no driver can be named.
	 */
	int (*drivers_of)(const struct algorithm *alg, struct kernel_drivers *found,
			  struct error *err);

	/*
	 * Returns 0 if this machine can run it, else an error with err->skip. Opens no session.
	 * NULL: every machine can.
	 */
	int (*probe)(struct error *err);

	/*
	 * The sessions that it has are bits 1u << USE_… of `uses`. backend_open() makes one of
	 * session_bytes zeros, which open() fills; close() releases what open() has put there, also
	 * when that failed midway. NULL: nothing to do.
	 */
	unsigned uses;
	unsigned code; /* the backend's own: which of its implementations computes */
	size_t session_bytes;
	int (*open)(struct session *session, const struct backend *self, enum backend_use use,
		    struct error *err);
	void (*close)(struct session *session);

	/* Memory that crosses without a copy; its priv isn't NULL. NULL: plain memory does. */
	int (*buffer_alloc)(struct session *session, size_t size, struct buffer *buffer,
			    struct error *err);
	void (*buffer_free)(struct session *session, struct buffer *buffer);

	/* Digests, algorithms of class ALG_DIGEST, in a session of USE_DIGESTS. */

	/*
	 * Computes the digest of the first len bytes of `in`, `repeat` times over (in a loop here,
	 * or in one call that loops inside for a TA). `out` takes out_bytes of the algorithm's row.
	 * `in` is of this session's buffer_alloc(), or ordinary memory with priv NULL.
	 */
	int (*digest)(struct session *session, const struct algorithm *alg, const struct buffer *in,
		      size_t len, uint8_t *out, uint32_t repeat, struct error *err);
	/*
	 * Hash a message in pieces, one message at a time in a session. digest_init() drops one
	 * that is under way; it returns -EOPNOTSUPP with err->skip "unsupported-algorithm" if the
	 * backend has no such algorithm. The last piece, which may be empty, goes to
	 * digest_final().
	 */
	int (*digest_init)(struct session *session, const struct algorithm *alg, struct error *err);
	int (*digest_update)(struct session *session, const struct buffer *in, size_t offset,
			     size_t len, struct error *err);
	int (*digest_final)(struct session *session, const struct buffer *in, size_t offset,
			    size_t len, uint8_t *out, struct error *err);

	/* Ciphers, AEADs and MACs, in a session of USE_KEYS: one key at a time. */

	/* The key, and the direction of ciphers. Fails as digest_init() does. */
	int (*set_up)(struct session *session, const struct keyed_job *job, struct error *err);
	/*
	 * Takes a whole message, `repeat` times the same, after set_up() with the same key and
	 * direction; IV and length may be others. -EBADMSG: the tag is wrong.
	 */
	int (*message)(struct session *session, const struct keyed_job *job, uint32_t repeat,
		       struct error *err);
	/* Returns the longest message; NULL: whatever there is memory for. */
	size_t (*len_max)(const struct session *session, const struct keyed_job *job);
	/* Put the parameters of a cipher's step (NULL: none); do it. */
	void (*arrange)(struct session *session, const struct keyed_job *job, enum keyed_step step);
	int (*step)(struct session *session, const struct keyed_job *job, enum keyed_step step,
		    struct error *err);
	/* Why it has no such step; NULL: it has. */
	const char *no_step[KEYED_STEPS];

	/* Draws len random bytes to out, `repeat` times, in a session of USE_RANDOM. */
	int (*random)(struct session *session, const struct buffer *out, size_t len,
		      uint32_t repeat, struct error *err);

	/*
	 * Asymmetric keys, in a session of USE_ASYM: one key at a time. generate() takes
	 * the place of ASYM_IMPORT; public_key() writes its public part. Without generate() it is
	 * asked for whole operations alone, and checks no other backend.
	 */
	int (*asym_step)(struct session *session, struct asym_job *job, enum asym_step step,
			 struct error *err);
	int (*generate)(struct session *session, const struct asym_job *job, struct error *err);
	int (*public_key)(struct session *session, const struct asym_job *job, uint8_t *out,
			  struct error *err);
	/* Asks whether the TEE says that it has the algorithm; it may be wrong. */
	int (*asym_says)(struct session *session, const struct asym_algorithm *alg, bool *says,
			 struct error *err);
	/* Opens a new session in place of one whose TA has died; NULL: none dies. */
	int (*asym_again)(struct session *session, struct error *err);

	/* Every session has these. */

	/* Empty calls; NULL where a call costs nothing to speak of. */
	int (*nop)(struct session *session, uint32_t calls, struct error *err);
	void (*facts)(struct session *session, struct session_facts *facts);
	/* Returns the session with the TA behind it (tee_client.h); NULL: there is no TA. */
	struct tee_session *(*tee)(struct session *session);
};

/* All backends in the order of reports; NULL ends them. Those that hash have `digest`. */
extern const struct backend *const backends[];
/*
 * Returns the backend of that name; one with a driver, such as "afalg:sha256-generic", is made when
 * it is first asked for, and kept. NULL: there is none, or no memory.
 */
const struct backend *backend_by_name(const char *name);
#define DRIVER_ANY "*"
/* Returns the i-th backend with a driver that was made; NULL after the last. */
const struct backend *backend_made(size_t i);
/* Returns 0 if this machine can run it, else an error with err->skip. Opens no session. */
int backend_probe(const struct backend *backend, struct error *err);
/* Opens a session of the backend; *session is NULL if that fails. */
int backend_open(const struct backend *backend, enum backend_use use, struct session **session,
		 struct error *err);
/* Closes a session; accepts NULL. */
void backend_close(const struct backend *backend, struct session *session);
/*
 * Allocates a buffer in a session of the backend, aligned to a page; without a backend, plain
 * memory. The same backend frees it; a zeroed one is accepted.
 */
int buffer_alloc(const struct backend *backend, struct session *session, size_t size,
		 struct buffer *buffer, struct error *err);
void buffer_free(const struct backend *backend, struct session *session, struct buffer *buffer);

/* Returns -EOPNOTSUPP, "unsupported-algorithm": BACKEND has no ALGORITHM. */
int backend_lacks(const struct backend *backend, const struct algorithm *alg, struct error *err);
