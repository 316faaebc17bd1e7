/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many bytes are hashed: a count that any thread adds to; and the bar on
 * stderr that shows it, with rate and time left. The bar appears after half a
 * second and is drawn ten times a second, by a thread of its own.
 */
#ifndef TEEHASH_PROGRESS_H
#define TEEHASH_PROGRESS_H

#include <stdint.h>

enum progress_kind {
	PROGRESS_AUTO, /* if stderr is a terminal */
	PROGRESS_ALWAYS,
	PROGRESS_NEVER,
};

/* "auto", …: NULL after the last. */
extern const char *const progress_kinds[];

void progress_add(uint64_t bytes);

/* total: bytes to come in all; 0: not known. */
void progress_begin(enum progress_kind kind, uint64_t total);
void progress_end(void);
/* Around whatever is printed: the bar is away meanwhile. */
void progress_hide(void);
void progress_show(void);
/* For who leaves: nothing stays on the line. Async-signal-safe. */
void progress_abandon(void);

#endif
