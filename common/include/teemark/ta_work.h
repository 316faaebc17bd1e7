/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds on the work of one call of a TA.
 *
 * Nobody can end a call from outside: if its client is killed, the TEE keeps working, and the call
 * occupies one of the few threads for all clients. So a command that repeats something is refused
 * before it begins if it would exceed these bounds; longer work is split into calls. `ta_torture
 * longest` measures the slowest calls allowed: at most 12 times the time of 4 MiB of SHA-256 in
 * portable C on the emulated board.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Bound of the bytes of a call: repetitions times length. Slowest are AES-GCM and XTS without the
 * CPU's instructions: 0.4 us a byte on a Cortex-A53 at 1.2 GHz (370 instructions), 1.7 seconds for
 * all.
 */
#define TA_WORK_MAX (4u << 20)

/*
 * Bound of the repetitions of short work, a few system calls into OP-TEE each. On the emulated
 * board one repetition takes 143 us (the end of a digest) to 182 us (XTS of 112 bytes), and 580 us
 * on a busy host; all together take 0.4 seconds, or 1.2.
 */
#define TA_REPEAT_MAX (1u << 11)

/* Bound of the random bytes of a call: some hardware sources give only 64 KiB a second. */
#define TA_WORK_RANDOM_MAX (64u << 10)

/*
 * Returns true if a call may repeat work on len bytes this often. A single message may be longer
 * than TA_WORK_MAX; its bound is what OP-TEE can map of a client's memory, because OP-TEE lists the
 * pages in a heap of about 100 KiB.
 */
static inline bool ta_work_ok(uint32_t repeat, uint64_t len)
{
	return repeat == 1 || (repeat && repeat <= TA_REPEAT_MAX && len <= TA_WORK_MAX &&
			       repeat * len <= TA_WORK_MAX);
}

/* Returns true if a call may draw len random bytes `repeat` times. */
static inline bool ta_work_random_ok(uint32_t repeat, uint64_t len)
{
	return repeat && repeat <= TA_REPEAT_MAX && len <= TA_WORK_RANDOM_MAX &&
	       repeat * len <= TA_WORK_RANDOM_MAX;
}
