/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storage/OP/BACKEND/BYTES: an operation on a stored object of that size:
 * create, open, read, write, rename, truncate (to half), delete. Each is the
 * operation alone; what it needs or leaves is made and removed untimed.
 * open-read-close is the three as one, in the TEE one call.
 */
#include <errno.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "listing.h"
#include "stores.h"

static int storage_parse(struct bench_case *c, struct pool *pool,
			 struct error *err)
{
	const struct store *const *store = stores;
	struct storage_job job;
	int ret = case_choice(c->algorithm_name, storage_ops,
			      "an operation of storage", err);

	if (ret < 0)
		return ret;
	while (*store && strcmp((*store)->name, c->backend_name))
		store++;
	if (!*store)
		return error_set(err, -EINVAL, "there is no storage \"%s\"",
				 c->backend_name);
	ret = case_bytes(c, c->parameters, TA_BENCH_OBJECT_MAX, err);
	if (!ret && c->bytes < 2)
		ret = error_set(err, -EINVAL,
				"the object has 2 bytes at least");
	if (ret)
		return ret;
	storage_job_of(c, &job);
	c->loops_max = storage_loops_max(job.op, (*store)->made_max);
	c->workload = (*store)->workload;
	return (*store)->reserve ? (*store)->reserve(pool, &job, err) : 0;
}

static void storage_list(struct listing *listing, struct pool *pool)
{
	for (size_t i = 0; stores[i]; i++) {
		struct error why = { 0 };

		stores[i]->probe(pool, &why);
		for (int op = 0; op < STORAGE_OPS; op++) {
			struct error here = why;
			const char *lacks =
				stores[i]->lacks ?
					stores[i]->lacks((enum storage_op)op) :
					NULL;

			if (lacks)
				error_skip(&here, -EOPNOTSUPP, "no-step", "%s",
					   lacks);
			listing_add(listing, storage_ops[op], stores[i]->name,
				    &here);
		}
	}
}

const struct workload workload_storage = {
	.name = "storage",
	.summary = "an operation on a stored object",
	.parameters = "BYTES",
	.parse = storage_parse,
	.list = storage_list,
};
