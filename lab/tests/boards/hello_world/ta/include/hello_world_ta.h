/* SPDX-License-Identifier: BSD-2-Clause */
/* The published interface of the hello_world of optee_examples. */
#pragma once

/* 8aaaf200-2450-11e4-abe2-0002a5d5c51b */
#define TA_HELLO_WORLD_UUID                                            \
	{                                                              \
		0x8aaaf200, 0x2450, 0x11e4,                            \
		{                                                      \
			0xab, 0xe2, 0x00, 0x02, 0xa5, 0xd5, 0xc5, 0x1b \
		}                                                      \
	}

#define TA_HELLO_WORLD_CMD_INC_VALUE 0
#define TA_HELLO_WORLD_CMD_DEC_VALUE 1

/* Not published: what goes wrong, for the tests. */
#define TA_HELLO_WORLD_CMD_PANIC 100
