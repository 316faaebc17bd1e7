/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The measuring core. It knows nothing of what it measures, and reads time
 * through a function, so that tests can give it a clock of their own.
 */
#pragma once

#include <stdint.h>

#include "error.h"
#include "usage.h"

enum { MEASURE_LOOPS_MAX = 1 << 24 };

/*
 * Another clock, which runs along in a stretch: it is started before the first reading of the first
 * clock, and stopped after its last, both untimed.
 */
struct measure_along {
	int (*start)(void *state, struct error *err);
	int (*stop)(void *state, uint64_t *ns, struct error *err);
	void *state;
};

struct bench_case; /* whoever gives a target defines it */

struct measure_target {
	/* Makes `loops` calls of `repeat` operations each; returns 0 or -errno. */
	int (*run)(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err);
	struct bench_case *c;
	/* Runs untimed before every run(); or NULL. */
	int (*ready)(struct bench_case *c, uint32_t loops, struct error *err);
	uint32_t loops_max;                /* 0: MEASURE_LOOPS_MAX */
	const struct measure_along *along; /* NULL: no other clock */
};

uint32_t measure_loops_max(const struct measure_target *target);

struct measure {
	uint64_t (*now_ns)(void);
	const struct usage_meter *meter; /* NULL: usage is not read */
	/*
	 * Samples begin just after a whole multiple of this on
	 * CLOCK_MONOTONIC, so that timer ticks fall on the same place in each.
	 * 0: at once.
	 */
	uint64_t align_ns;
	uint32_t pause; /* rounds of an empty loop before it begins */
	/* Returns not 0 if all is to end; it is asked before anything is run. NULL: never. */
	int (*stopped)(struct error *err);
};

struct measured {
	uint64_t ns;
	uint64_t along_ns; /* by the other clock; 0 without one */
	struct usage usage;
};

/* Times a stretch between two readings of the clock. */
int measure_once(const struct measure *m, const struct measure_target *target, uint32_t loops,
		 uint32_t repeat, struct measured *measured, struct error *err);

/*
 * Finds how many loops make a sample of at least min_ns, with a quarter to spare: a power of two,
 * so that small differences in speed don't change it. Warms the path up on the way. *call_ns is
 * what a call took.
 */
int measure_calibrate(const struct measure *m, const struct measure_target *target, uint64_t min_ns,
		      uint32_t repeat, uint32_t *loops, uint64_t *call_ns, struct error *err);
