/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of the size TAs (ta/size): a TA that does nothing, built with several sizes of
 * data, because OP-TEE maps a TA's memory on every call.
 *
 * Single-instance, many sessions: while one session is open, opening another loads nothing. The
 * only command is 0, without parameters. Wrong parameter types: TEE_ERROR_BAD_PARAMETERS. Another
 * command: TEE_ERROR_NOT_SUPPORTED.
 */
#pragma once

/* UUID of the TA with TA_DATA_SIZE kib KiB, whose decimal digits end the UUID's text. */
#define TA_SIZE_UUID(kib)                                                       \
	{                                                                       \
		0x6c1f9d34, 0x2b7a, 0x4e58,                                     \
		{                                                               \
			0x9d, 0x03, 0x71, 0xa4, 0xe5, TA_SIZE_BCD_(kib, 10000), \
				TA_SIZE_BCD_(kib, 100), TA_SIZE_BCD_(kib, 1)    \
		}                                                               \
	}
#define TA_SIZE_BCD_(kib, unit) ((((kib) / (unit) / 10) % 10) << 4 | ((kib) / (unit)) % 10)

/* The sizes in KiB built for measuring calls; ta/size/Makefile has the same list. */
/* clang-format off */
#define TA_SIZE_ALL { 32, 256, 1024, 4096, 8192 }
/* clang-format on */
/* The size in KiB whose opening is measured: no other session may keep its instance loaded. */
#define TA_SIZE_SESSION 64u

enum ta_size_cmd {
	TA_SIZE_CMD_NOP = 0,
};
