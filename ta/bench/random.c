/* SPDX-License-Identifier: BSD-2-Clause */
#include "session.h"

TEE_Result random_fill(struct session *session, TEE_Param *params)
{
	uint8_t *out = params[0].memref.buffer;
	size_t len = params[0].memref.size;
	uint32_t repeat = params[1].value.a;

	(void)session;

	if (!ta_work_random_ok(repeat, len) || (len && !out))
		return TEE_ERROR_BAD_PARAMETERS;

	for (uint32_t i = 0; i < repeat; i++) {
		size_t chunk = 0;

		for (size_t at = 0; at < len; at += chunk) {
			chunk = len - at;
			if (chunk > TA_BENCH_RANDOM_CHUNK)
				chunk = TA_BENCH_RANDOM_CHUNK;
			TEE_GenerateRandom(out + at, chunk);
		}
	}
	return TEE_SUCCESS;
}
