/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tee-ree-fs, tee-rpmb: persistent objects of the bench TA. Its session has
 * one object open at a time, and cases share it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "rpcs.h"
#include "stop.h"
#include "storage.h"
#include "tee_client.h"
#include "tee_device.h"

/* What can be told without opening anything. */
static int probe(bool rpmb, const struct pool *pool, struct error *err)
{
	int ret = tee_probe(err);

	if (ret)
		return ret;
	if (rpmb && !pool->allow_rpmb) {
		error_skip(err, -EPERM, "rpmb-not-allowed",
			   "an RPMB partition is left alone unless allowed: "
			   "its first use may program a key that can't be "
			   "changed");
		error_hint(err, "where that is wanted: --allow-rpmb, or rpmb = "
				"true in the board file");
		return -EPERM;
	}
	if (tee_supplicant_state() == SUPPLICANT_ABSENT) {
		error_skip(err, -ENOENT, "no-supplicant",
			   "tee-supplicant is not running, which keeps the "
			   "TEE's files");
		error_hint(err, "start it: tee-supplicant -d, or systemctl "
				"start tee-supplicant");
		return -ENOENT;
	}
	return 0;
}

enum {
	NAME_BYTES = 64, /* one of two is in the shared memory at a time */
	PAGE = 4096,
	LARGE = 64 << 10,
};

#define RESULT_CORRUPT_OBJECT 0xF0100001u /* TEE_ERROR_CORRUPT_OBJECT */

struct tee_object {
	struct desk *desk; /* whose owner has his object open */
	struct storage_job job;
	uint32_t storage;
	uint8_t *data; /* what it should hold */
	char names[2][NAME_BYTES];
	unsigned name; /* which of them it has */
	bool exists;
	bool open;     /* when it is ours */
	uint32_t size; /* as OPEN told */
	TEEC_Operation op;
	struct rpcs rpcs;
};

/* The TA is the bench TA, which `tee` has sessions with. */
static const struct backend *ta_backend(void)
{
	return backend_by_name("tee");
}

/* Where the name is in `in`: on a page of its own, behind the data. */
static size_t name_at(const struct storage_job *job)
{
	return (job->bytes + PAGE - 1) / PAGE * PAGE;
}

static size_t room(const struct storage_job *job)
{
	return name_at(job) + NAME_BYTES;
}

static int tee_reserve(struct pool *pool, const struct storage_job *job,
		       struct error *err)
{
	return pool_reserve(pool, ta_backend(), DESK_STORAGE, room(job), err);
}

static int probe_desk(bool rpmb, struct pool *pool, struct error *err)
{
	struct desk *desk;
	int ret = probe(rpmb, pool, err);

	return ret ? ret :
		     pool_desk(pool, ta_backend(), DESK_STORAGE, 0, &desk, err);
}

static int ree_fs_probe(struct pool *pool, struct error *err)
{
	return probe_desk(false, pool, err);
}

static int rpmb_probe(struct pool *pool, struct error *err)
{
	return probe_desk(true, pool, err);
}

static void set_name(struct tee_object *o, TEEC_Operation *op, unsigned name)
{
	size_t len = strlen(o->names[name]);

	memcpy(o->desk->in.data + name_at(&o->job), o->names[name], len);
	tee_set_memref(op, 0, TEEC_MEMREF_PARTIAL_INPUT, o->desk->in.priv,
		       name_at(&o->job), len);
}

static void set_data(struct tee_object *o, TEEC_Operation *op, unsigned i)
{
	memcpy(o->desk->in.data, o->data, o->job.bytes);
	tee_set_memref(op, i, TEEC_MEMREF_PARTIAL_INPUT, o->desk->in.priv, 0,
		       o->job.bytes);
}

/* From the beginning on. */
static void arrange_read(struct tee_object *o, TEEC_Operation *op)
{
	tee_set_memref(op, 0, TEEC_MEMREF_PARTIAL_OUTPUT, o->desk->out.priv, 0,
		       o->job.bytes);
	tee_set_value(op, 1, 0, 0);
}

/* All of it, by name, into the shared memory. */
static void arrange_fetch(struct tee_object *o, TEEC_Operation *op)
{
	memset(op, 0, sizeof(*op));
	set_name(o, op, o->name);
	tee_set_memref(op, 1, TEEC_MEMREF_PARTIAL_OUTPUT, o->desk->out.priv, 0,
		       o->job.bytes);
	tee_set_value(op, 2, o->storage, 0);
}

