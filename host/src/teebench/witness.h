/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches what the machine does while a case runs: interrupts, and the CPU time of all processes. A
 * separate stretch of calls is watched, since watching takes longer than many samples.
 */
#pragma once

#include "measure.h"

struct json;

/* The interrupts of the idle machine, to compare with. */
struct idle_evidence {
	bool looked;
	uint64_t ns;
	char *before, *after; /* /proc/interrupts */
	char reason[160];     /* why the interrupts aren't known; "": they are */
};

struct evidence {
	uint32_t calls;
	struct measured measured;
	char *before, *after; /* /proc/interrupts; NULL: nothing was watched */
	/*
	 * CPU time, in nanoseconds, that kernel threads and the first threads of all other
	 * processes used meanwhile; negative if the kernel doesn't tell.
	 */
	int64_t others_ns;
};

/* At the first call, sleeps for 20 ms and records the interrupts of this time. */
void witness_idle(struct idle_evidence *idle);
/* Watches a stretch of calls of about call_ns nanoseconds each. Returns 0, or run()'s error. */
int witness_calls(const struct measure *m, const struct measure_target *target, uint32_t repeat,
		  uint64_t call_ns, const struct idle_evidence *idle, struct evidence *watched,
		  struct error *err);
/* Adds the object "watched" to a case's record. */
void witness_put(struct json *j, const struct evidence *watched, const struct idle_evidence *idle);
void witness_free(struct evidence *watched);

/*
 * Returns the CPU time so far, in nanoseconds, of kernel threads and of the first thread of each
 * process but this one; -1 if the kernel doesn't tell. `folder` is /proc, or a test's copy.
 */
int64_t watch_others_ns(const char *folder);
