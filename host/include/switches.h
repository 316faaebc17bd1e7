/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records when the threads of this process went on a CPU and left it, by the kernel's
 * perf events (PERF_RECORD_SWITCH, Linux 4.3 and later). A process may ask for
 * its own without being root where kernel.perf_event_paranoid is 2 or less.
 *
 * Each CPU has a ring that the kernel fills until it is full, and nothing is
 * read meanwhile. The list has the first events of all rings together, all of them
 * until a ring was full or SWITCHES_MAX is reached; what follows is left out.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct switch_event {
	uint64_t ns; /* of the client's clock */
	uint32_t tid;
	uint32_t cpu;
	/*
	 * "in": the thread has a CPU from now on; "wait": it left the CPU, to wait for something;
	 * "preempt": it had to leave and could go on, another runs; "exit": it ended.
	 */
	const char *kind;
	uint32_t place; /* in the order in which the rings were read */
};

/* No more events than this are kept. */
#define SWITCHES_MAX 4096

struct switch_list {
	struct switch_event *list; /* in order */
	size_t count;
	uint64_t whole_until_ns; /* all that happened before is there */
};

struct switches;

/*
 * Begins to record. 0, or -errno with the reason; err->skip is "no-perf" where
 * this kernel has no such events, or not for this user.
 */
int switches_begin(struct switches **switches, struct error *err);
/* Ends the recording. Returns 0, or -errno with the reason; the caller frees *list. */
int switches_end(struct switches *switches, struct switch_list *list, struct error *err);
