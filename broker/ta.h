/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens sessions with the broker TA. */
#pragma once

#include <teemark/ta_broker.h>

#include "tee_client.h"

/* TEE results of the TA that libteec's header doesn't name. */
#define TZ_RESULT_REPLAYED 0xffff0003u /* TEE_ERROR_ACCESS_CONFLICT */
#define TZ_RESULT_FORGED   0xffff3071u /* TEE_ERROR_MAC_INVALID */

/* Opens a session. `extensions` lets the TA use the CPU's AES and PMULL, if there are any. */
int tz_ta_open(struct tee_session **tee, bool extensions, struct error *err);
