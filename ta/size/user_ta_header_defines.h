/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <teemark/ta_size.h>

#define TA_UUID TA_SIZE_UUID(TA_DATA_KIB)

#define TA_FLAGS (TA_FLAG_EXEC_DDR | TA_FLAG_SINGLE_INSTANCE | TA_FLAG_MULTI_SESSION)

#define TA_STACK_SIZE (2 * 1024)
#define TA_DATA_SIZE  (TA_DATA_KIB * 1024)

#define TA_VERSION     "1.0"
#define TA_DESCRIPTION "teemark: an empty call, by the size of the TA"
