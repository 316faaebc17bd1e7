/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --timeline: which step the work was at, and when its threads had a CPU. One
 * file, one session. Recording is in all other figures of this report, so that a
 * run with a timeline is one of its own; the questions to the TEE's clocks that
 * follow are in none.
 */
#pragma once

#include "json.h"
#include "switches.h"

/* No more stretches than this are kept. */
#define TIMELINE_STRETCHES 4096

/* One of zeros records nothing, and is accepted by all but timeline_json(). */
struct timeline {
	struct switches *switches; /* NULL before begin and after end */
	struct switch_list events;
	struct error why; /* nothing was recorded */
	uint32_t tid;     /* of the thread that hashes */
	uint64_t begin_ns, end_ns;
	struct stretch {
		const char *step;
		uint64_t ns[2]; /* begin and end */
	} stretches[TIMELINE_STRETCHES];
	size_t count;
	uint64_t full_ns; /* the first stretch that had no room began; 0: none */
};

void timeline_begin(struct timeline *timeline);
/*
 * Adds a stretch that is over. May be given NULL. The steps are "open", the session with its
 * buffers; "read", in read(), by the thread that hashes; "wait", for the reader thread; "hash", in a
 * call of the backend; "report", what the report itself asks, after the work; and "close".
 */
void timeline_add(struct timeline *timeline, const char *step, uint64_t begin_ns, uint64_t end_ns);
void timeline_end(struct timeline *timeline);
void timeline_free(struct timeline *timeline);

void timeline_json(struct json *json, const struct timeline *timeline);
