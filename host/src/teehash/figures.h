/* SPDX-License-Identifier: BSD-2-Clause */
/* What the figures of a report mean: each is defined here and nowhere else. */
#ifndef TEEHASH_FIGURES_H
#define TEEHASH_FIGURES_H

#include <stdint.h>

#include "clock.h"
#include "jobs.h"
#include "measure.h"
#include "metrics.h"
#include "trace.h"
#include "usage.h"

/* Sums over all files. */
struct totals {
	uint64_t files;
	uint64_t failed;
	uint64_t oneshots;
	uint64_t streams;
	uint64_t pages;
	uint64_t pages_cached;
	uint64_t files_asked; /* for their pages, with an answer */
	const char *pages_source;
	const char *pages_reason;
	struct file_stats sum;
};

/* What the work has cost this process, begin … end. */
struct cost {
	uint64_t total_ns;
	uint64_t cpu_ns;
	struct usage usage;
	int64_t peak_bytes; /* -1: not known */
};

struct findings {
	struct totals totals;
	struct cost cost;
	struct jobs_stats jobs;
	struct inside inside;
	struct trace_counts switches;
	struct clock_facts clock;
	struct ta_counter counter; /* of a TA; with its reason if none */
	uint64_t startup_ns;       /* before the first job */
	bool has_tee;              /* calls go into another world */
};

/* A stretch of the workers' time. */
struct part {
	const char *key;
	const char *title;
	int64_t ns;
};

#define PARTS_MAX 9

/*
 * The parts add up to the sum of the workers' times; the last is what none of
 * the others explains. Returns that sum.
 */
uint64_t figures_parts(const struct findings *f, struct part *parts,
		       unsigned int *count);
/* Was the time inside the TA counted there, in all sessions? */
bool figures_counted(const struct findings *f);
/*
 * Of the time in calls: computing. In a TA as its own counter says, else as
 * far as it can be estimated, else -1.
 */
double figures_compute_ns(const struct findings *f);
void figures_fill(struct metrics *metrics, const struct findings *f);

#endif
