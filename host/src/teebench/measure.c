/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure.h"
#include "clock.h"
#include "marker.h"

enum {
	ALIGN_TRIES = 50,
	WAKE_EARLY_NS = 300000, /* a sleep rarely ends later than intended by more than this */
	AFTER_TICK_NS = 100000, /* longer than the kernel's own work at a tick */
	LATE_NS = 2000,
};

/*
 * Waits until just after the next tick, a multiple of align_ns. An emulated machine may wake up
 * late, so the sleep ends early and the clock is read until the tick. If the tick was missed even
 * so, the next one is taken.
 */
static void align(uint64_t align_ns)
{
	for (int i = 0; i < ALIGN_TRIES; i++) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC) + WAKE_EARLY_NS;
		uint64_t tick = (now / align_ns + 1) * align_ns;
		uint64_t wake = tick - WAKE_EARLY_NS;
		uint64_t begin = tick + AFTER_TICK_NS;
		struct timespec ts = { .tv_sec = (time_t)(wake / 1000000000u),
				       .tv_nsec = (long)(wake % 1000000000u) };

		/* EINTR: a signal ends the run anyway */
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
			return;
		while ((now = clock_ns(CLOCK_MONOTONIC)) < begin)
			;
		if (now < begin + LATE_NS)
			return;
	}
}

uint32_t measure_loops_max(const struct measure_target *target)
{
	return target->loops_max && target->loops_max < MEASURE_LOOPS_MAX ? target->loops_max :
									    MEASURE_LOOPS_MAX;
}

int measure_once(const struct measure *m, const struct measure_target *target, uint32_t loops,
		 uint32_t repeat, struct measured *measured, struct error *err)
{
	const struct measure_along *along = target->along;
	struct usage before, after;
	uint64_t begin, end;
	int ret = 0;

	if (target->ready)
		ret = target->ready(target->c, loops, err);
	if (!ret && m->stopped)
		ret = m->stopped(err);
	if (!ret && along)
		ret = along->start(along->counter, along->ta, err);
	if (ret)
		return ret;
	if (m->align_ns)
		align(m->align_ns);
	for (volatile uint32_t i = 0; i < m->pause; i++)
		;
	if (m->meter)
		usage_read(m->meter, &before);
	begin = m->now_ns();
	MARKER_BEGIN();
	ret = target->run(target->c, loops, repeat, err);
	MARKER_END();
	end = m->now_ns();
	if (m->meter) {
		usage_read(m->meter, &after);
		measured->usage = usage_between(&before, &after);
	} else {
		memset(&measured->usage, 0, sizeof(measured->usage));
	}
	measured->ns = end - begin;
	measured->along_ns = 0;
	/* The second clock is stopped after a failure, too, whose error is then kept. */
	if (along) {
		int stopped = along->stop(along->counter, along->ta, &measured->along_ns,
					  ret ? NULL : err);

		ret = ret ? ret : stopped;
	}
	return ret;
}

/* Returns the smallest power of two that is at least x. */
static uint64_t power_of_two(uint64_t x)
{
	uint64_t p = 1;

	while (p < x)
		p *= 2;
	return p;
}

int measure_calibrate(const struct measure *m, const struct measure_target *target, uint64_t min_ns,
		      uint32_t repeat, uint32_t *loops, uint64_t *call_ns, struct error *err)
{
	const uint64_t goal = min_ns + min_ns / 4;
	const uint32_t max = measure_loops_max(target);
	struct measure plain = *m;
	struct measured cold, warm;
	uint64_t n = 1, more;
	int ret;

	plain.align_ns = 0;
	plain.meter = NULL;
	for (;;) {
		ret = measure_once(&plain, target, (uint32_t)n, repeat, &cold, err);
		if (!ret)
			ret = measure_once(&plain, target, (uint32_t)n, repeat, &warm, err);
		if (ret)
			return ret;
		if (warm.ns >= goal || n == max)
			break;
		/*
		 * Too few calls for a sample. Their number grows at most 16-fold, since a short
		 * measurement predicts badly.
		 */
		more = warm.ns ? power_of_two(goal * n / warm.ns + 1) : 16 * n;
		if (more < 2 * n)
			more = 2 * n;
		if (more > 16 * n)
			more = 16 * n;
		n = more < max ? more : max;
	}
	*loops = (uint32_t)n;
	*call_ns = warm.ns / n;
	return 0;
}
