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

enum {
	NAME_BYTES = 64, /* one of two is in the shared memory at a time */
	PAGE = 4096,
	LARGE = 64 << 10,
};

#define RESULT_CORRUPT_OBJECT 0xF0100001u /* TEE_ERROR_CORRUPT_OBJECT */

/* A void pointer leads from `o`, its first field, to it: on armhf a direct cast is an alignment
 * warning. */
struct tee_object {
	struct object o;
	uint32_t storage;
	char names[2][NAME_BYTES];
	unsigned name; /* which of them it has */
	bool exists;
	bool open;     /* when it is ours */
	uint32_t size; /* as OPEN told */
	TEEC_Operation op;
	struct rpcs rpcs;
};

/* Returns the backend that has sessions with the bench TA, which stores. */
static const struct backend *ta_backend(void)
{
	return backend_by_name("tee");
}

/* Returns where the name is in `in`: on a page of its own, behind the data. */
static size_t name_at(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static int tee_reserve(struct pool *pool, size_t bytes, struct error *err)
{
	return pool_reserve(pool, ta_backend(), DESK_STORAGE, name_at(bytes) + NAME_BYTES, err);
}

/* Returns whether the TEE can store, as far as can be told without opening anything. */
static int can_store(bool rpmb, const struct pool *pool, struct error *err)
{
	int ret = tee_probe(err);

	if (!ret && rpmb && !pool->allow_rpmb)
		ret = error_skip(err, -EPERM, "rpmb-not-allowed",
				 "an RPMB partition is left alone unless allowed: its first use may "
				 "program a key that can't be changed\nwhere that is wanted: "
				 "--allow-rpmb, or rpmb = true in the board file");
	else if (!ret && tee_supplicant_state() == SUPPLICANT_ABSENT)
		ret = error_skip(err, -ENOENT, "no-supplicant",
				 "tee-supplicant is not running, which keeps the TEE's files\nstart "
				 "it: tee-supplicant -d, or systemctl start tee-supplicant");
	return ret;
}

static bool is_rpmb(const struct bench_case *c)
{
	return !strcmp(c->backend_name, storage_rpmb.name);
}

/* Opens the desk, whose TA is to store `bytes`. */
static int open_desk(struct bench_case *c, size_t bytes, struct error *err)
{
	int ret = can_store(is_rpmb(c), c->pool, err);

	return ret ? ret :
		     pool_desk(c->pool, ta_backend(), DESK_STORAGE, name_at(bytes) + NAME_BYTES,
			       &c->desk, err);
}

static int tee_probe_store(struct bench_case *c, struct error *err)
{
	return open_desk(c, 0, err);
}

static void set_name(struct tee_object *o, TEEC_Operation *op, unsigned name)
{
	size_t at = name_at(o->o.bytes), len = strlen(o->names[name]);

	memcpy(o->o.c->desk->in.data + at, o->names[name], len);
	tee_set_memref(op, 0, TEEC_MEMREF_PARTIAL_INPUT, o->o.c->desk->in.priv, at, len);
}

static void set_data(struct tee_object *o, TEEC_Operation *op, unsigned i)
{
	memcpy(o->o.c->desk->in.data, o->o.data, o->o.bytes);
	tee_set_memref(op, i, TEEC_MEMREF_PARTIAL_INPUT, o->o.c->desk->in.priv, 0, o->o.bytes);
}

/* Sets the parameters of an operation. */
static void arrange(struct tee_object *o, enum storage_op what, TEEC_Operation *op)
{
	uint32_t half = (uint32_t)(o->o.bytes / 2);
	bool fetch = what == STORAGE_OPEN_READ_CLOSE;

	memset(op, 0, sizeof(*op));
	switch (what) {
	case STORAGE_CREATE:
		set_name(o, op, 0);
		set_data(o, op, 1);
		tee_set_value(op, 2, o->storage, 0);
		break;
	case STORAGE_OPEN:
		set_name(o, op, o->name);
		tee_set_value(op, 1, o->storage, 0);
		tee_set_type(op, 2, TEEC_VALUE_OUTPUT);
		break;
	case STORAGE_READ:
	case STORAGE_OPEN_READ_CLOSE:
		if (fetch)
			set_name(o, op, o->name);
		tee_set_memref(op, fetch, TEEC_MEMREF_PARTIAL_OUTPUT, o->o.c->desk->out.priv, 0,
			       o->o.bytes);
		tee_set_value(op, fetch + 1, fetch ? o->storage : 0, 0);
		break;
	case STORAGE_WRITE:
		set_data(o, op, 0);
		tee_set_value(op, 1, 0, 0);
		break;
	case STORAGE_TRUNCATE:
		tee_set_value(op, 0, half, 0);
		break;
	case STORAGE_RENAME:
	case STORAGE_DELETE:
	case STORAGE_OPS:
		break;
	}
}

static void set_state(struct tee_object *o, bool open)
{
	o->o.c->desk->owner = open ? o : NULL;
	o->open = open;
}

/* Makes the call, and notes what then is open. */
static int call(struct tee_object *o, enum storage_op what, TEEC_Operation *op, struct error *err)
{
	static const struct {
		uint32_t command;
		const char *doing;
	} calls[] = {
#define CALL(name, does) { TA_BENCH_CMD_STORAGE_##name, does " an object of the bench TA" }
		[STORAGE_CREATE] = CALL(CREATE, "create"),
		[STORAGE_OPEN] = CALL(OPEN, "open"),
		[STORAGE_READ] = CALL(READ, "read"),
		[STORAGE_WRITE] = CALL(WRITE, "write"),
		[STORAGE_RENAME] = CALL(RENAME, "rename"),
		[STORAGE_TRUNCATE] = CALL(TRUNCATE, "truncate"),
		[STORAGE_DELETE] = CALL(DELETE, "delete"),
		[STORAGE_OPEN_READ_CLOSE] = CALL(FETCH, "open, read and close"),
		[STORAGE_OPS] = CALL(CLOSE, "close"),
	};
	int ret;

	if (what == STORAGE_OPEN || what == STORAGE_OPEN_READ_CLOSE || what == STORAGE_OPS)
		set_state(o, false);
	if (what == STORAGE_RENAME) {
		o->name = !o->name;
		set_name(o, op, o->name);
	}
	ret = tee_invoke(desk_ta(o->o.c->desk), calls[what].command, op, calls[what].doing, err);
	if (ret)
		return ret;
	if (what == STORAGE_CREATE || what == STORAGE_OPEN) {
		set_state(o, true);
		o->exists = true;
	}
	if (what == STORAGE_CREATE)
		o->name = 0;
	if (what == STORAGE_OPEN)
		o->size = op->params[2].value.a;
	if (what == STORAGE_DELETE) {
		set_state(o, false);
		o->exists = false;
	}
	return 0;
}

/* Arranges the parameters, and makes the call. */
static int take(struct tee_object *o, enum storage_op what, struct error *err)
{
	TEEC_Operation op;

	arrange(o, what, &op);
	return call(o, what, &op, err);
}

static bool mine(const struct tee_object *o)
{
	return o->open && o->o.c->desk->owner == o;
}

static int hold(struct object *object, struct error *err)
{
	struct tee_object *o = (void *)object;

	return mine(o) ? 0 : take(o, STORAGE_OPEN, err);
}

static int shut(struct object *object, struct error *err)
{
	struct tee_object *o = (void *)object;

	return mine(o) ? take(o, STORAGE_OPS, err) : 0;
}

static int is_there(struct object *o, uint32_t i, struct error *err)
{
	(void)i;
	return hold(o, err);
}

/* Deletes the object, whether there was one or not. */
static int forget(struct object *o, struct error *err)
{
	struct error why = { 0 };
	int ret = hold(o, &why);

	if (ret == -ENOENT)
		return 0;
	if (ret && err)
		*err = why;
	return ret ? ret : take((void *)o, STORAGE_DELETE, err);
}

static int make(struct object *o, uint32_t count, struct error *err)
{
	(void)count;
	return take((void *)o, STORAGE_CREATE, err);
}

static int read_back(struct object *object, uint32_t i, size_t *len, struct error *err)
{
	struct tee_object *o = (void *)object;
	int ret = shut(object, err);

	(void)i;
	if (!ret)
		ret = hold(object, err);
	if (!ret)
		ret = stop_check(err);
	if (!ret)
		ret = take(o, STORAGE_READ, err);
	*len = o->size;
	return ret;
}

static int tee_ready(void *state, uint32_t loops, struct error *err)
{
	struct tee_object *o = state;
	int ret = storage_ready(state, loops, err);

	arrange(o, o->o.op, &o->op);
	return ret;
}

static int tee_once(void *state, uint32_t i, struct error *err)
{
	struct tee_object *o = state;

	(void)i;
	return call(o, o->o.op, &o->op, err);
}

/*
 * Checks the object. Seen with OP-TEE 4.5: if an object of a few blocks was made shorter, the
 * hashes no longer fit; the TEE finds it corrupt when it is opened next, and removes it.
 */
static int tee_check(void *state, struct error *err)
{
	struct tee_object *o = state;
	int ret = storage_check(state, err);

	if (ret && o->o.op == STORAGE_TRUNCATE && err && err->tee_result == RESULT_CORRUPT_OBJECT) {
		o->exists = false;
		ret = error_skip(err, -EIO, "tee-defect",
				 "this TEE destroys an object of %zu bytes when it is made "
				 "shorter: it is corrupt when opened next\na defect of the TEE: "
				 "create the shorter object anew instead of truncating it",
				 o->o.bytes);
	}
	/*
	 * The hash tree of a large object takes most of OP-TEE's heap while it
	 * is open; other cases need some.
	 */
	return !ret && o->o.bytes > LARGE ? shut(&o->o, err) : ret;
}

/* Checks the operation, and a second time while the TEE's calls to the normal world are counted. */
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
		ret = rpcs_count(&o->rpcs, o->o.c, 1, err);
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

	if (o->o.c && o->o.c->desk) {
		if (o->exists)
			forget(&o->o, NULL);
		if (o->o.c->desk->owner == o)
			o->o.c->desk->owner = NULL;
	}
	storage_end(&o->o);
}

