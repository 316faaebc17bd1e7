/* SPDX-License-Identifier: BSD-2-Clause */
/* One run: all cases prepared, then their samples in a random order. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>

#include "cases.h"
#include "pool.h"
#include "sink.h"
#include "stop.h"

struct bench_settings {
	struct case_options defaults;
	uint64_t seed;        /* of the order */
	uint64_t settle_ns;   /* wait before the first call */
	uint64_t align_ns;    /* struct measure .align_ns */
	bool quiet_until_end; /* write nothing while measuring */
	bool ta_counter;      /* where a TA may read one, let it run along */
	int cpu;              /* to stay on, -1: any */
};

struct bench_result {
	unsigned failed; /* cases */
	unsigned skipped;
	int signal; /* that interrupted, or 0 */
};

/*
 * Parses no more: cases are checked already. 0 also when cases failed or were
 * skipped (result tells); -errno when the run could not be written.
 */
int bench_run(const struct bench_settings *settings, struct cases *cases,
	      struct pool *pool, struct sink *sink, struct bench_result *result,
	      struct error *err);

#endif
