/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * World switches of this process, counted by the kernel's tracepoint
 * optee:optee_invoke_fn_end: one event a return from the secure world, whose
 * first word tells whether the call is complete or the TEE asks for something.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct trace;

struct trace_counts {
	bool known;
	char reason[160];    /* why not */
	uint64_t returns;    /* all returns from the secure world */
	uint64_t complete;   /* calls that ended */
	uint64_t interrupts; /* the secure world was interrupted */
	uint64_t alloc;      /* RPC: shared memory wanted */
	uint64_t free;       /* RPC: shared memory given back */
	uint64_t command;    /* RPC: a command (file, time, wait, …) */
	uint64_t other;
	uint64_t lost; /* events that found no room */
};

/*
 * Begins to count for this process and its threads; NULL if it can't. One at a
 * time in a process.
 */
struct trace *trace_begin(struct trace_counts *counts);
void trace_end(struct trace *trace, struct trace_counts *counts);
/* For who leaves: nothing stays in the kernel. Async-signal-safe. */
void trace_abandon(void);

#endif
