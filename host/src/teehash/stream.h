/* SPDX-License-Identifier: BSD-2-Clause */
/* The way of one message through a session: one call, or a stream of pieces. */
#pragma once

#include "session.h"

enum hash_mode {
	MODE_AUTO, /* one call if the message fits, else a stream */
	MODE_STREAM,
	MODE_ONESHOT,
	MODE_TMPREF, /* for comparison: a stream out of one plain buffer */
};

/* The modes' names: "auto", …; NULL ends them. */
extern const char *const hash_modes[];

#define ONESHOT_LIMIT     (4u << 20)
#define ONESHOT_LIMIT_MAX (1u << 30)

struct stream_settings {
	enum hash_mode mode;
	size_t oneshot_limit; /* most that goes in one call */
	bool cold;            /* drop the file from the page cache first */
	bool ask_page_cache;
};

/* The ways that a message may go; each is its name. */
extern const char way_oneshot[], way_stream[];

/* The figures of a message; times in ns of the client's clock. */
struct file_stats {
	uint64_t bytes;
	uint64_t total_ns;       /* opening the file … digest */
	uint64_t open_ns;        /* open, fstat, advice, page-cache query */
	uint64_t read_ns;        /* in read(), whichever thread */
	uint64_t inline_ns;      /* of these: in the thread that calls */
	uint64_t wait_ns;        /* waited for the reader thread */
	uint64_t call_ns;        /* in calls of the backend */
	uint64_t setup_ns;       /* enlarging the buffer, reopening a session */
	uint64_t hash_ns;        /* first byte asked for … digest there */
	uint64_t reads;          /* calls of read() */
	uint64_t calls;          /* calls of the backend */
	struct page_cache cache; /* before it was read */
	const char *way;         /* NULL: none */
	bool missing;            /* there is no such file */
};

struct message {
	/* what to hash */
	char *name; /* "-": standard input */
	const struct algorithm *alg;
	uint8_t expected[ALG_DIGEST_MAX_BYTES]; /* of a check: for who made the message */
	/* what came of it */
	bool hashed; /* by a worker: for run.c */
	int ret;
	struct error err;
	uint8_t digest[ALG_DIGEST_MAX_BYTES]; /* only if ret is 0 */
	struct file_stats stats;
};

/*
 * Fills in what came of the message. ret: 0, or -errno with the reason in err;
 * -EINTR when told to stop, -ESTALE when the file changed meanwhile. After a
 * failure of the backend the next message gets a new session.
 */
void stream_hash(struct hash_session *session, const struct stream_settings *settings,
		 struct message *m);
