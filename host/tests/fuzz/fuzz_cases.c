/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of cases, and every workload's reading of its part of a key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "pool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct bench_case *c, struct pool *pool)
{
	struct error why = { 0 };
	int ret = case_parse(c, pool, &why);

	/* A refused case says why; nothing is opened for it. */
	if ((ret != 0) != (why.what[0] != '\0') || c->state)
		abort();
	if (!c->options.n_repeats || c->options.n_repeats > CASE_REPEATS_MAX || !c->options.samples)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct case_options defaults = {
		.samples = 30,
		.min_ns = 100000,
		.repeats = { 1 },
		.n_repeats = 1,
	};
	struct cases cases = { 0 };
	struct pool pool = { 0 };
	struct error err = { 0 };
	FILE *in;

	if (!size)
		return 0;
	in = fmemopen((void *)data, size, "r");
	if (!in)
		return 0;
	if (!cases_read(&cases, in, "cases", &defaults, &err) == !!err.what[0])
		abort();
	for (size_t i = 0; i < cases.count; i++)
		check(&cases.list[i], &pool);
	cases_free(&cases);
	pool_close(&pool);
	fclose(in);
	return 0;
}
