/* SPDX-License-Identifier: BSD-2-Clause */
/* How to measure, as it was asked for. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

#include "workload.h"

struct bench_settings {
	struct case_options defaults;
	uint64_t seed;        /* of the order */
	uint64_t settle_ns;   /* wait before the first call */
	uint64_t align_ns;    /* struct measure .align_ns */
	bool quiet_until_end; /* write nothing while measuring */
	bool ta_counter;      /* where a TA may read one, let it run along */
	bool watch;           /* find out who does the work: watch.h, masks.h */
	bool trace_events; /* trace some calls more of each case in the TEE */
	int cpu;           /* to stay on, -1: any */
};

#endif
