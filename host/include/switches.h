/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records when the threads of this process got a CPU and lost it, by the kernel's perf events
 * (PERF_RECORD_SWITCH, Linux 4.3 and later). If kernel.perf_event_paranoid is 2 or less, a process
 * may record its own threads without being root.
 *
 * Each CPU has a ring buffer, which the kernel fills until it is full; it is read only at the end.
 * The list is complete until the first ring was full or SWITCHES_MAX was reached; later events are
 * left out.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct switch_event {
	uint64_t ns; /* time of the client's clock */
	uint32_t tid;
	uint32_t cpu;
	/*
	 * "in": the thread got a CPU; "wait": it left the CPU to wait for something; "preempt": it
	 * was ready to run but another thread took the CPU; "exit": it ended.
	 */
	const char *kind;
	uint32_t place; /* index in the order of reading, for equal times */
};

/* The most events that a list holds. */
#define SWITCHES_MAX 4096

struct switch_list {
	struct switch_event *list; /* sorted by time */
	size_t count;
	uint64_t whole_until_ns; /* no event before this time is missing */
};

struct switches;

/*
 * Begins to record. Returns 0, or -errno with the reason; err->skip is "no-perf" if the kernel has
 * no such events, or refuses them to this user.
 */
int switches_begin(struct switches **switches, struct error *err);
/* Ends the recording. Returns 0, or -errno with the reason; the caller frees *list. */
int switches_end(struct switches *switches, struct switch_list *list, struct error *err);
