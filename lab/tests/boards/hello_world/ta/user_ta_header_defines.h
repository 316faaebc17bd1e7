/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <hello_world_ta.h>

#define TA_UUID  TA_HELLO_WORLD_UUID
#define TA_FLAGS TA_FLAG_EXEC_DDR

#define TA_STACK_SIZE (2 * 1024)
#define TA_DATA_SIZE  (32 * 1024)

#define TA_VERSION     "1.0"
#define TA_DESCRIPTION "increments and decrements a value"
