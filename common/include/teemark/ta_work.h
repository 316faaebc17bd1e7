/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much one call may have a TA do.
 *
 * Nobody can end a call from outside: when its client is killed, the TEE works
 * on, and keeps one of the few threads that it has for all clients. So a
 * command that repeats something is refused, before it begins, where it would
 * do more than this. Longer work is many calls.
 *
 * `ta_torture longest` measures the dearest calls that are let through: at most
 * 12 times what 4 MiB of SHA-256 in portable C take on the emulated board.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Bounds the bytes of a call: repetitions times the length. AES-GCM and XTS without the CPU's
 * instructions take longest for a byte: 0.4 us on a Cortex-A53 at 1.2 GHz (370 instructions), 1.7
 * seconds for all.
 */
#define TA_WORK_MAX (4u << 20)

/*
 * Repetitions of what is short, a few system calls into OP-TEE each. On the
 * emulated board one takes 143 us (the end of a digest) to 182 us (XTS of 112
 * bytes), and 580 us on a busy host: 0.4 seconds for all, or 1.2.
 */
#define TA_REPEAT_MAX (1u << 11)

/* Random bytes: there are hardware sources that give 64 KiB a second. */
#define TA_WORK_RANDOM_MAX (64u << 10)

/*
 * Returns whether a call may repeat so much. A message that isn't repeated may be longer: it is
 * bounded by what OP-TEE can map of a client's memory, for it lists the pages in a heap of some 100
 * KiB.
 */
static inline bool ta_work_ok(uint32_t repeat, uint64_t len)
{
	return repeat == 1 || (repeat && repeat <= TA_REPEAT_MAX && len <= TA_WORK_MAX &&
			       repeat * len <= TA_WORK_MAX);
}

/* Returns whether a call may draw this many random bytes, with its repetitions. */
static inline bool ta_work_random_ok(uint32_t repeat, uint64_t len)
{
	return repeat && repeat <= TA_REPEAT_MAX && len <= TA_WORK_RANDOM_MAX &&
	       repeat * len <= TA_WORK_RANDOM_MAX;
}
