/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <teemark/ta_bench.h>

#ifdef TA_BENCH_SESSIONS /* most sessions of the single instance */
#define TA_UUID  TA_BENCH_SINGLE_UUID
#define TA_FLAGS (TA_FLAG_EXEC_DDR | TA_FLAG_SINGLE_INSTANCE | TA_FLAG_MULTI_SESSION)
#else
/* Multi-instance: every session has an instance and memory of its own. */
#define TA_UUID           TA_BENCH_UUID
#define TA_FLAGS          TA_FLAG_EXEC_DDR
#define TA_BENCH_SESSIONS 1
#endif

/*
 * Sizes in bytes; small, as OP-TEE maps a TA's memory anew on every call. The heap holds a session
 * with its decryption buffer, two operations and their keys.
 */
#define TA_STACK_SIZE (6 * 1024)
#define TA_DATA_SIZE  ((TA_BENCH_AE_DECRYPT_MAX + 1024) * TA_BENCH_SESSIONS + 11 * 1024)

#define TA_VERSION     "1.0"
#define TA_DESCRIPTION "teemark: ciphers, MACs, storage, random numbers, code"
