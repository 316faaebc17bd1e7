/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hashes many messages through one session or through several, a worker for each. All sessions are
 * opened before the first message is hashed, and what they hash keeps its order. Each message is
 * read by one worker alone and ends there, so that none may be a source that others read from, too.
 */
#pragma once

#include "stream.h"

#define RUN_JOBS_MAX 64

enum reader_kind {
	READER_AUTO,   /* a thread if a CPU is spare */
	READER_THREAD, /* reads ahead while a call is under way */
	READER_INLINE, /* reads between calls */
};

/* The kinds' names: "auto", …; NULL ends them. */
extern const char *const reader_kinds[];

struct run_settings {
	size_t jobs; /* messages at a time */
	enum reader_kind reader;
	struct session_settings session; /* but for `threaded` */
	struct stream_settings stream;
};

/*
 * Messages come from next() and go to done(), in the calling thread. next() fills in a zeroed
 * message: it returns 1, 0 when there are no more, or -errno. done() gets each of them once, in
 * their order, also when the work is stopped: those that were not hashed then have -EINTR. It
 * returns 0, or -errno to stop the work.
 */
struct work {
	int (*next)(void *ctx, struct message *m);
	int (*done)(void *ctx, struct message *m);
	void *ctx;
};

/* Sums over the workers. */
struct run_stats {
	unsigned int workers; /* sessions that did the work */
	uint64_t begin_ns;    /* client's clock */
	uint64_t end_ns;
	uint64_t close_ns;             /* closing the sessions, after end_ns */
	uint64_t work_ns;              /* begin … end of each, opening the session included */
	uint64_t idle_ns;              /* of these: waited for a message */
	int64_t runq_ns;               /* ready, but another ran; -1: not known */
	size_t chunk;                  /* of a call of a stream, in the first session */
	struct session_stats sessions; /* sums; slots of the first */
};

struct pool;

struct run {
	struct run_settings settings;
	struct hash_session *sessions[RUN_JOBS_MAX];
	unsigned int opened;
	struct pool *pool;     /* with more than one session */
	struct error shortage; /* why fewer are open than jobs were asked for */
	uint64_t turn_ns;      /* when the last message was hashed */
	struct run_stats stats;
};

void run_begin(struct run *run, const struct run_settings *settings);
/*
 * Hashes what there is to hash; may be called again. 0; -errno of next() or
 * done(); -EINTR when told to stop; or why there is no session, with the reason
 * in err.
 */
int run_work(struct run *run, const struct work *work, struct error *err);
/*
 * Ends the workers; the stats are complete but for close_ns. Returns a session
 * for questions after the work, or NULL.
 */
struct hash_session *run_settle(struct run *run);
/* Closes the sessions. */
void run_end(struct run *run);
