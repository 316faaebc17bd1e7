/* SPDX-License-Identifier: BSD-2-Clause */
#include "rpcs.h"
#include "json.h"

int rpcs_count(struct rpcs *rpcs, struct bench_case *c, uint32_t calls, struct error *err)
{
	struct trace *trace;
	int ret;

	*rpcs = (struct rpcs){ .calls = calls };
	trace_begin(&trace, &rpcs->why);
	ret = case_run(c, calls, 1, err);
	trace_end(trace, &rpcs->counts, &rpcs->why);
	return ret;
}

void rpcs_put(const struct rpcs *rpcs, struct json *json)
{
	if (!rpcs->why.code) {
		json_double(json, "rpcs_per_call", (double)trace_rpcs(&rpcs->counts) / rpcs->calls);
	} else {
		json_null(json, "rpcs_per_call");
		json_string(json, "rpcs_reason", rpcs->why.what);
	}
}
