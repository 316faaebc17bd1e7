/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A progress bar on stderr: bytes, rate, time left. Appears after half a
 * second and is redrawn ten times a second at the most.
 */
#ifndef TEEHASH_PROGRESS_H
#define TEEHASH_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on;
	int width; /* columns of the terminal */
	uint64_t begin_ns;
	uint64_t drawn_ns;
	uint64_t total;        /* bytes to come in all; 0: not known */
	_Atomic uint64_t done; /* bytes, by any thread */
};

void progress_begin(struct progress *progress, bool on, uint64_t total);
/* From any thread. Takes what engine_config.progress takes. */
void progress_add(void *progress, uint64_t bytes);
/* These three from the thread that prints. */
void progress_draw(struct progress *progress);
void progress_hide(void);
void progress_end(struct progress *progress);
/* For who leaves: nothing stays on the line. Async-signal-safe. */
void progress_abandon(void);

#endif
