/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that reads ahead: while the caller hashes one slot of the buffer, the thread fills the
 * other.
 *
 * Two semaphores count free and filled slots. A side that need not wait makes no system call, and
 * sem_wait(), unlike a condition variable, returns when a signal arrives.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "source.h"

#define READER_SLOTS 2

/* Starts a thread that receives no signals: they go to the thread that prints. */
static inline int thread_start(pthread_t *thread, void *(*work)(void *), void *arg)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, NULL, work, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

struct reader {
	pthread_t thread;
	sem_t empty, filled;
	struct source *source;
	uint8_t *base; /* memory of READER_SLOTS slots */
	size_t slot_bytes;
	unsigned int next; /* the slot that reader_next() returns next */
	struct {
		size_t len;
		bool eof;
		struct error err;
	} slot[READER_SLOTS];
	int64_t runq_ns; /* run-queue wait of the thread, valid after it ended */
};

/*
 * Starts the thread with the second slot; the first already belongs to the caller. Returns 0, or
 * -errno with the reason.
 */
int reader_start(struct reader *reader, struct source *source, uint8_t *base, size_t slot_bytes,
		 struct error *err);
/*
 * Returns the caller's slot to the thread, and waits for the next filled slot. Returns 0, or -errno
 * with the reason: -EINTR when told to stop.
 */
int reader_next(struct reader *reader, unsigned int *slot, size_t *len, bool *eof,
		struct error *err);
/* Stops the thread, and waits for its end. */
void reader_stop(struct reader *reader);
