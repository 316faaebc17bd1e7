/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <teemark/ta_broker.h>

#define TA_UUID TA_BROKER_UUID

/*
 * All sessions share one instance, and with it the senders' replay windows. The instance ends with
 * its last session, so that the next broker loads a new TA file.
 */
#define TA_FLAGS (TA_FLAG_EXEC_DDR | TA_FLAG_SINGLE_INSTANCE | TA_FLAG_MULTI_SESSION)

/* Sizes in bytes. The heap holds sessions and ECDH's memory, but not the struct broker. */
#define TA_STACK_SIZE (8 * 1024)
#define TA_DATA_SIZE  (24 * 1024)

#define TA_VERSION     "1.0"
#define TA_DESCRIPTION "teemark: MQTT-TZ, messages sealed anew for each reader"
