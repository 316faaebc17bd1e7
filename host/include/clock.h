/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's clock: CLOCK_MONOTONIC_RAW, in nanoseconds. */
#pragma once

#include <stdint.h>
#include <time.h>

uint64_t clock_now_ns(void);

/* Returns another clock's time, in nanoseconds. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct clock_facts {
	uint64_t nominal_ns;    /* resolution as clock_getres() reports it */
	uint64_t resolution_ns; /* smallest step seen between two readings */
	uint64_t cost_ns;       /* mean time of one reading */
};

/* Measures the clock itself, which takes a few milliseconds at most. */
void clock_measure(struct clock_facts *facts);
