/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "rpcs.h"
#include "trace.h"

int rpcs_count(struct rpcs *rpcs, struct bench_case *c, uint32_t calls, struct error *err)
{
	struct trace_counts counts = { .reason = "out of memory" };
	struct trace *trace = trace_begin(&counts);
	int ret = case_run(c, calls, 1, err);

	memset(rpcs, 0, sizeof(*rpcs));
	trace_end(trace, &counts);
	if (!counts.known) {
		snprintf(rpcs->reason, sizeof(rpcs->reason), "%s", counts.reason);
	} else if (counts.lost) {
		snprintf(rpcs->reason, sizeof(rpcs->reason),
			 "%llu events found no room in the trace buffer",
			 (unsigned long long)counts.lost);
	} else {
		rpcs->known = true;
		rpcs->per_call =
			(double)(counts.alloc + counts.free + counts.command + counts.other) /
			calls;
	}
	return ret;
}

void rpcs_put(const struct rpcs *rpcs, struct json *json)
{
	if (rpcs->known) {
		json_double(json, "rpcs_per_call", rpcs->per_call);
	} else {
		json_null(json, "rpcs_per_call");
		json_string(json, "rpcs_reason", rpcs->reason);
	}
}
