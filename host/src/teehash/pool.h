/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several workers, each a thread with a session of its own; what they hash
 * keeps its order. Each message is read by one worker alone and ends there, so
 * none may be a source that others read from, too.
 */
#ifndef TEEHASH_POOL_H
#define TEEHASH_POOL_H

#include "stream.h"

/*
 * Where messages come from and go to, in the calling thread. next() fills in a
 * zeroed message: 1, 0 when there are no more, or -errno. done() gets each of
 * them once, in their order, also when the work is stopped: those that were not
 * hashed then have -EINTR. 0, or -errno to stop the work.
 */
struct work {
	int (*next)(void *ctx, struct message *m);
	int (*done)(void *ctx, struct message *m);
	void *ctx;
};

/* What the workers took, in sum. */
struct pool_stats {
	uint64_t work_ns; /* begin … end of each */
	uint64_t idle_ns; /* of these: waited for a message */
	int64_t runq_ns;  /* ready, but another ran; -1: not known */
};

struct pool;

/* One worker for each session. 0, or -errno with the reason. */
int pool_start(struct pool **pool, struct hash_session *const *sessions,
	       unsigned int count, const struct stream_settings *settings,
	       struct error *err);
/* `first` is the first message; next() tells the others. 0 or -errno. */
int pool_run(struct pool *pool, const struct work *work,
	     const struct message *first);
/* Ends the workers and frees. The sessions stay. */
void pool_stop(struct pool *pool, struct pool_stats *stats);

#endif
