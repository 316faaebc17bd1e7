/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * World switches of this process, by the kernel's tracepoints
 * optee:optee_invoke_fn_begin and _end: one event a way into the secure world
 * and one a return, whose first word tells whether the call is complete or the
 * TEE asks for something. All in an instance of our own, so that nobody else's
 * tracing changes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct trace;

struct trace_counts {
	uint64_t returns;    /* all returns from the secure world */
	uint64_t complete;   /* calls that ended */
	uint64_t interrupts; /* the secure world was interrupted */
	uint64_t alloc;      /* RPC: shared memory wanted */
	uint64_t free;       /* RPC: shared memory given back */
	uint64_t command;    /* RPC: a command (file, time, wait, …) */
	uint64_t other;
};

/* Returns how often the TEE called back. */
static inline uint64_t trace_rpcs(const struct trace_counts *counts)
{
	return counts->alloc + counts->free + counts->command + counts->other;
}

/*
 * Begins to count for this process and its threads; one at a time in a process. What a program that
 * died left in the kernel is removed. 0, or -errno with the reason, and *trace is NULL.
 */
int trace_begin(struct trace **trace, struct error *err);
/*
 * Reads the counts: 0, or -errno with the reason when they can't be understood, or events found no
 * room. Accepts NULL.
 */
int trace_end(struct trace *trace, struct trace_counts *counts, struct error *err);

/* A way into the secure world and back. */
struct trace_leg {
	uint64_t begin_ns, end_ns; /* to TRACE_STEP_NS */
	uint32_t ret;              /* a0: 0 or 0xffff0000 + what is asked for */
};

enum { TRACE_LEGS_MAX = 8192, TRACE_STEP_NS = 1000 };

struct trace_legs {
	struct trace_leg *list; /* TRACE_LEGS_MAX of them */
	size_t count;
};

/*
 * Stamps of every leg of a call. open() mounts tracefs where it isn't, for this
 * process alone. Between start() and stop() events are recorded; stop() reads
 * them: 0, or -errno with the reason when they can't be understood, or some
 * found no room.
 */
int trace_legs_open(struct trace **trace, struct error *err);
int trace_legs_start(struct trace *trace, struct error *err);
int trace_legs_stop(struct trace *trace, struct trace_legs *legs, struct error *err);
void trace_legs_close(struct trace *trace);
