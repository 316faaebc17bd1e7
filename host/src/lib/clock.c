/* SPDX-License-Identifier: BSD-2-Clause */
#include "clock.h"

uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_RAW);
}

void clock_measure(struct clock_facts *facts)
{
	enum { READINGS = 2000 };
	uint64_t begin, before, now, step, smallest = UINT64_MAX;
	struct timespec res = { 0 };

	clock_getres(CLOCK_MONOTONIC_RAW, &res);
	facts->nominal_ns = (uint64_t)res.tv_sec * 1000000000u + (uint64_t)res.tv_nsec;

	begin = before = clock_now_ns();
	now = begin;
	for (int i = 0; i < READINGS; i++) {
		now = clock_now_ns();
		step = now - before;
		if (step && step < smallest)
			smallest = step;
		before = now;
	}
	facts->cost_ns = (now - begin) / READINGS;
	/*
	 * A fine clock advances with every reading. Then the smallest step is the duration of a
	 * reading, an upper bound of the resolution.
	 */
	facts->resolution_ns = smallest == UINT64_MAX ? facts->nominal_ns : smallest;
	if (!facts->resolution_ns)
		facts->resolution_ns = 1;
}
