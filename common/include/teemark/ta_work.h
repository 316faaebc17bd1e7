/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much one call may have a TA do.
 *
 * Nobody can end a call from outside: when its client is killed, the TEE works
 * on, and keeps one of the few threads that it has for all clients. So a
 * command that repeats something is refused, before it begins, where it would
 * do more than this. Longer work is many calls.
 */
#ifndef TEEMARK_TA_WORK_H
#define TEEMARK_TA_WORK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Bytes: repetitions times the length. The slowest published figure for a
 * digest in a TEE is 11.6 MiB/s (reference/rpi3-secure-hash.csv): 0.7 seconds.
 */
#define TA_WORK_MAX (8u << 20)

/*
 * Repetitions of what is short: each takes a system call or two into OP-TEE
 * and a block of the algorithm, 10 to 20 us on such a board.
 */
#define TA_REPEAT_MAX (1u << 16)

/* Random bytes: there are hardware sources that give 64 KiB a second. */
#define TA_WORK_RANDOM_MAX (64u << 10)

/*
 * A message that is not repeated may be longer: what OP-TEE can map of a
 * client's memory bounds it, for it lists the pages in a heap of some 100 KiB.
 */
static inline bool ta_work_ok(uint32_t repeat, uint64_t len)
{
	return repeat == 1 ||
	       (repeat && repeat <= TA_REPEAT_MAX && len <= TA_WORK_MAX &&
		repeat * len <= TA_WORK_MAX);
}

/* Of random bytes, repeated or not. */
static inline bool ta_work_random_ok(uint32_t repeat, uint64_t len)
{
	return repeat && repeat <= TA_REPEAT_MAX && len <= TA_WORK_RANDOM_MAX &&
	       repeat * len <= TA_WORK_RANDOM_MAX;
}

#endif
