/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hashes many messages through one or several sessions, with one worker a session. All sessions are
 * opened before the first message is hashed; results come in the messages' order. With several
 * workers, no two messages may read from the same source (standard input, a pipe).
 */
#pragma once

#include "stream.h"
#include "usage.h"

#define RUN_JOBS_MAX 64

enum reader_kind {
	READER_AUTO,   /* READER_THREAD if each worker has two CPUs */
	READER_THREAD, /* a thread reads during a call */
	READER_INLINE, /* the worker reads between calls */
};

/* Names of the kinds: "auto", …; NULL ends the list. */
extern const char *const reader_kinds[];

struct run_settings {
	size_t jobs; /* messages hashed at the same time */
	enum reader_kind reader;
	struct session_settings session; /* all but `threaded` are set by the caller */
	struct stream_settings stream;
};

/*
 * Where messages come from and go to; both functions run in the calling thread. next() fills in a
 * zeroed message and returns 1; 0 if there are no more; or -errno. done() gets each message once,
 * in order; if the work was stopped, messages not hashed have ret -EINTR. done() returns 0, or
 * -errno to stop the work.
 */
struct work {
	int (*next)(void *ctx, struct message *m);
	int (*done)(void *ctx, struct message *m);
	void *ctx;
};

/* Sums over all workers. */
struct run_stats {
	unsigned int workers; /* sessions that did the work */
	uint64_t begin_ns;    /* by the client's clock */
	uint64_t end_ns;
	uint64_t close_ns;             /* duration of closing the sessions, after end_ns */
	uint64_t work_ns;              /* duration of each worker's work, from opening on */
	uint64_t idle_ns;              /* part of work_ns: waiting for a message */
	int64_t runq_ns;               /* ready but not running; -1: not known */
	uint64_t opened_ns;            /* when the sessions were open */
	struct usage opened, ended;    /* the process's usage up to opened_ns, and up to end_ns */
	size_t chunk;                  /* largest stream call in bytes, in the first session */
	struct session_stats sessions; /* sums, but `slots` and some times are of the first */
};

struct pool;

struct run {
	struct run_settings settings;
	struct hash_session *sessions[RUN_JOBS_MAX];
	unsigned int opened;
	struct pool *pool;     /* NULL with one session */
	struct error shortage; /* why fewer sessions are open than `jobs` */
	uint64_t turn_ns;      /* when the calling thread last finished a message */
	struct run_stats stats;
};

void run_begin(struct run *run, const struct run_settings *settings);
/*
 * Hashes all messages of `work`; may be called again. Returns 0, -errno from next() or done(),
 * -EINTR when told to stop, or -errno if no session could be opened, with the reason in err.
 */
int run_work(struct run *run, const struct work *work, struct error *err);
/*
 * Ends the workers; then the stats are complete except for close_ns. Returns a session for
 * measurements after the work, or NULL.
 */
struct hash_session *run_complete(struct run *run);
/* Closes the sessions. */
void run_end(struct run *run);
