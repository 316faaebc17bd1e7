/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes one message through a session, in one call or as a stream of pieces. */
#pragma once

#include "session.h"

enum hash_mode {
	MODE_AUTO, /* one call if the message fits, otherwise a stream */
	MODE_STREAM,
	MODE_ONESHOT,
};

/* Names of the modes: "auto", …; NULL ends the list. */
extern const char *const hash_modes[];

#define ONESHOT_LIMIT     (4u << 20)
#define ONESHOT_LIMIT_MAX (1u << 30)

struct stream_settings {
	enum hash_mode mode;
	size_t oneshot_limit; /* longest message for one call, in bytes */
	bool cold;            /* drop the file from the page cache first */
};

/* Names of the two ways in which a message is hashed. */
extern const char way_oneshot[], way_stream[];

/* The figures of a message; times in ns of the client's clock. */
struct file_stats {
	uint64_t bytes;
	uint64_t total_ns;  /* from opening the file to the digest */
	uint64_t open_ns;   /* open, fstat, advice */
	uint64_t read_ns;   /* in read(), in any thread */
	uint64_t inline_ns; /* part of read_ns: in the thread that hashes */
	uint64_t wait_ns;   /* waiting for the reader thread */
	uint64_t call_ns;   /* in calls of the backend */
	uint64_t setup_ns;  /* enlarging the buffer, reopening a session */
	uint64_t hash_ns;   /* from the first read to the digest */
	uint64_t reads;     /* calls of read() */
	uint64_t calls;     /* calls of the backend */
	const char *way;    /* one of way_…; NULL: not hashed */
	bool missing;       /* the file doesn't exist */
};

struct message {
	/* input: */
	char *name; /* "-": standard input */
	const struct algorithm *alg;
	uint8_t expected[ALG_DIGEST_MAX_BYTES]; /* in a check: for the caller of stream_hash() */
	/* result: */
	bool hashed; /* the worker is done with it; for run.c */
	int ret;
	struct error err;
	uint8_t digest[ALG_DIGEST_MAX_BYTES]; /* valid only if ret is 0 */
	struct file_stats stats;
};

/*
 * Hashes a message and fills in its result. m->ret is 0, or -errno with the reason in m->err:
 * -EINTR when told to stop, -ESTALE when the file changed meanwhile. If the backend fails, the next
 * message gets a new session.
 */
void stream_hash(struct hash_session *session, const struct stream_settings *settings,
		 struct message *m);
