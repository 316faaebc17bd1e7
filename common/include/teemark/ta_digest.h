/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of the digest TA (ta/digest): UUID, commands, parameters.
 *
 * The TA is multi-instance: every session is an instance with its own memory, so a session that
 * dies affects no other and sees no other's data. All parameters are checked. Wrong parameter
 * types: TEE_ERROR_BAD_PARAMETERS. An unknown command, algorithm or implementation, or one that
 * isn't available: TEE_ERROR_NOT_SUPPORTED. A command out of sequence: TEE_ERROR_BAD_STATE. An
 * output buffer that is too small: TEE_ERROR_SHORT_BUFFER, with the size needed.
 *
 * Besides the commands below, the TA has the clock of ta_clock.h.
 */
#pragma once

#include <teemark/ta_work.h>

/* clang-format off */
#define TA_DIGEST_UUID \
	{ 0x5e5b2f0c, 0x6d0a, 0x4b57, \
	  { 0x9c, 0x1e, 0x3a, 0x7f, 0x41, 0xd2, 0x88, 0x60 } }
/* clang-format on */

/* Version of the interface; raised when the meaning of a command or parameter changes. */
#define TA_DIGEST_ABI 2

/* The implementations inside the TA. */
enum ta_digest_impl {
	TA_DIGEST_IMPL_TEE = 0, /* TEE Internal Core API */
	TA_DIGEST_IMPL_C = 1,   /* common/src, portable C */
	TA_DIGEST_IMPL_CE = 2,  /* common/src, ARMv8 Crypto Extensions */
};

enum ta_digest_cmd {
	/*
	 * Does nothing, to measure the overhead of a call by kind of parameter. Accepts no
	 * parameters, or value in/out/inout and memref in/out/inout in any place; memory isn't
	 * touched, and values are returned unchanged.
	 */
	TA_DIGEST_CMD_NOP = 0,

	/*
	 * [0] value out: a = TA_DIGEST_ABI, b = mask of 1 << enum ta_digest_impl for the
	 * implementations compiled in
	 */
	TA_DIGEST_CMD_INFO = 1,

	/*
	 * Computes the digest of a whole message `repetitions` times, and returns it once. This
	 * doesn't affect the session's stream.
	 * [0] value in:  a = struct algorithm .id, b = enum ta_digest_impl
	 * [1] memref in: the message
	 * [2] memref out: the digest
	 * [3] value in:  a = repetitions; TEE_ERROR_BAD_PARAMETERS above the bound of ta_work.h
	 */
	TA_DIGEST_CMD_ONESHOT = 2,

	/*
	 * Begins the session's stream, and drops a stream that was under way, even if this call
	 * fails.
	 * [0] value in: a = struct algorithm .id, b = enum ta_digest_impl
	 */
	TA_DIGEST_CMD_INIT = 3,

	/* [0] memref in: the next bytes of the stream's message */
	TA_DIGEST_CMD_UPDATE = 4,

	/*
	 * Ends the stream, even if this call fails; except that TEE_ERROR_BAD_PARAMETERS and
	 * TEE_ERROR_SHORT_BUFFER leave the stream unchanged.
	 * [0] memref in: the last bytes, may be empty; or none
	 * [1] memref out: the digest
	 */
	TA_DIGEST_CMD_FINAL = 5,

	/*
	 * How much of the instance's stack was ever used (measured by ta/digest/stack.h).
	 * [0] value out: a = most bytes used, in steps of 8 bytes, at least what was in use when the
	 *     session opened; b = size of the stack; both 0 if the stack can't be found
	 */
	TA_DIGEST_CMD_STACK = 6,
};
