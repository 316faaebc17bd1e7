/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storage/OP/BACKEND/BYTES: an operation on a stored object of BYTES bytes: create, open, read,
 * write, rename, truncate (to half), delete. Only the operation is timed; objects that it needs or
 * leaves are made and removed untimed. open-read-close is three operations as one, in the TEE one
 * call.
 */
#include <stdlib.h>

#include <teemark/ta_bench.h>

#include "storage.h"

const struct store *const stores[] = {
	&storage_ree_fs, &storage_rpmb, &storage_memory, &storage_file, &storage_file_fsync, NULL,
};

static const char *const operations[] = {
	[STORAGE_CREATE] = "create", [STORAGE_OPEN] = "open",
	[STORAGE_READ] = "read",     [STORAGE_WRITE] = "write",
	[STORAGE_RENAME] = "rename", [STORAGE_TRUNCATE] = "truncate",
	[STORAGE_DELETE] = "delete", [STORAGE_OPEN_READ_CLOSE] = "open-read-close",
	[STORAGE_OPS] = NULL,
};

static const struct store *store_of(const struct bench_case *c)
{
	const struct store *const *store = stores;

	while (*store && strcmp((*store)->name, c->backend_name))
		store++;
	return *store;
}

static int storage_parse(struct bench_case *c, struct error *err)
{
	const struct store *store = store_of(c);

	if (!store)
		return case_wrong(err, "there is no storage \"%s\"", c->backend_name);
	if (c->name == STORAGE_CREATE || c->name == STORAGE_OPEN || c->name == STORAGE_TRUNCATE ||
	    c->name == STORAGE_DELETE)
		c->loops_max = store->made_max;
	return store->reserve ? store->reserve(c->pool, (size_t)c->bytes, err) : 0;
}

static int storage_prepare(struct bench_case *c, struct error *err)
{
	const struct store *store = store_of(c);
	struct object *o = c->state;
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a's first value */

	o->op = (enum storage_op)c->name;
	o->bytes = (size_t)c->bytes;
	/* The name is a hash of the key: the next run removes what a killed run left. */
	for (const char *p = c->key; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3u;
	snprintf(o->name, sizeof(o->name), "teemark-%016llx", (unsigned long long)hash);
	o->data = malloc(o->bytes);
	o->back = calloc(1, o->bytes);
	if (!o->data || !o->back)
		return error_memory(err);
	pool_message(o->data, o->bytes);
	if (o->op == STORAGE_READ || o->op == STORAGE_OPEN_READ_CLOSE) {
		c->result = store->secure ? NULL : o->back;
		c->want = o->data;
		c->want_bytes = o->bytes;
	}
	o->store = store;
	return store->open(c, err);
}

/* Deletes all objects that the case has made. */
static int forget(struct bench_case *c, struct error *err)
{
	struct object *o = c->state;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < o->made; i++)
		ret = o->store->forget(c, i, err);
	return ret;
}

/* Makes an object for each call of the next run(). */
static int make(struct bench_case *c, struct error *err)
{
	struct object *o = c->state;
	int ret = o->store->shut ? o->store->shut(c, err) : 0;

	for (uint32_t i = 0; !ret && i < c->loops; i++) {
		if (o->made <= i)
			o->made = i + 1;
		ret = o->store->create(c, i, err);
	}
	return ret;
}

static int storage_ready(struct bench_case *c, struct error *err)
{
	struct object *o = c->state;
	const struct store *store = o->store;
	int ret = 0;

	switch (o->op) {
	case STORAGE_CREATE:
		ret = forget(c, err);
		o->made = c->loops;
		break;
	case STORAGE_OPEN:
	case STORAGE_OPEN_READ_CLOSE:
		ret = store->shut ? store->shut(c, err) : 0;
		break;
	case STORAGE_TRUNCATE:
	case STORAGE_DELETE:
		ret = make(c, err);
		break;
	case STORAGE_READ:
	case STORAGE_WRITE:
	case STORAGE_RENAME:
	case STORAGE_OPS:
		ret = store->hold ? store->hold(c, err) : 0;
		break;
	}
	/* Other bytes than before, so that a write that does nothing is noticed. */
	for (size_t i = 0; o->op == STORAGE_WRITE && i < o->bytes; i++)
		o->data[i] ^= 0xff;
	if (store->arrange)
		store->arrange(c);
	return ret;
}

static int storage_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	int (*once)(struct bench_case * c, uint32_t i, struct error * err) =
		((const struct object *)c->state)->store->once;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = once(c, i, err);
	return ret;
}

/* Returns -EBADMSG; `what` tells what is wrong with the object after the operation. */
static int wrong(struct error *err, const struct object *o, const char *what)
{
	return error_set(err, -EBADMSG, "%s an object of %zu bytes: %s", operations[o->op],
			 o->bytes, what);
}

/* Checks that object i holds exactly the stored bytes or, after a delete, no longer exists. */
static int check_object(struct bench_case *c, uint32_t i, struct error *err)
{
	struct object *o = c->state;
	size_t len = o->op == STORAGE_TRUNCATE ? o->bytes / 2 : o->bytes, got = 0;
	int ret;

	memset(o->back, 0, o->bytes);
	if (o->op == STORAGE_DELETE)
		return o->store->read_back(c, i, &got, NULL) == -ENOENT ?
			       0 :
			       wrong(err, o, "it is still there");
	ret = o->store->read_back(c, i, &got, err);
	if (!ret && got != len)
		ret = wrong(err, o, "its size is another");
	if (!ret && memcmp(o->back, o->data, len))
		ret = wrong(err, o, "it does not hold what was stored");
	return ret;
}

static int storage_check(struct bench_case *c, struct error *err)
{
	const struct object *o = c->state;
	bool many = o->op == STORAGE_CREATE || o->op == STORAGE_TRUNCATE || o->op == STORAGE_DELETE;
	int ret = 0;

	/* If c->want is set, case_check() compares the bytes that the timed call read. */
	for (uint32_t i = 0; !ret && !c->want && i < (many ? c->loops : 1); i++)
		ret = check_object(c, i, err);
	return o->store->checked ? o->store->checked(c, ret, err) : ret;
}

static void storage_teardown(struct bench_case *c)
{
	struct object *o = c->state;

	forget(c, NULL);
	if (o->store && o->store->close)
		o->store->close(c);
	free(o->data);
	free(o->back);
}

const struct workload workload_storage = {
	.name = "storage",
	.summary = "an operation on a stored object",
	.parameters = "BYTES",
	.names = operations,
	.backend = "",
	.least = 2,
	.most = TA_BENCH_OBJECT_MAX,
	.state_size = sizeof(struct object),
	.parse = storage_parse,
	.prepare = storage_prepare,
	.ready = storage_ready,
	.run = storage_run,
	.check = storage_check,
	.rpc_calls = 1,
	.teardown = storage_teardown,
};
