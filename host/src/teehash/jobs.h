/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many messages through one or several engines, their results in the order of
 * the messages. What several messages come from (standard input named twice)
 * is read by one at a time, in their order.
 */
#ifndef TEEHASH_JOBS_H
#define TEEHASH_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "progress.h"

struct job {
	/* what to do */
	char *name; /* freed by jobs_run() if name_owned */
	bool name_owned;
	const struct algorithm *alg;
	uint8_t expected[ALG_DIGEST_MAX_BYTES]; /* when checking */
	void *owner;                            /* the caller's own */
	uint64_t note; /* not 0: nothing to hash, a remark in its place */
	/* what came of it */
	int ret;
	uint8_t digest[ALG_DIGEST_MAX_BYTES];
	struct file_stats stats;
	struct error err;
};

/* What all engines together cost, after the work. */
struct jobs_stats {
	uint64_t begin_ns; /* client's clock */
	uint64_t end_ns;
	uint64_t work_ns; /* sum over the workers: begin … end of each */
	uint64_t idle_ns; /* of these: waited for a job */
	uint64_t runq_ns; /* run-queue wait of the workers */
	uint64_t reader_runq_ns;
	bool runq_known;            /* else the kernel does not say */
	uint64_t close_ns;          /* closing the sessions, after end_ns */
	struct engine_stats engine; /* sums; chunk and slots of the first */
	unsigned int workers;
};

/*
 * next() fills in the next job: 1, or 0 when there are no more. done() takes
 * a finished job, in order. Both run in the calling thread. after(), which
 * may be NULL, is called once with the first engine when the work is done.
 * Any of them may be called while others work. A negative value of next() or
 * done() ends the work and is returned.
 */
struct jobs {
	struct engine_config config;
	unsigned int workers;
	struct progress *progress;
	int (*next)(void *ctx, struct job *job);
	int (*done)(void *ctx, struct job *job);
	void (*after)(void *ctx, struct engine *engine);
	/*
	 * next() reads what a job's name may stand for too, such as standard
	 * input: it is not called while a job reads something of that kind.
	 */
	bool next_reads;
	void *ctx;
};

/*
 * 0, or -errno: with the reason in err when the backend could not be opened
 * at all, or what next() or done() returned; -EINTR when interrupted().
 */
int jobs_run(const struct jobs *jobs, struct jobs_stats *stats,
	     struct error *err);

#endif
