/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A case with a key: what the workloads that encrypt, decrypt or authenticate
 * have in common.
 */
#ifndef KEYED_CASE_H
#define KEYED_CASE_H

#include "keyed.h"
#include "pool.h"

struct json;
struct tee_session;

/* A session that cases share. */
struct keyed_share {
	const struct keyed_backend *backend;
	struct keyed *k;
	const void *owner; /* the case whose key and message it holds */
};

struct keyed_case {
	struct pool *pool;
	struct keyed_share *share;
	struct keyed_job job;
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	uint8_t *in;   /* the message: job.len bytes */
	uint8_t *want; /* the result; NULL until it is known */
	size_t want_len;
	const char *computed_by; /* the other backend that computed `want` */
};

/* For parse(): memory for messages of so many bytes. */
int keyed_case_reserve(struct pool *pool, const char *backend_name,
		       uint64_t bytes, struct error *err);

/*
 * bytes: of what is encrypted or authenticated, or comes of decrypting.
 * keyed_case_free() also after an error, unless *k is NULL.
 */
int keyed_case_open(struct keyed_case **k, struct pool *pool,
		    const char *backend_name, const struct algorithm *alg,
		    bool decrypt, size_t bytes, struct error *err);
void keyed_case_free(struct keyed_case *k);

/* Makes the session this case's: its key and its message, unless it is. */
int keyed_case_claim(struct keyed_case *k, struct error *err);
/* The session is nobody's from here on. */
void keyed_case_disown(struct keyed_case *k);

/*
 * Is the result in the session right? Wipes it, so that a run that writes
 * nothing does not pass by the one before.
 */
int keyed_case_check(struct keyed_case *k, struct error *err);

/*
 * keyed_case_check() against the result of another backend, which must also
 * understand what was encrypted; then published vectors.
 */
int keyed_case_verify(struct keyed_case *k, struct error *err);

/*
 * The session of another backend, set up for a job; NULL: there is none that
 * can do it.
 */
struct keyed_share *keyed_case_other(const struct keyed_case *k,
				     const struct keyed_job *job);

/* The session of its TA; NULL: no TA computes. */
struct tee_session *keyed_case_ta(const struct keyed_case *k);

/* "checked_by": the other backend, or null where there is none. */
void keyed_case_facts(const struct keyed_case *k, struct json *json);

#endif
