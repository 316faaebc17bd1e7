/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * invoke/none/BACKEND/none: an empty call. With backend `empty` it is the
 * cost of measuring itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "pool.h"
#include "workload.h"

struct invoke {
	const struct backend *backend;
	struct session *session;
};

static int invoke_parse(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	int ret = case_need_no_algorithm(c, err);

	if (!ret)
		ret = case_need_backend(c, err);
	if (ret)
		return ret;
	if (strcmp(c->parameters, "none"))
		return error_set(err, -EINVAL,
				 "workload invoke has no "
				 "parameters \"%s\" (none)",
				 c->parameters);
	return pool_reserve(pool, c->backend, 0, err);
}

static int invoke_prepare(struct bench_case *c, struct pool *pool,
			  struct error *err)
{
	struct session *session;
	struct invoke *in;
	int ret;

	ret = pool_session(pool, c->backend, &session, err);
	if (ret)
		return ret;
	if (!c->backend->nop)
		return error_skip(err, -EOPNOTSUPP, "no-call",
				  "backend %s "
				  "is not called across a border: there is no "
				  "empty call to it",
				  c->backend->name);
	in = calloc(1, sizeof(*in));
	if (!in)
		return error_set(err, -ENOMEM, "out of memory");
	in->backend = c->backend;
	in->session = session;
	c->state = in;
	return 0;
}

static int invoke_run(void *state, uint32_t loops, uint32_t repeat,
		      struct error *err)
{
	struct invoke *in = state;
	int ret = 0;

	(void)repeat;
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = in->backend->nop(in->session, err);
	return ret;
}

/* An empty call has no result but its success, which run() checks. */
static int invoke_verify(void *state, struct error *err)
{
	return invoke_run(state, 1, 1, err);
}

static void invoke_teardown(void *state)
{
	free(state);
}

const struct workload workload_invoke = {
	.name = "invoke",
	.summary = "an empty call",
	.parameters = "none",
	.parse = invoke_parse,
	.prepare = invoke_prepare,
	.run = invoke_run,
	.verify = invoke_verify,
	.teardown = invoke_teardown,
	.list = listing_add_calls,
};
