/* SPDX-License-Identifier: BSD-2-Clause */
#include "ta.h"

#include "cpu.h"
#include "ta_session.h"

static const struct ta_name ta_broker_name = {
	.uuid = TA_BROKER_UUID,
	.name = "broker TA",
	.info_command = TA_BROKER_CMD_INFO,
	.abi = TA_BROKER_ABI,
};

int tz_ta_open(struct tee_session **tee, bool extensions, struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t clients = 0;
	int rc = ta_session_open(&ta_broker_name, tee, &clients, err);

	if (rc || !extensions || !cpu_has(CPU_AES) || !cpu_has(CPU_PMULL))
		return rc;
	/* If the TA was built without them, it uses portable code with the same result. */
	tee_invoke(*tee, TA_BROKER_CMD_EXTENSIONS, &op, "use AES", NULL);
	return 0;
}
