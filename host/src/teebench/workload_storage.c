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

#include "storage.h"

const struct store *const stores[] = {
	&storage_ree_fs, &storage_rpmb, &storage_memory, &storage_file, &storage_file_fsync, NULL,
};

static int storage_parse(struct bench_case *c, struct error *err)
{
	const struct store *const *store = stores;

	while (*store && strcmp((*store)->name, c->backend_name))
		store++;
	if (!*store)
		return case_wrong(err, "there is no storage \"%s\"", c->backend_name);
	if (c->name == STORAGE_CREATE || c->name == STORAGE_OPEN || c->name == STORAGE_TRUNCATE ||
	    c->name == STORAGE_DELETE)
		c->loops_max = (*store)->made_max;
	c->workload = (*store)->workload;
	return (*store)->reserve ? (*store)->reserve(c->pool, (size_t)c->bytes, err) : 0;
}

const struct workload workload_storage = {
	.name = "storage",
	.summary = "an operation on a stored object",
	.parameters = "BYTES",
	.names = storage_ops,
	.what = "an operation of storage",
	.backend = "",
	.least = 2,
	.most = TA_BENCH_OBJECT_MAX,
	.parse = storage_parse,
};
