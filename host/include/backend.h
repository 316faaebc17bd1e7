/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A backend computes digests, ciphers, MACs and asymmetric operations, or gives random bytes.
 *
 * To add a backend, write a file that defines a `const struct backend`, and add a line to
 * backends[] (backends.c): everything that shows backends reads this list. A backend doesn't know
 * how it is measured; teebench and teehash don't know how a backend computes.
 */
#pragma once

#include <teemark/algorithms.h>
#include <teemark/asym.h>

#include "error.h"

struct kernel_driver;
struct kernel_drivers;
struct session; /* each backend defines its own */
struct tee_session;

/* Memory that a backend reads and writes without a copy: shared with the TEE, or plain. */
struct buffer {
	uint8_t *data;
	size_t size; /* bytes */
	void *priv;  /* for the backend alone */
};

/* The most memory that a TA has used, and its size, in bytes; -1: not known, for this reason. */
struct peak {
	int64_t bytes, of;
	char reason[160];
};

/* A message with a key. The caller owns all of it, and keeps it until the work is done. */
struct keyed_job {
	const struct algorithm *alg;
	bool decrypt;
	const uint8_t *key; /* key_bytes of the row */
	const uint8_t *iv;  /* iv_bytes of the row */
	size_t len;         /* length of the message; of an AEAD to decrypt: with the tag */
	/* The message, and room for the result, in buffers of the session. */
	const struct buffer *in, *out;
};

/* Returns the length of the result in bytes; an AEAD's ciphertext includes the tag behind it. */
size_t keyed_result_len(const struct keyed_job *job);

/* The steps of a cipher. If the backend allows it, each step is a separate call. */
enum keyed_step {
	KEYED_PREPARE,
	KEYED_SET_KEY,
	KEYED_SET_IV,
	KEYED_CIPHER_BUFFER, /* continues the message */
	KEYED_STEPS,
};

/*
 * An operation with an asymmetric key. `in` and `out` are buffers of the session, ASYM_BUFFER_BYTES
 * each. The input begins at in->data; the key, laid out as asym.h says, begins at asym_key_in().
 * `out` gets the result, or holds the signature to verify.
 */
struct asym_job {
	const struct asym_algorithm *alg;
	enum asym_use use;
	size_t key_len, in_len;
	size_t out_len; /* length of the result, or of the signature to verify */
	const struct buffer *in, *out;
};

enum { ASYM_KEY_AT = ASYM_IN_MAX_BYTES, ASYM_SEED_KEY_AT = 2048, ASYM_BUFFER_BYTES = 8192 };

/* Returns the address of the key, which lies behind the longest input of its kind. */
static inline uint8_t *asym_key_in(const struct asym_job *job)
{
	return job->in->data + (job->alg->kind == ASYM_SEED ? ASYM_SEED_KEY_AT : ASYM_KEY_AT);
}

/* The steps of an asymmetric operation. If the backend allows it, each step is a separate call. */
enum asym_step {
	ASYM_ALLOCATE,
	ASYM_IMPORT,
	ASYM_PREPARE, /* gives the key to the operation */
	ASYM_OPERATE, /* -EBADMSG: the signature is wrong */
	ASYM_STEPS,
};

/* The purpose of a session. */
enum backend_use { USE_DIGESTS, USE_KEYS, USE_RANDOM, USE_ASYM };

struct backend {
	const char *name;    /* as in case keys: "tee", "ta-ce", … */
	const char *title;   /* as reports call it, in two or three words */
	const char *summary; /* one line for --list */

	bool crosses; /* a call goes into the secure world */
	bool local;   /* the work is done in this process */
	/* A device may do the work, so teebench also records what the machine did during calls. */
	bool may_offload;
	/*
	 * Returns the environment variable, and sets *value, that keep this backend from using the
	 * CPU's crypto instructions; NULL: there is no such variable.
	 */
	const char *(*mask)(const char **value);
	/* DRIVER of "afalg:DRIVER"; DRIVER_ANY can't be opened. NULL: the kernel chooses. */
	const char *driver;
	/* Finds the kernel driver that computes `alg` (NULL: random bytes). */
	int (*driver_of)(const struct algorithm *alg, const char *driver,
			 struct kernel_driver *found, struct error *err);
	/*
	 * Finds all kernel drivers that could compute `alg`; the caller frees the list. NULL: the
	 * backend offers no choice of driver.
	 */
	int (*drivers_of)(const struct algorithm *alg, struct kernel_drivers *found,
			  struct error *err);

	/*
	 * Returns 0 if this machine can run it, else an error with err->skip. Opens no session.
	 * NULL: every machine can.
	 */
	int (*probe)(struct error *err);

	/*
	 * `uses` has a bit 1u << USE_… for each kind of session. backend_open() allocates
	 * session_bytes of zeros, which open() fills in; close() releases what open() acquired,
	 * also if open() failed midway. NULL: there is nothing to do.
	 */
	unsigned uses;
	unsigned code; /* for the backend alone: which of its implementations computes */
	size_t session_bytes;
	int (*open)(struct session *session, const struct backend *self, enum backend_use use,
		    struct error *err);
	void (*close)(struct session *session);

