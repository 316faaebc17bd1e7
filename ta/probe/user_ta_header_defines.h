/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <teemark/ta_probe.h>

#define TA_UUID TA_PROBE_UUID

/* Multi-instance: if an instance is killed, the others live on. */
#define TA_FLAGS TA_FLAG_EXEC_DDR

#define TA_STACK_SIZE (2 * 1024)
#define TA_DATA_SIZE  (2 * 1024)

#define TA_VERSION     "1.0"
#define TA_DESCRIPTION "teemark: what a TA may do here"
