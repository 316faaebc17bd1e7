/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts how often the TEE calls back in a call: remote procedure calls to the kernel and to
 * tee-supplicant, by the kernel's tracepoints. Only root can, and it is done apart from measuring,
 * since it costs time.
 */
#pragma once

#include "trace.h"
#include "workload.h"

struct rpcs {
	uint32_t calls; /* in which they were counted */
	struct trace_counts counts;
	struct error why; /* they aren't known */
};

/* Counts those of so many calls of the case. Returns -errno if a call fails. */
int rpcs_count(struct rpcs *rpcs, struct bench_case *c, uint32_t calls, struct error *err);

/* Writes "rpcs_per_call", null with a reason where it isn't known. */
void rpcs_put(const struct rpcs *rpcs, struct json *json);
