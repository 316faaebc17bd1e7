/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log/lines/tee/N, time/ree/tee/N, time/system/tee/N: a call in which a TA
 * writes N lines to the console, or asks N times what time it is.
 */
#include <teemark/ta_bench.h>

#include "tee_call.h"

struct ask {
	struct tee_call call;
	uint32_t times;
};

static const char *const lines[] = { "lines", NULL };
static const char *const clocks[] = { "ree", "system", NULL };

static int ask_prepare(struct bench_case *c, struct error *err)
{
	struct ask *a = c->state;
	uint32_t what = c->workload->names == lines ? TA_BENCH_ASK_LINE :
			c->name                     ? TA_BENCH_ASK_SYSTEM_TIME :
						      TA_BENCH_ASK_REE_TIME;

	a->times = (uint32_t)c->part[0].number;
	c->result = &a->call.op.params[1].value.a;
	c->want = &a->times;
	c->want_bytes = sizeof(a->times);
	a->call = (struct tee_call){ .tee = workplace_ta(c->workplace),
				     .command = TA_BENCH_CMD_ASK,
				     .doing = "have the bench TA ask OP-TEE" };
	tee_set_value(&a->call.op, 0, what, a->times);
	tee_set_type(&a->call.op, 1, TEEC_VALUE_OUTPUT);
	return 0;
}

#define ASK                                                                           \
	.most = TA_BENCH_ASK_MAX, .backend = "tee", .workplace = WORKPLACE_SAME_CODE, \
	.state_size = sizeof(struct ask), .prepare = ask_prepare, .run = tee_call_run

const struct workload workload_log = {
	.name = "log",
	.summary = "a TA that writes to the console",
	.parameters = "LINES",
	.names = lines,
	ASK,
};

const struct workload workload_time = {
	.name = "time",
	.summary = "a TA that asks for the time",
	.parameters = "TIMES",
	.names = clocks,
	ASK,
};