static int tee_prepare(struct bench_case *c, struct error *err)
{
	struct tee_object *o = c->state;
	int ret = storage_begin(c, err);
	bool rpmb = is_rpmb(c);

	if (!ret)
		ret = open_desk(c, o->o.bytes, err);
	if (ret)
		return ret;
	o->storage = rpmb ? TA_BENCH_STORAGE_RPMB : TA_BENCH_STORAGE_REE_FS;
	o->o.back = o->o.c->desk->out.data;
	snprintf(o->names[0], NAME_BYTES, "%s", o->o.name);
	snprintf(o->names[1], NAME_BYTES, "%s-renamed", o->o.name);
	/* A run that was killed may have left it under its other name. */
	if (o->o.op == STORAGE_RENAME) {
		o->name = 1;
		ret = forget(&o->o, err);
		o->name = 0;
	}
	if (!ret)
		ret = make(&o->o, 1, err);
	if (ret && error_tee_memory(err)) {
		error_skip_word(err, "tee-memory");
		error_hint(err, "OP-TEE's heap has no room for the hash tree of an "
				"object of this size (CFG_CORE_HEAP_SIZE)");
	} else if (ret && rpmb && err && err->tee_result) {
		error_skip_word(err, "no-rpmb");
		error_hint(err, "this TEE keeps nothing in an RPMB partition: the board has none, "
				"or OP-TEE was built without CFG_RPMB_FS");
	}
	return ret;
}

static const struct workload tee_workload = {
	.state_size = sizeof(struct tee_object),
	.prepare = tee_prepare,
	.probe = tee_probe_store,
	.ready = tee_ready,
	.once = tee_once,
	.verify = tee_verify,
	.check = tee_check,
	.facts = tee_facts,
	.teardown = tee_teardown,
};

#define OBJECTS                                                                             \
	.secure = true, .made_max = 1, .reserve = tee_reserve, .workload = &tee_workload,   \
	.forget = forget, .make = make, .shut = shut, .hold = hold, .read_back = read_back, \
	.is_there = is_there

const struct store storage_ree_fs = {
	.name = "tee-ree-fs",
	.title = "TEE storage in files",
	OBJECTS,
};

const struct store storage_rpmb = {
	.name = "tee-rpmb",
	.title = "TEE storage in RPMB",
	OBJECTS,
};
