/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#define TA_UUID                                                        \
	{                                                              \
		0x9b3c61e0, 0x58d7, 0x4f3a,                            \
		{                                                      \
			0x8c, 0x15, 0xd6, 0x0e, 0x72, 0xab, 0x9f, 0x41 \
		}                                                      \
	}
#define TA_FLAGS TA_FLAG_EXEC_DDR

#define TA_STACK_SIZE (4 * 1024)
#define TA_DATA_SIZE  (32 * 1024)

#define TA_VERSION     "1.0"
#define TA_DESCRIPTION "takes known amounts of stack and heap"
