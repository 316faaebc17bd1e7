/* SPDX-License-Identifier: BSD-2-Clause */
/* What the figures of a report mean: each is defined here and nowhere else. */
#ifndef TEEHASH_FIGURES_H
#define TEEHASH_FIGURES_H

#include "clock.h"
#include "measure.h"
#include "metrics.h"
#include "run.h"
#include "tee_clocks.h"
#include "trace.h"
#include "usage.h"

/* Sums over the files. */
struct totals {
	uint64_t files;
	uint64_t failed;
	uint64_t oneshots;
	uint64_t streams;
	uint64_t files_asked; /* for their pages, with an answer */
	struct file_stats all;
	struct file_stats good; /* of those that got a digest */
};

/* What the work has cost this process, begin … end. */
struct cost {
	uint64_t total_ns;
	struct usage usage;
	int64_t peak_bytes; /* -1: not known */
};

struct findings {
	const struct run_settings *settings;
	struct totals totals;
	struct cost cost;
	struct run_stats run;
	struct inside inside;
	struct trace_counts switches;
	struct tee_clocks clocks; /* of a run with a timeline */
	struct clock_facts clock;
	struct ta_counter counter; /* of a TA; with its reason if none */
	uint64_t startup_ns;       /* before the first message */
	bool has_tee;              /* calls go into another world */
};

/* A stretch of the workers' time. */
struct part {
	const char *key;
	const char *title;
	int64_t ns;
};

#define PARTS_COUNT 9

void figures_add_file(struct totals *totals, const struct message *m);
/*
 * The parts add up to the sum of the workers' times; the last is what none of
 * the others explains. Returns that sum.
 */
uint64_t figures_parts(const struct findings *f,
		       struct part parts[PARTS_COUNT]);
/* Returns true if the TA counted the time inside, in all sessions. */
bool figures_counted(const struct findings *f);
/*
 * Returns how much of the time in calls was computing. In a TA as its own
 * counter says, else as far as it can be estimated, else -1.
 */
double figures_compute_ns(const struct findings *f);
void figures_fill(struct metrics *metrics, const struct findings *f);

#endif
