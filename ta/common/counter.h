/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the counter of the generic timer. If the TEE forbids this, it kills the TA that reads it:
 * see teemark/ta_clock.h.
 */
#pragma once

#include <stdint.h>

#if defined(COUNTER_OF_SHIM)

/* The unit tests define these two. */
uint64_t counter_virtual(void);
uint64_t counter_physical(void);
uint32_t counter_frequency(void);

#else
/* The ISB keeps the CPU from reading the counter before earlier instructions. */
#if defined(__aarch64__)
#define COUNTER_VIRTUAL   "mrs	%0, cntvct_el0"
#define COUNTER_PHYSICAL  "mrs	%0, cntpct_el0"
#define COUNTER_FREQUENCY "mrs	%0, cntfrq_el0"
#elif defined(__arm__)
#define COUNTER_VIRTUAL   "mrrc	p15, 1, %Q0, %R0, c14"
#define COUNTER_PHYSICAL  "mrrc	p15, 0, %Q0, %R0, c14"
#define COUNTER_FREQUENCY "mov	%R0, #0\n\tmrc	p15, 0, %Q0, c14, c0, 0"
#else
#error "only Arm CPUs are known here: add the counter of this one"
#endif

#define COUNTER_FUNCTION(type, name, instruction)                                   \
	static inline type name(void)                                               \
	{                                                                           \
		uint64_t count;                                                     \
                                                                                    \
		__asm__ volatile("isb\n\t" instruction : "=r"(count) : : "memory"); \
		return (type)count;                                                 \
	}
COUNTER_FUNCTION(uint64_t, counter_virtual, COUNTER_VIRTUAL)
COUNTER_FUNCTION(uint64_t, counter_physical, COUNTER_PHYSICAL)
COUNTER_FUNCTION(uint32_t, counter_frequency, COUNTER_FREQUENCY)
#endif