	/* Allocates memory passed without a copy (priv not NULL). NULL: plain memory serves. */
	int (*buffer_alloc)(struct session *session, size_t size, struct buffer *buffer,
			    struct error *err);
	void (*buffer_free)(struct session *session, struct buffer *buffer);

	/* Digests, algorithms of class ALG_DIGEST, in a session of USE_DIGESTS. */

	/*
	 * Computes the digest of the first len bytes of `in`, `repeat` times over (in a loop here,
	 * or in one call that loops inside for a TA). `out` gets the digest, out_bytes of the row.
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

	/* Sets the key, and a cipher's direction. Fails as digest_init() does. */
	int (*set_up)(struct session *session, const struct keyed_job *job, struct error *err);
	/*
	 * Computes one whole message `repeat` times, after set_up() with the same key and
	 * direction; the IV and length may differ from set_up()'s. Returns -EBADMSG if the tag is
	 * wrong.
	 */
	int (*message)(struct session *session, const struct keyed_job *job, uint32_t repeat,
		       struct error *err);
	/* Returns the longest message in bytes; NULL: only memory limits it. */
	size_t (*len_max)(const struct session *session, const struct keyed_job *job);
	/* arrange() sets the parameters of a step (NULL: not needed); step() does the step. */
	void (*arrange)(struct session *session, const struct keyed_job *job, enum keyed_step step);
	int (*step)(struct session *session, const struct keyed_job *job, enum keyed_step step,
		    struct error *err);
	/* The reason why the backend lacks a step; NULL: it has the step. */
	const char *no_step[KEYED_STEPS];

	/* Writes len random bytes to `out`, `repeat` times, in a session of USE_RANDOM. */
	int (*random)(struct session *session, const struct buffer *out, size_t len,
		      uint32_t repeat, struct error *err);

	/*
	 * Asymmetric keys, in a session of USE_ASYM: one key at a time. generate() makes a key in
	 * place of ASYM_IMPORT; public_key() writes the public part of that key. A backend without
	 * generate() is measured in whole operations only, and isn't used to check other backends.
	 */
	int (*asym_step)(struct session *session, struct asym_job *job, enum asym_step step,
			 struct error *err);
	int (*generate)(struct session *session, const struct asym_job *job, struct error *err);
	int (*public_key)(struct session *session, const struct asym_job *job, uint8_t *out,
			  struct error *err);
	/* Asks the TEE whether it supports the algorithm. The TEE's answer may be wrong. */
	int (*asym_says)(struct session *session, const struct asym_algorithm *alg, bool *says,
			 struct error *err);
	/* Opens a new session after the TA died; NULL: there is no TA that could die. */
	int (*asym_again)(struct session *session, struct error *err);

	/* Sessions of every kind have the following. */

	/* Makes `calls` empty calls; NULL if the backend's calls have no measurable overhead. */
	int (*nop)(struct session *session, uint32_t calls, struct error *err);
	/* Asks the TA for its stack's high-water mark; NULL: there is no TA. */
	void (*stack)(struct session *session, struct peak *stack);
	/* Returns the backend's session with its TA (tee_client.h); NULL: there is no TA. */
	struct tee_session *(*tee)(struct session *session);
};

/* All backends in the order of reports, ended by NULL. A backend that hashes has `digest`. */
extern const struct backend *const backends[];
/*
 * Returns the backend of that name; NULL if there is none, or no memory. A backend with a driver,
 * such as "afalg:sha256-generic", is made on first request, and kept.
 */
const struct backend *backend_by_name(const char *name);
#define DRIVER_ANY "*"
/* Returns the i-th backend with a driver made so far; NULL after the last. */
const struct backend *backend_made(size_t i);
/* Returns 0 if this machine can run the backend, else an error with err->skip. Opens no session. */
int backend_probe(const struct backend *backend, struct error *err);
/* Opens a session of the backend; *session is NULL if that fails. */
int backend_open(const struct backend *backend, enum backend_use use, struct session **session,
		 struct error *err);
/* Closes a session; accepts NULL. */
void backend_close(const struct backend *backend, struct session *session);
/*
 * Allocates a buffer in a session of the backend, aligned to a page; if `backend` is NULL, in plain
 * memory. buffer_free() takes the same backend, and accepts a zeroed buffer.
 */
int buffer_alloc(const struct backend *backend, struct session *session, size_t size,
		 struct buffer *buffer, struct error *err);
void buffer_free(const struct backend *backend, struct session *session, struct buffer *buffer);

/* Returns -EOPNOTSUPP, with err->skip "unsupported-algorithm" and a sentence that names both. */
int backend_lacks(const struct backend *backend, const struct algorithm *alg, struct error *err);

/* Returns libcrypto's version, such as "OpenSSL 3.0.15 …"; NULL with the reason in err. */
const char *libcrypto_version(struct error *err);
