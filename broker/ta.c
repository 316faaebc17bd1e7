/* SPDX-License-Identifier: BSD-2-Clause */
#include "ta.h"

#include <errno.h>

#include "cpu.h"
#include "ta_session.h"

static const struct ta_name ta_broker_name = {
	.uuid = TA_BROKER_UUID,
	.uuid_text = TA_BROKER_UUID_TEXT,
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
	/* A TA without them has portable code, which does the same. */
	tee_invoke(*tee, TA_BROKER_CMD_EXTENSIONS, &op, "use AES", NULL);
	return 0;
}

static int call(struct tee_session *tee, uint32_t command, uint32_t type,
		void *data, size_t *len, const char *doing, struct error *err)
{
	TEEC_Operation op = { .paramTypes = type };
	int rc = 0;

	op.params[0].tmpref.buffer = data;
	op.params[0].tmpref.size = *len;
	rc = tee_invoke(tee, command, &op, doing, err);
	*len = op.params[0].tmpref.size;
	return rc;
}

int tz_ta_put(struct tee_session *tee, uint32_t command, const void *data,
	      size_t len, const char *doing, struct error *err)
{
	return call(tee, command, TEEC_MEMREF_TEMP_INPUT, (void *)data, &len,
		    doing, err);
}

int tz_ta_get(struct tee_session *tee, uint32_t command, void *data, size_t len,
	      const char *doing, struct error *err)
{
	size_t got = len;
	int rc = call(tee, command, TEEC_MEMREF_TEMP_OUTPUT, data, &got, doing,
		      err);

	if (!rc && got != len)
		return error_set(err, -EPROTO,
				 "the broker TA gave %zu bytes "
				 "where %zu were due",
				 got, len);
	return rc;
}

int tz_ta_list(struct tee_session *tee, uint32_t *row, uint8_t *out,
	       size_t *len, struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INOUT,
					       TEEC_MEMREF_TEMP_OUTPUT,
					       TEEC_NONE, TEEC_NONE),
	};
	struct error mine = { 0 };
	int rc = 0;

	op.params[0].value.a = *row;
	op.params[1].tmpref.buffer = out;
	op.params[1].tmpref.size = *len;
	rc = tee_invoke(tee, TA_BROKER_CMD_LIST, &op, "list the clients",
			&mine);
	if (rc && mine.tee_result == TEEC_ERROR_ITEM_NOT_FOUND)
		return -ENOENT;
	if (rc && err)
		*err = mine;
	*row = op.params[0].value.a;
	*len = op.params[1].tmpref.size;
	return rc;
}
