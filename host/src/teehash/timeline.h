/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --timeline records which step the work was in, and when its threads had a CPU; for one file and
 * one session. Recording slows down the work, so the other figures should come from a run without
 * it. The queries to the TEE's clocks that follow the work count in no figure.
 */
#pragma once

#include "json.h"
#include "switches.h"

/* The most stretches that a timeline holds. */
#define TIMELINE_STRETCHES 4096

/* A zeroed timeline records nothing; all functions but timeline_json() accept it. */
struct timeline {
	struct switches *switches; /* NULL before the begin and after the end */
	struct switch_list events;
	struct error why; /* why no switches were recorded */
	uint32_t tid;     /* ID of the thread that hashes */
	uint64_t begin_ns, end_ns;
	struct stretch {
		const char *step;
		uint64_t ns[2]; /* begin and end */
	} stretches[TIMELINE_STRETCHES];
	size_t count;
	uint64_t full_ns; /* begin of the first stretch that didn't fit; 0: all fitted */
};

void timeline_begin(struct timeline *timeline);
/*
 * Adds a stretch of time that has ended. `timeline` may be NULL. Steps: "open", opening the session
 * with its buffers; "read", read() in the thread that hashes; "wait", waiting for the reader
 * thread; "hash", a call of the backend; "report", the report's measurements after the work;
 * "close".
 */
void timeline_add(struct timeline *timeline, const char *step, uint64_t begin_ns, uint64_t end_ns);
void timeline_end(struct timeline *timeline);
void timeline_free(struct timeline *timeline);

void timeline_json(struct json *json, const struct timeline *timeline);
