/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <teemark/ta_broker.h>

#define TA_UUID TA_BROKER_UUID

/*
 * All sessions share an instance, and with it what was seen of a sender. It isn't kept alive
 * without a session, so that a new TA file is loaded with the next broker.
 */
#define TA_FLAGS (TA_FLAG_EXEC_DDR | TA_FLAG_SINGLE_INSTANCE | TA_FLAG_MULTI_SESSION)

/* The heap holds sessions and what ECDH takes; a struct broker is beside it. */
#define TA_STACK_SIZE (8 * 1024)
#define TA_DATA_SIZE  (24 * 1024)

#define TA_VERSION     "1.0"
#define TA_DESCRIPTION "teemark: MQTT-TZ, messages sealed anew for each reader"
