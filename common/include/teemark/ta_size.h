/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract of the size TAs (ta/size): one TA that does nothing, built with
 * several sizes of data, since OP-TEE maps a TA's memory on every call.
 *
 * Single-instance, many sessions: while one session is open, opening another
 * loads nothing.
 *
 * Its one command is 0, without parameters. Wrong parameter types:
 * TEE_ERROR_BAD_PARAMETERS. Another command: TEE_ERROR_NOT_SUPPORTED.
 */
#pragma once

/* kib: TA_DATA_SIZE in KiB; its decimal digits end the text of the UUID. */
#define TA_SIZE_UUID(kib)                                                       \
	{                                                                       \
		0x6c1f9d34, 0x2b7a, 0x4e58,                                     \
		{                                                               \
			0x9d, 0x03, 0x71, 0xa4, 0xe5, TA_SIZE_BCD_(kib, 10000), \
				TA_SIZE_BCD_(kib, 100), TA_SIZE_BCD_(kib, 1)    \
		}                                                               \
	}
#define TA_SIZE_BCD_(kib, unit) ((((kib) / (unit) / 10) % 10) << 4 | ((kib) / (unit)) % 10)

/* The sizes that are built, for calls; ta/size/Makefile names the same. */
/* clang-format off */
#define TA_SIZE_ALL { 32, 256, 1024, 4096, 8192 }
/* clang-format on */
/* A further size is for sessions alone: nothing else may keep its instance alive. */
#define TA_SIZE_SESSION 64u

enum ta_size_cmd {
	TA_SIZE_CMD_NOP = 0,
};
