/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that reads a message ahead: while one slot of a buffer is hashed, it
 * fills the other.
 *
 * Two semaphores count the slots that are free and those that are filled, so
 * that a side which need not wait makes no system call; and sem_wait() returns
 * when a signal arrives, which a condition variable doesn't.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include "source.h"

#define READER_SLOTS 2

struct reader {
	pthread_t thread;
	sem_t empty, filled;
	struct source *source;
	uint8_t *base; /* READER_SLOTS slots */
	size_t slot_bytes;
	unsigned int next; /* slot that the user takes next */
	struct {
		size_t len;
		bool eof;
		struct error err;
	} slot[READER_SLOTS];
	int64_t runq_ns; /* the thread's wait for a CPU, once it was stopped */
};

/*
 * Starts the thread. It begins with the second slot: the first is the caller's already. Returns 0,
 * or -errno with the reason.
 */
int reader_start(struct reader *reader, struct source *source, uint8_t *base, size_t slot_bytes,
		 struct error *err);
/*
 * Gives the slot back that the caller has, and waits for the next. 0, or -errno with the reason:
 * -EINTR when told to stop.
 */
int reader_next(struct reader *reader, unsigned int *slot, size_t *len, bool *eof,
		struct error *err);
/* Stops the thread, which has ended when this returns. */
void reader_stop(struct reader *reader);
