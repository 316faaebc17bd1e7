/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storage/OP/BACKEND/BYTES: an operation on a stored object of that size:
 * create, open, read, write, rename, truncate (to half), delete. Each is the
 * operation alone; what it needs or leaves is made and removed untimed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "json.h"
#include "listing.h"
#include "rpcs.h"
#include "stop.h"
#include "storage.h"

static const struct storage_backend *const stores[] = {
	&storage_ree_fs,     &storage_rpmb, &storage_file,
	&storage_file_fsync, NULL,
};

static const char *const ops[STORAGE_OPS] = {
	[STORAGE_CREATE] = "create", [STORAGE_OPEN] = "open",
	[STORAGE_READ] = "read",     [STORAGE_WRITE] = "write",
	[STORAGE_RENAME] = "rename", [STORAGE_TRUNCATE] = "truncate",
	[STORAGE_DELETE] = "delete",
};

struct storage {
	const struct storage_backend *store;
	struct storage_job job;
	void *state; /* the store's */
	bool in_tee;
	struct rpcs rpcs;
};

int storage_wrong(struct error *err, const struct storage_job *job,
		  const char *what)
{
	return error_set(err, -EBADMSG, "%s an object of %zu bytes: %s",
			 ops[job->op], job->bytes, what);
}

static const struct storage_backend *store_by_name(const char *name)
{
	for (size_t i = 0; stores[i]; i++)
		if (!strcmp(stores[i]->name, name))
			return stores[i];
	return NULL;
}

static int op_by_name(const char *name)
{
	for (int i = 0; i < STORAGE_OPS; i++)
		if (!strcmp(ops[i], name))
			return i;
	return -1;
}

/* From the key, so that a run that was killed leaves what the next removes. */
static void make_name(struct storage_job *job, const char *key)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (const char *p = key; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3u;
	snprintf(job->name, sizeof(job->name), "teemark-%016llx",
		 (unsigned long long)hash);
}

static int storage_parse(struct bench_case *c, struct pool *pool,
			 struct error *err)
{
	const struct storage_backend *store = store_by_name(c->backend_name);
	int op = op_by_name(c->algorithm_name);
	uint64_t bytes;
	int ret;

	if (op < 0)
		return error_set(err, -EINVAL,
				 "storage has no operation \"%s\" (create, "
				 "open, read, write, rename, truncate, delete)",
				 c->algorithm_name);
	if (!store)
		return error_set(err, -EINVAL,
				 "there is no storage \"%s\" (tee-ree-fs, "
				 "tee-rpmb, file, file-fsync)",
				 c->backend_name);
	ret = case_number(c->parameters, "the number of bytes",
			  TA_BENCH_OBJECT_MAX, &bytes, err);
	if (!ret && bytes < 2)
		ret = error_set(err, -EINVAL,
				"the object has 2 bytes at least");
	if (ret)
		return ret;
	c->bytes = (int64_t)bytes;
	c->loops_max = store->loops_max((enum storage_op)op);
	return store->reserve ? store->reserve(pool, (size_t)bytes, err) : 0;
}

static int storage_prepare(struct bench_case *c, struct pool *pool,
			   struct error *err)
{
	struct storage *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = s;
	s->store = store_by_name(c->backend_name);
	s->in_tee = !strncmp(c->backend_name, "tee-", 4);
	s->job.op = (enum storage_op)op_by_name(c->algorithm_name);
	s->job.bytes = (size_t)c->bytes;
	make_name(&s->job, c->key);
	ret = s->store->probe(s->store, pool, err);
	return ret ? ret :
		     s->store->open(&s->state, s->store, &s->job, pool, err);
}

static int storage_ready(void *state, uint32_t loops, uint32_t repeat,
			 struct error *err)
{
	struct storage *s = state;

	(void)repeat;
	return s->store->ready(s->state, loops, err);
}

static int storage_run(void *state, uint32_t loops, uint32_t repeat,
		       struct error *err)
{
	struct storage *s = state;

	return s->store->run(s->state, loops, repeat, err);
}

static int storage_check(void *state, struct error *err)
{
	struct storage *s = state;

	return s->store->check(s->state, err);
}

static int storage_verify(void *state, struct error *err)
{
	struct storage *s = state;
	int ret = s->store->check(s->state, err);

	if (ret || !s->in_tee)
		return ret;
	ret = stop_check(err);
	if (!ret)
		ret = s->store->ready(s->state, 1, err);
	if (!ret)
		ret = stop_check(err);
	if (!ret)
		ret = rpcs_count(&s->rpcs, s->store->run, s->state, 1, err);
	if (!ret)
		ret = stop_check(err);
	return ret ? ret : s->store->check(s->state, err);
}

static void storage_facts(const void *state, struct json *json)
{
	const struct storage *s = state;

	if (s->in_tee)
		rpcs_put(&s->rpcs, json);
	if (s->store->facts)
		s->store->facts(s->state, json);
}

static void storage_teardown(void *state)
{
	struct storage *s = state;

	if (s && s->state)
		s->store->close(s->state);
	free(s);
}

static void storage_list(struct listing *listing, struct pool *pool)
{
	for (size_t i = 0; stores[i]; i++) {
		struct error why = { 0 };

		stores[i]->probe(stores[i], pool, &why);
		for (int op = 0; op < STORAGE_OPS; op++)
			listing_add(listing, ops[op], stores[i]->name, &why);
	}
}

const struct workload workload_storage = {
	.name = "storage",
	.summary = "an operation on a stored object",
	.parameters = "BYTES",
	.parse = storage_parse,
	.prepare = storage_prepare,
	.ready = storage_ready,
	.run = storage_run,
	.verify = storage_verify,
	.check = storage_check,
	.facts = storage_facts,
	.teardown = storage_teardown,
	.list = storage_list,
};
