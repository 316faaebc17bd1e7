/* SPDX-License-Identifier: BSD-2-Clause */
/* What leaves the TA: a line for the console, a question for the time. */
#include <trace.h>

#include "session.h"

static const char line[] =
	"teemark: a line of 64 bytes, as a debug message would be ......\n";
_Static_assert(sizeof(line) == 64 + 1, "a line is 64 bytes");

TEE_Result ask(struct session *session, TEE_Param *params)
{
	uint32_t what = params[0].value.a;
	uint32_t times = params[0].value.b;
	TEE_Time now = { 0 };
	uint32_t done = 0;

	(void)session;

	if (times > TA_BENCH_ASK_MAX)
		return TEE_ERROR_BAD_PARAMETERS;

	while (done < times) {
		switch (what) {
		case TA_BENCH_ASK_LINE:
			trace_ext_puts(line);
			break;
		case TA_BENCH_ASK_REE_TIME:
			TEE_GetREETime(&now);
			break;
		case TA_BENCH_ASK_SYSTEM_TIME:
			TEE_GetSystemTime(&now);
			break;
		default:
			return TEE_ERROR_NOT_SUPPORTED;
		}
		done++;
	}

	params[1].value.a = done;
	params[1].value.b = now.seconds * 1000 + now.millis;
	return TEE_SUCCESS;
}
