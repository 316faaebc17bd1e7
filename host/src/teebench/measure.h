/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The measuring core. It knows nothing of what it measures, and reads time
 * through a function, so that tests can give it a clock of their own.
 */
#pragma once

#include "error.h"
#include "usage.h"

enum { MEASURE_LOOPS_MAX = 1 << 24 };

struct ta_counter;
struct tee_session;

/*
 * A second clock, which runs during the calls of a sample. It is started before the first clock's
 * first reading and stopped after its last reading, so neither is timed.
 */
struct measure_along {
	int (*start)(const struct ta_counter *counter, struct tee_session *ta, struct error *err);
	int (*stop)(const struct ta_counter *counter, struct tee_session *ta, uint64_t *ns,
		    struct error *err);
	const struct ta_counter *counter;
	struct tee_session *ta;
};

struct bench_case; /* defined by whoever makes a target */

struct measure_target {
	/* Makes `loops` calls of `repeat` operations each; returns 0 or -errno. */
	int (*run)(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err);
	struct bench_case *c;
	/* Prepares every run(), untimed; may be NULL. */
	int (*ready)(struct bench_case *c, uint32_t loops, struct error *err);
	uint32_t loops_max;                /* most calls in a sample; 0: MEASURE_LOOPS_MAX */
	const struct measure_along *along; /* a second clock; NULL: none */
};

uint32_t measure_loops_max(const struct measure_target *target);

struct measure {
	uint64_t (*now_ns)(void);
	const struct usage_meter *meter; /* NULL: CPU usage is not read */
	/*
	 * Samples begin just after a multiple of this many nanoseconds on CLOCK_MONOTONIC, so that
	 * timer ticks fall on the same place in each sample. 0: samples begin at once.
	 */
	uint64_t align_ns;
	uint32_t pause; /* rounds of an empty loop before a sample begins */
	/* Called before every run(); a nonzero result ends measuring. NULL: nothing ends it. */
	int (*stopped)(struct error *err);
};

struct measured {
	uint64_t ns;
	uint64_t along_ns; /* time by the second clock; 0 without one */
	struct usage usage;
};

/* Times one run() of `loops` calls of `repeat` operations each. Returns 0 or -errno. */
int measure_once(const struct measure *m, const struct measure_target *target, uint32_t loops,
		 uint32_t repeat, struct measured *measured, struct error *err);

/*
 * Finds how many loops make a sample of at least 1.25 * min_ns: a power of two, so that small
 * differences in speed don't change it. Warms the path up. *call_ns is set to the time of one call.
 */
int measure_calibrate(const struct measure *m, const struct measure_target *target, uint64_t min_ns,
		      uint32_t repeat, uint32_t *loops, uint64_t *call_ns, struct error *err);
