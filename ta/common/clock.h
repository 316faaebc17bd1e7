/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock of a session: teemark/ta_clock.h. */
#ifndef CLOCK_H
#define CLOCK_H

#include <tee_internal_api.h>

#include <teemark/ta_clock.h>

#include "counter.h"

/* All zeros when it is new, which is off. */
struct clock {
	uint32_t counter; /* enum ta_clock */
	uint64_t ticks;   /* since it was last asked */
};

/* Not while it is off. */
static inline uint64_t clock_read(const struct clock *clock)
{
	return clock->counter == TA_CLOCK_PHYSICAL ? counter_physical() :
						     counter_virtual();
}

/* TA_CLOCK_CMD, but for the session that the clock is of. */
TEE_Result clock_switch(struct clock *clock, TEE_Param params[TEE_NUM_PARAMS]);

#endif
