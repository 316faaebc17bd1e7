/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that reads ahead: while one slot of a buffer is hashed, it fills the
 * other.
 */
#ifndef TEEHASH_READER_H
#define TEEHASH_READER_H

#include "source.h"

#define READER_SLOTS 2

struct reader;

/* base: READER_SLOTS slots of chunk bytes each. */
int reader_create(struct reader **reader, uint8_t *base, size_t chunk,
		  struct error *err);
/* Returns the thread's run-queue wait in ns; 0 where it is not known. */
uint64_t reader_destroy(struct reader *reader);

/* Begins with the second slot: the first is the caller's already. */
void reader_start(struct reader *reader, struct source *source);
/*
 * Gives the slot back that the caller has, and waits for the next. 0, -EINTR
 * when told to stop, or the -errno of read().
 */
int reader_next(struct reader *reader, unsigned int *slot, size_t *len,
		bool *eof);
/* The thread has done with the source when this returns. */
void reader_stop(struct reader *reader);

#endif
