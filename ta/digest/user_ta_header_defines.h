/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <teemark/ta_digest.h>

#define TA_UUID TA_DIGEST_UUID

/* Multi-instance: every session has an instance and memory of its own. */
#define TA_FLAGS TA_FLAG_EXEC_DDR

/*
 * Sizes in bytes. Both are small, because OP-TEE maps a TA's memory anew on every call; a page less
 * makes no difference. With the framework's 2 KiB the stack is two pages (under 1 KiB is used:
 * ta_check stack); stack_region.c relies on whole pages. The heap holds a session and two
 * operations.
 */
#define TA_STACK_SIZE (6 * 1024)
#define TA_DATA_SIZE  (4 * 1024)

#define TA_VERSION     "1.0"
#define TA_DESCRIPTION "teemark: message digests"