static int call(struct tee_object *o, uint32_t command, TEEC_Operation *op,
		const char *doing, struct error *err)
{
	return tee_invoke(desk_ta(o->desk), command, op, doing, err);
}

static void arrange_create(struct tee_object *o, TEEC_Operation *op)
{
	memset(op, 0, sizeof(*op));
	set_name(o, op, 0);
	set_data(o, op, 1);
	tee_set_value(op, 2, o->storage, 0);
}

static int create(struct tee_object *o, TEEC_Operation *op, struct error *err)
{
	int ret = call(o, TA_BENCH_CMD_STORAGE_CREATE, op,
		       "create an object of the bench TA", err);

	if (!ret) {
		o->desk->owner = o;
		o->exists = o->open = true;
		o->name = 0;
	}
	return ret;
}

static void arrange_open(struct tee_object *o, TEEC_Operation *op)
{
	memset(op, 0, sizeof(*op));
	set_name(o, op, o->name);
	tee_set_value(op, 1, o->storage, 0);
	tee_set_type(op, 2, TEEC_VALUE_OUTPUT);
}

static int open_object(struct tee_object *o, TEEC_Operation *op,
		       struct error *err)
{
	int ret;

	o->desk->owner = NULL;
	ret = call(o, TA_BENCH_CMD_STORAGE_OPEN, op,
		   "open an object of the bench TA", err);
	if (!ret) {
		o->desk->owner = o;
		o->exists = o->open = true;
		o->size = op->params[2].value.a;
	}
	return ret;
}

static int fetch(struct tee_object *o, TEEC_Operation *op, struct error *err)
{
	o->desk->owner = NULL;
	o->open = false;
	return call(o, TA_BENCH_CMD_STORAGE_FETCH, op,
		    "open, read and close an object of the bench TA", err);
}

static int delete_object(struct tee_object *o, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret = call(o, TA_BENCH_CMD_STORAGE_DELETE, &op,
		       "delete an object of the bench TA", err);

	if (!ret) {
		o->exists = o->open = false;
		o->desk->owner = NULL;
	}
	return ret;
}

static bool mine(const struct tee_object *o)
{
	return o->open && o->desk->owner == o;
}

static int ensure_open(struct tee_object *o, struct error *err)
{
	TEEC_Operation op;

	if (mine(o))
		return 0;
	arrange_open(o, &op);
	return open_object(o, &op, err);
}

/* Whether there was one or not. */
static int ensure_absent(struct tee_object *o, struct error *err)
{
	struct error why = { 0 };
	int ret = ensure_open(o, &why);

	if (ret == -ENOENT)
		return 0;
	if (ret) {
		*err = why;
		return ret;
	}
	return delete_object(o, err);
}

static int ensure_closed(struct tee_object *o, struct error *err)
{
	TEEC_Operation op = { 0 };

	if (!mine(o))
		return 0;
	o->open = false;
	o->desk->owner = NULL;
	return call(o, TA_BENCH_CMD_STORAGE_CLOSE, &op,
		    "close an object of the bench TA", err);
}

static int make(struct tee_object *o, struct error *err)
{
	TEEC_Operation op;

	arrange_create(o, &op);
	return create(o, &op, err);
}

static int tee_ready(void *state, uint32_t loops, struct error *err)
{
	struct tee_object *o = state;
	TEEC_Operation *op = &o->op;
	int ret = 0;

	(void)loops;
	switch (o->job.op) {
	case STORAGE_CREATE:
		ret = ensure_absent(o, err);
		arrange_create(o, op);
		return ret;
	case STORAGE_OPEN:
		ret = ensure_closed(o, err);
		arrange_open(o, op);
		return ret;
	case STORAGE_OPEN_READ_CLOSE:
		ret = ensure_closed(o, err);
		arrange_fetch(o, op);
		return ret;
	case STORAGE_TRUNCATE:
	case STORAGE_DELETE:
		ret = make(o, err);
		break;
	case STORAGE_READ:
	case STORAGE_WRITE:
	case STORAGE_RENAME:
	case STORAGE_OPS:
		ret = ensure_open(o, err);
		break;
	}
	memset(op, 0, sizeof(*op));
	if (o->job.op == STORAGE_TRUNCATE) {
		tee_set_value(op, 0, (uint32_t)(o->job.bytes / 2), 0);
	} else if (o->job.op == STORAGE_READ) {
		arrange_read(o, op);
	} else if (o->job.op == STORAGE_WRITE) {
		/* Others than before, so that not writing is seen. */
		for (size_t i = 0; i < o->job.bytes; i++)
			o->data[i] ^= 0xff;
		set_data(o, op, 0);
		tee_set_value(op, 1, 0, 0);
	}
	return ret;
}

