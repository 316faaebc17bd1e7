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
#include "stores.h"
#include "workload.h"

struct storage {
	const struct storage_backend *store;
	struct storage_job job;
	void *state; /* the store's */
	struct rpcs rpcs;
};

static const struct storage_backend *store_by_name(const char *name)
{
	for (size_t i = 0; stores[i]; i++)
		if (!strcmp(stores[i]->name, name))
			return stores[i];
	return NULL;
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
	int op = case_choice(c->algorithm_name, storage_ops,
			     "an operation of storage", err);
	int ret;

	if (op < 0)
		return op;
	if (!store)
		return error_set(err, -EINVAL,
				 "there is no storage \"%s\" (tee-ree-fs, "
				 "tee-rpmb, file, file-fsync)",
				 c->backend_name);
	ret = case_bytes(c, c->parameters, TA_BENCH_OBJECT_MAX, err);
	if (!ret && c->bytes < 2)
		ret = error_set(err, -EINVAL,
				"the object has 2 bytes at least");
	c->loops_max = storage_loops_max((enum storage_op)op, store->made_max);
	if (ret || !store->reserve)
		return ret;
	return store->reserve(pool,
			      &(struct storage_job){ .bytes =
							     (size_t)c->bytes },
			      err);
}

static int storage_prepare(struct bench_case *c, struct pool *pool,
			   struct error *err)
{
	struct storage *s = case_state(c, sizeof(*s), err);
	int ret;

	if (!s)
		return -ENOMEM;
	s->store = store_by_name(c->backend_name);
	s->job.op = (enum storage_op)case_choice(c->algorithm_name, storage_ops,
						 "", err);
	s->job.bytes = (size_t)c->bytes;
	make_name(&s->job, c->key);
	ret = s->store->probe(s->store, err);
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

	if (ret || !s->store->secure)
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

	if (s->store->secure)
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
	static const struct storage_job trial = {
		.op = STORAGE_CREATE,
		.bytes = 2,
		.name = "teemark-trial",
	};

	for (size_t i = 0; stores[i]; i++) {
		struct error why = { 0 };
		void *state = NULL;

		/* Only by storing something can it be told. */
		if (!stores[i]->probe(stores[i], &why))
			stores[i]->open(&state, stores[i], &trial, pool, &why);
		if (state)
			stores[i]->close(state);
		for (int op = 0; op < STORAGE_OPS; op++)
			listing_add(listing, storage_ops[op], stores[i]->name,
				    &why);
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
