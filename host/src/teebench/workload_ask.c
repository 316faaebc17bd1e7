/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log/lines/tee/N, time/ree/tee/N, time/system/tee/N: a call in which a TA
 * writes N lines to the console, or asks N times what time it is.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "listing.h"
#include "pool.h"
#include "tee_client.h"
#include "workload.h"

struct ask {
	struct tee_session *tee;
	TEEC_Operation op;
	uint32_t times;
};

static const char *const lines[] = { "lines", NULL };
static const char *const clocks[] = { "ree", "system", NULL };

static bool is_log(const char *workload)
{
	return !strcmp(workload, "log");
}

/* What the key asks for, or -EINVAL. */
static int what(const struct bench_case *c, struct error *err)
{
	bool log = is_log(c->workload_name);
	int i = case_choice(c->algorithm_name, log ? lines : clocks,
			    log ? "what a TA writes to the console" :
				  "a clock of the TEE",
			    err);

	if (i < 0)
		return i;
	if (log)
		return TA_BENCH_ASK_LINE;
	return i ? TA_BENCH_ASK_SYSTEM_TIME : TA_BENCH_ASK_REE_TIME;
}

static int ask_parse(struct bench_case *c, struct pool *pool, struct error *err)
{
	uint64_t times;
	int ret = what(c, err);

	if (ret >= 0)
		ret = case_need_tee(c, err);
	if (!ret)
		ret = case_number(c->parameters, "how often", TA_BENCH_ASK_MAX,
				  &times, err);
	return ret ? ret :
		     pool_reserve(pool, c->backend, DESK_SAME_CODE, 0, err);
}

static int ask_prepare(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	struct ask *a = c->state;
	struct desk *desk;
	uint64_t times;
	int ret;

	ret = case_number(c->parameters, "how often", TA_BENCH_ASK_MAX, &times,
			  err);
	if (!ret)
		ret = pool_desk(pool, c->backend, DESK_SAME_CODE, 0, &desk,
				err);
	if (ret)
		return ret;
	a->tee = desk_ta(desk);
	a->times = (uint32_t)times;
	tee_set_value(&a->op, 0, (uint32_t)what(c, err), a->times);
	tee_set_type(&a->op, 1, TEEC_VALUE_OUTPUT);
	return 0;
}

static int ask_run(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err)
{
	struct ask *a = state;

	(void)repeat;
	return tee_invoke_times(a->tee, TA_BENCH_CMD_ASK, &a->op, loops,
				"have the bench TA ask OP-TEE", err);
}

static int ask_check(void *state, struct error *err)
{
	struct ask *a = state;
	uint32_t done = a->op.params[1].value.a;

	a->op.params[1].value.a = ~a->times;
	if (done == a->times)
		return 0;
	return error_set(err, -EBADMSG, "the TA did it %u times, not %u", done,
			 a->times);
}

static void ask_list(struct listing *listing, struct pool *pool)
{
	listing_add_names(listing, pool, backend_by_name("tee"), DESK_SAME_CODE,
			  is_log(listing->workload) ? lines : clocks);
}

const struct workload workload_log = {
	.name = "log",
	.summary = "a TA that writes to the console",
	.parameters = "LINES",
	.state_size = sizeof(struct ask),
	.parse = ask_parse,
	.prepare = ask_prepare,
	.run = ask_run,
	.verify = ask_check,
	.check = ask_check,
	.list = ask_list,
};

const struct workload workload_time = {
	.name = "time",
	.summary = "a TA that asks for the time",
	.parameters = "TIMES",
	.state_size = sizeof(struct ask),
	.parse = ask_parse,
	.prepare = ask_prepare,
	.run = ask_run,
	.verify = ask_check,
	.check = ask_check,
	.list = ask_list,
};
