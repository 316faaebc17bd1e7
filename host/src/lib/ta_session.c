/* SPDX-License-Identifier: BSD-2-Clause */
#include "ta_session.h"

#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "clock.h"

const struct ta_name ta_digest_name = {
	.uuid = TA_DIGEST_UUID,
	.name = "digest TA",
	.info_command = TA_DIGEST_CMD_INFO,
	.abi = TA_DIGEST_ABI,
};

const struct ta_name ta_bench_name = {
	.uuid = TA_BENCH_UUID,
	.name = "bench TA",
	.info_command = TA_BENCH_CMD_INFO,
	.abi = TA_BENCH_ABI,
};

int ta_session_open(const struct ta_name *ta, struct tee_session **tee, uint32_t *more,
		    struct error *err)
{
	TEEC_Operation op = { .paramTypes = TEEC_VALUE_OUTPUT };
	char name[32], doing[64];
	uint64_t begin;
	int ret;

	snprintf(name, sizeof(name), "the %s", ta->name);
	snprintf(doing, sizeof(doing), "ask %s for its version", name);
	ret = tee_session_open(tee, &ta->uuid, name, err);
	if (ret)
		return ret;
	begin = clock_now_ns();
	ret = tee_invoke(*tee, ta->info_command, &op, doing, err);
	(*tee)->first_ns = clock_now_ns() - begin;
	*more = op.params[0].value.b;
	if (!ret && op.params[0].value.a != ta->abi)
		ret = error_skip(err, -EPROTO, "ta-version",
				 "the installed %s speaks version %u, this program "
				 "version %u\ninstall program and TA from one build",
				 ta->name, op.params[0].value.a, ta->abi);
	if (ret) {
		tee_session_close(*tee);
		*tee = NULL;
	}
	return ret;
}
