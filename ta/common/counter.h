/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counter of the generic timer. Where the TEE forbids it, reading it ends
 * the TA: teemark/ta_clock.h says who may.
 */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>

#if defined(COUNTER_OF_SHIM)

/* The unit tests' own. */
uint64_t counter_virtual(void);
uint64_t counter_physical(void);
uint32_t counter_frequency(void);

/* ISB: the count is not read before what stands before it. */
#elif defined(__aarch64__)
#define COUNTER_READ(name)                                        \
	({                                                        \
		uint64_t count_;                                  \
                                                                  \
		__asm__ volatile("isb\n\tmrs	%0, " name "_el0" \
				 : "=r"(count_)                   \
				 :                                \
				 : "memory");                     \
		count_;                                           \
	})

static inline uint64_t counter_virtual(void)
{
	return COUNTER_READ("cntvct");
}

static inline uint64_t counter_physical(void)
{
	return COUNTER_READ("cntpct");
}

static inline uint32_t counter_frequency(void)
{
	return (uint32_t)COUNTER_READ("cntfrq");
}

#elif defined(__arm__)
static inline uint64_t counter_virtual(void)
{
	uint64_t count;

	__asm__ volatile("isb\n\tmrrc	p15, 1, %Q0, %R0, c14"
			 : "=r"(count)
			 :
			 : "memory");
	return count;
}

static inline uint64_t counter_physical(void)
{
	uint64_t count;

	__asm__ volatile("isb\n\tmrrc	p15, 0, %Q0, %R0, c14"
			 : "=r"(count)
			 :
			 : "memory");
	return count;
}

static inline uint32_t counter_frequency(void)
{
	uint32_t hz;

	__asm__ volatile("mrc	p15, 0, %0, c14, c0, 0" : "=r"(hz));
	return hz;
}

#else
#error "only Arm CPUs are known here: add the counter of this one"
#endif

#endif
