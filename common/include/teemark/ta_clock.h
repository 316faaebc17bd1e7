/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock of a session, which the digest TA and the bench TA have: it measures how long the
 * handlers of the session's commands took, by the counter of the generic timer.
 *
 * A TEE may forbid TAs to read that counter, and then kills an instance that reads it. Therefore
 * the clock is off when a session opens, and the TA doesn't read the counter while the clock is
 * off; the client first tries the counter in an instance of the probe TA (ta_probe.h). The clock
 * measures only its own session, and reveals nothing: a client can also time its calls from
 * outside.
 */
#pragma once

enum ta_clock {
	TA_CLOCK_OFF = 0,
	TA_CLOCK_VIRTUAL = 1,  /* CNTVCT_EL0 */
	TA_CLOCK_PHYSICAL = 2, /* CNTPCT_EL0 */
};

enum ta_clock_cmd {
	/*
	 * Returns the ticks counted since the last call of this command, and restarts the counting
	 * with the clock given. Counted is the time in the handlers of all other commands, also of
	 * those that fail; the crossing and the check of parameter types are not included.
	 * TEE_ERROR_BAD_PARAMETERS if there is no such clock, and nothing changes.
	 * [0] value in:  a = enum ta_clock, from here on
	 * [1] value out: a = ticks, low 32 bits, b = high 32 bits
	 * [2] value out: a = CNTFRQ_EL0 in Hz, as the firmware set it; 0 if the clock was off
	 */
	TA_CLOCK_CMD = 90,
};
