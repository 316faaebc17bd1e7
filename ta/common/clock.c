/* SPDX-License-Identifier: BSD-2-Clause */
#include "clock.h"

TEE_Result clock_switch(struct clock *clock, TEE_Param params[TEE_NUM_PARAMS])
{
	uint32_t counter = params[0].value.a;
	bool was_on = clock->counter != TA_CLOCK_OFF;

	switch (counter) {
	case TA_CLOCK_OFF:
	case TA_CLOCK_VIRTUAL:
	case TA_CLOCK_PHYSICAL:
		break;
	default:
		return TEE_ERROR_BAD_PARAMETERS;
	}
	params[1].value.a = (uint32_t)clock->ticks;
	params[1].value.b = (uint32_t)(clock->ticks >> 32);
	params[2].value.a = was_on ? counter_frequency() : 0;
	params[2].value.b = 0;
	clock->counter = counter;
	clock->ticks = 0;
	return TEE_SUCCESS;
}