static int run_once(struct tee_object *o, struct error *err)
{
	switch (o->job.op) {
	case STORAGE_CREATE:
		return create(o, &o->op, err);
	case STORAGE_OPEN:
		return open_object(o, &o->op, err);
	case STORAGE_READ:
		return call(o, TA_BENCH_CMD_STORAGE_READ, &o->op,
			    "read an object of the bench TA", err);
	case STORAGE_WRITE:
		return call(o, TA_BENCH_CMD_STORAGE_WRITE, &o->op,
			    "write an object of the bench TA", err);
	case STORAGE_RENAME:
		o->name = !o->name;
		set_name(o, &o->op, o->name);
		return call(o, TA_BENCH_CMD_STORAGE_RENAME, &o->op,
			    "rename an object of the bench TA", err);
	case STORAGE_TRUNCATE:
		return call(o, TA_BENCH_CMD_STORAGE_TRUNCATE, &o->op,
			    "truncate an object of the bench TA", err);
	case STORAGE_DELETE:
		return delete_object(o, err);
	case STORAGE_OPEN_READ_CLOSE:
		return fetch(o, &o->op, err);
	case STORAGE_OPS:
		break;
	}
	return error_set(err, -EINVAL, "no such operation");
}

static int tee_run(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err)
{
	int ret = 0;

	(void)repeat;
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = run_once(state, err);
	return ret;
}

/* Opened anew, it holds the first `len` of our bytes, and no more. */
static int holds(struct tee_object *o, size_t len, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret = ensure_closed(o, err);

	if (!ret)
		ret = ensure_open(o, err);
	if (!ret)
		ret = stop_check(err);
	if (ret)
		return ret;
	if (o->size != len)
		return storage_wrong(err, &o->job, "its size is another");
	memset(o->desk->out.data, 0, o->job.bytes);
	arrange_read(o, &op);
	ret = call(o, TA_BENCH_CMD_STORAGE_READ, &op,
		   "read an object of the bench TA", err);
	if (ret)
		return ret;
	if (op.params[0].memref.size != len ||
	    memcmp(o->desk->out.data, o->data, len))
		return storage_wrong(err, &o->job,
				     "it does not hold what was stored");
	return 0;
}

static int is_gone(struct tee_object *o, struct error *err)
{
	struct error why = { 0 };
	int ret = ensure_open(o, &why);

	if (ret == -ENOENT)
		return 0;
	return storage_wrong(err, &o->job, "it is still there");
}

/*
 * Seen with OP-TEE 4.5: of an object of a few blocks that was made shorter,
 * the hashes no longer fit; the TEE finds it corrupt when it is opened next,
 * and removes it.
 */
static int truncated(struct tee_object *o, struct error *err)
{
	int ret = holds(o, o->job.bytes / 2, err);

	if (!ret || !err || err->tee_result != RESULT_CORRUPT_OBJECT)
		return ret;
	o->exists = false;
	error_skip(err, -EIO, "tee-defect",
		   "this TEE destroys an object of %zu bytes when it is made "
		   "shorter: it is corrupt when opened next",
		   o->job.bytes);
	error_hint(err, "a defect of the TEE: create the shorter object anew "
			"instead of truncating it");
	return -EIO;
}

static int check(struct tee_object *o, struct error *err)
{
	int differs;

	if (o->job.op == STORAGE_TRUNCATE)
		return truncated(o, err);
	if (o->job.op == STORAGE_DELETE)
		return is_gone(o, err);
	if (o->job.op != STORAGE_READ && o->job.op != STORAGE_OPEN_READ_CLOSE)
		return holds(o, o->job.bytes, err);
	/* What the timed call read. */
	differs = memcmp(o->desk->out.data, o->data, o->job.bytes);
	memset(o->desk->out.data, 0, o->job.bytes);
	return differs ? storage_wrong(err, &o->job,
				       "other bytes than were stored") :
			 0;
}

