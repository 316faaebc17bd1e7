/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches what the machine does while a case runs: the interrupts that are raised, and the CPU time
 * of everybody. It does so in a stretch of calls of its own, for looking costs more than many a
 * sample.
 */
#pragma once

#include "interrupts.h"
#include "measure.h"

struct json;

/* The machine with nothing to do, to compare with. */
struct watched_idle {
	bool looked;
	uint64_t ns;
	struct interrupts raised; /* in that time */
	char reason[160];         /* why they are not known; "": they are */
};

struct watched {
	bool known;
	uint32_t calls;
	struct measured measured;
	struct interrupts raised;
	/*
	 * CPU time of the first threads of all other processes, and of kernel
	 * threads, meanwhile; -1: nobody looked, as no line had shown anything,
	 * or the kernel does not say.
	 */
	int64_t others_ns;
};

/* Sleeps for a moment, at the first call. */
void watch_idle(struct watched_idle *idle);
/* call_ns: what a call takes, about. 0, or what the case's run() returned. */
int watch_calls(const struct measure *m, const struct measure_target *target, uint32_t repeat,
		uint64_t call_ns, const struct watched_idle *idle, struct watched *watched,
		struct error *err);
/* Adds "watched" to a case's record. */
void watch_put(struct json *j, const struct watched *watched, const struct watched_idle *idle);
void watch_free(struct watched *watched);

/*
 * Returns the CPU time so far of kernel threads and of the first thread of each process but this
 * one; -1 if the kernel doesn't tell. `folder` is /proc, or stands for it.
 */
int64_t watch_others_ns(const char *folder);
