/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of the probe TA (ta/probe), which finds out what a TA may do here by doing it. If
 * an action is forbidden, OP-TEE kills the instance and the call returns TEE_ERROR_TARGET_DEAD
 * (0xffff3024): a result, not an error. Therefore no TA that measures does this; open one session
 * for each question.
 *
 * Wrong parameter types: TEE_ERROR_BAD_PARAMETERS. An unknown command: TEE_ERROR_NOT_SUPPORTED.
 */
#pragma once

/* clang-format off */
#define TA_PROBE_UUID \
	{ 0x8d1f60c7, 0x5b3e, 0x4c92, \
	  { 0xb0, 0x27, 0xe4, 0x19, 0x6a, 0x53, 0xcd, 0x08 } }
/* clang-format on */

enum ta_probe_cmd {
	/* Does nothing, without parameters, to show that a TA can be opened and called. */
	TA_PROBE_CMD_NOP = 0,

	/*
	 * Reads the counter of the generic timer.
	 * VIRTUAL: CNTVCT_EL0; PHYSICAL: CNTPCT_EL0
	 * [0] value out: a = count, low 32 bits, b = high 32 bits
	 * [1] value out: a = CNTFRQ_EL0 in Hz, 0 if the firmware didn't set it
	 */
	TA_PROBE_CMD_COUNTER_VIRTUAL = 1,
	TA_PROBE_CMD_COUNTER_PHYSICAL = 2,
};
