/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts this process's world switches by the kernel's tracepoints optee:optee_invoke_fn_begin
 * (entry to the secure world) and _end (return). A return's first word tells whether the call is
 * complete or the TEE makes a request. A trace instance of our own leaves other users' tracing
 * unchanged.
 */
#pragma once

#include "error.h"

struct tracepoints;

struct tracepoint_counts {
	uint64_t returns;    /* all returns from the secure world */
	uint64_t complete;   /* returns that completed a call */
	uint64_t interrupts; /* returns because of an interrupt */
	uint64_t alloc;      /* RPC: the TEE wants shared memory */
	uint64_t free;       /* RPC: the TEE gives shared memory back */
	uint64_t command;    /* RPC: a command (file, time, wait, …) */
	uint64_t other;
};

/* Returns the number of RPCs, the TEE's requests to the normal world. */
static inline uint64_t tracepoints_rpcs(const struct tracepoint_counts *counts)
{
	return counts->alloc + counts->free + counts->command + counts->other;
}

/*
 * Begins to count for this process and its threads; one count at a time in a process. Also removes
 * what killed programs left in the kernel. Returns 0, or -errno with the reason and *trace NULL.
 */
int tracepoints_begin(struct tracepoints **trace, struct error *err);
/*
 * Reads the counts. Returns 0, or -errno with the reason if events couldn't be parsed or were lost.
 * Accepts NULL.
 */
int tracepoints_end(struct tracepoints *trace, struct tracepoint_counts *counts, struct error *err);

/* One entry into the secure world and the return from it. */
struct tracepoint_leg {
	uint64_t begin_ns, end_ns; /* a multiple of TRACE_STEP_NS */
	uint32_t ret; /* a0 of the return: 0 (complete), or 0xffff0000 + kind of request */
};

enum { TRACE_LEGS_MAX = 8192, TRACE_STEP_NS = 1000 };

struct tracepoint_legs {
	struct tracepoint_leg *list; /* room for TRACE_LEGS_MAX */
	size_t count;
};

/*
 * Records the times of every leg of a call. open() mounts tracefs if it isn't mounted, for this
 * process alone. start() and stop() enclose a recording; stop() reads the legs: 0, or -errno with
 * the reason if events couldn't be parsed or were lost.
 */
int tracepoints_open_legs(struct tracepoints **trace, struct error *err);
int tracepoints_start_legs(struct tracepoints *trace, struct error *err);
int tracepoints_stop_legs(struct tracepoints *trace, struct tracepoint_legs *legs,
			  struct error *err);
void tracepoints_close_legs(struct tracepoints *trace);
