/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often the TEE calls back in one call: remote procedure calls to the
 * kernel and to tee-supplicant, counted by the kernel's tracepoints. Only
 * root can, and it is done apart from measuring, since it costs time.
 */
#ifndef RPCS_H
#define RPCS_H

#include "workload.h"

struct rpcs {
	bool known;
	double per_call;
	char reason[160]; /* why not known */
};

/* Counts those of so many calls of the case. Returns -errno if a call fails. */
int rpcs_count(struct rpcs *rpcs, struct bench_case *c, uint32_t calls, struct error *err);

/* "rpcs_per_call", null where it is not known, with its source or reason. */
void rpcs_put(const struct rpcs *rpcs, struct json *json);

#endif