static int tee_check(void *state, struct error *err)
{
	struct tee_object *o = state;
	int ret = check(o, err);

	/*
	 * The hash tree of a large object takes most of OP-TEE's heap while it
	 * is open; other cases need some.
	 */
	return !ret && o->job.bytes > LARGE ? ensure_closed(o, err) : ret;
}

/* Right once, and once more while the TEE's calls back are counted. */
static int tee_verify(void *state, struct error *err)
{
	struct tee_object *o = state;
	int ret = tee_check(o, err);

	if (!ret)
		ret = stop_check(err);
	if (!ret)
		ret = tee_ready(o, 1, err);
	if (!ret)
		ret = stop_check(err);
	if (!ret)
		ret = rpcs_count(&o->rpcs, tee_run, o, 1, err);
	if (!ret)
		ret = stop_check(err);
	return ret ? ret : tee_check(o, err);
}

static void tee_facts(const void *state, struct json *json)
{
	rpcs_put(&((const struct tee_object *)state)->rpcs, json);
}

static void tee_teardown(void *state)
{
	struct tee_object *o = state;

	if (o->desk) {
		if (o->exists)
			ensure_absent(o, &(struct error){ 0 });
		if (o->desk->owner == o)
			o->desk->owner = NULL;
	}
	free(o->data);
}

static int tee_prepare(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	struct tee_object *o = c->state;
	int ret;

	o->storage = strcmp(c->backend_name, "tee-rpmb") ?
			     TA_BENCH_STORAGE_REE_FS :
			     TA_BENCH_STORAGE_RPMB;
	ret = probe(o->storage == TA_BENCH_STORAGE_RPMB, pool, err);
	if (ret)
		return ret;
	storage_job_of(c, &o->job);
	snprintf(o->names[0], NAME_BYTES, "%s", o->job.name);
	snprintf(o->names[1], NAME_BYTES, "%s-renamed", o->job.name);
	o->data = malloc(o->job.bytes);
	if (!o->data)
		return error_set(err, -ENOMEM, "out of memory");
	pool_message(o->data, o->job.bytes);
	ret = pool_desk(pool, ta_backend(), DESK_STORAGE, room(&o->job),
			&o->desk, err);
	if (ret)
		return ret;
	/* A run that was killed may have left it under its other name. */
	if (o->job.op == STORAGE_RENAME) {
		o->name = 1;
		ret = ensure_absent(o, err);
		o->name = 0;
	}
	if (!ret)
		ret = make(o, err);
	if (ret && error_tee_memory(err)) {
		error_skip_word(err, "tee-memory");
		error_hint(err, "OP-TEE's heap has no room for the hash tree "
				"of an object of this size "
				"(CFG_CORE_HEAP_SIZE)");
	} else if (ret && o->storage == TA_BENCH_STORAGE_RPMB && err &&
		   err->tee_result) {
		error_skip_word(err, "no-rpmb");
		error_hint(err, "this TEE keeps nothing in an RPMB partition: "
				"the board has none, or OP-TEE was built "
				"without CFG_RPMB_FS");
	}
	return ret;
}

static const struct workload tee_workload = {
	.name = "storage",
	.state_size = sizeof(struct tee_object),
	.prepare = tee_prepare,
	.ready = tee_ready,
	.run = tee_run,
	.verify = tee_verify,
	.check = tee_check,
	.facts = tee_facts,
	.teardown = tee_teardown,
};

extern const struct store storage_ree_fs, storage_rpmb;

const struct store storage_ree_fs = {
	.name = "tee-ree-fs",
	.title = "TEE storage in files",
	.secure = true,
	.made_max = 1,
	.reserve = tee_reserve,
	.probe = ree_fs_probe,
	.workload = &tee_workload,
};

const struct store storage_rpmb = {
	.name = "tee-rpmb",
	.title = "TEE storage in RPMB",
	.secure = true,
	.made_max = 1,
	.reserve = tee_reserve,
	.probe = rpmb_probe,
	.workload = &tee_workload,
};
