/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores tee-ree-fs and tee-rpmb: persistent objects of the bench TA. All cases share a session, in
 * which one object is open at a time.
 */
#include <stdlib.h>

#include <teemark/ta_bench.h>

#include "stop.h"
#include "storage.h"
#include "tee_client.h"
#include "tee_device.h"

enum {
	NAME_BYTES = sizeof(((struct object *)NULL)->tee.names[0]),
	PAGE = 4096,
	LARGE = 64 << 10,
};

#define RESULT_CORRUPT_OBJECT 0xF0100001u /* TEE_ERROR_CORRUPT_OBJECT */

/* Returns the backend whose sessions are with the bench TA, which stores the objects. */
static const struct backend *ta_backend(void)
{
	return backend_by_name("tee");
}

/* Returns the offset of the object's name in buffer `in`: the first page after the data. */
static size_t name_at(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static int tee_reserve(struct pool *pool, size_t bytes, struct error *err)
{
	return pool_reserve(pool, ta_backend(), WORKPLACE_STORAGE, name_at(bytes) + NAME_BYTES,
			    err);
}

static bool is_rpmb(const struct bench_case *c)
{
	return !strcmp(c->backend_name, storage_rpmb.name);
}

/*
 * Opens the case's workplace, with buffers for its object and the name. Before the session it looks
 * for reasons why the TEE can't store.
 */
static int open_workplace(struct bench_case *c, struct error *err)
{
	size_t bytes = ((const struct object *)c->state)->bytes;
	int ret = tee_probe(err);

	if (!ret && is_rpmb(c) && !c->pool->allow_rpmb)
		ret = error_skip(err, -EPERM, "rpmb-not-allowed",
				 "an RPMB partition is left alone unless allowed: its first use may "
				 "program a key that can't be changed\nwhere that is wanted: "
				 "--allow-rpmb, or rpmb = true in the board file");
	else if (!ret && tee_supplicant_state() == SUPPLICANT_ABSENT)
		ret = error_skip(err, -ENOENT, "no-supplicant",
				 "tee-supplicant is not running, which keeps the TEE's files\nstart "
				 "it: tee-supplicant -d, or systemctl start tee-supplicant");
	return ret ? ret :
		     pool_workplace(c->pool, ta_backend(), WORKPLACE_STORAGE,
				    name_at(bytes) + NAME_BYTES, &c->workplace, err);
}

static void set_name(const struct bench_case *c, TEEC_Operation *op, unsigned name)
{
	const struct object *o = c->state;
	size_t at = name_at(o->bytes), len = strlen(o->tee.names[name]);

	memcpy(c->workplace->in.data + at, o->tee.names[name], len);
	tee_set_memref(op, 0, TEEC_MEMREF_PARTIAL_INPUT, c->workplace->in.priv, at, len);
}

static void set_data(const struct bench_case *c, TEEC_Operation *op, unsigned i)
{
	const struct object *o = c->state;

	memcpy(c->workplace->in.data, o->data, o->bytes);
	tee_set_memref(op, i, TEEC_MEMREF_PARTIAL_INPUT, c->workplace->in.priv, 0, o->bytes);
}

/* Sets the parameters of the call that does operation `what`. */
static void arrange_for(const struct bench_case *c, enum storage_op what, TEEC_Operation *op)
{
	const struct object *o = c->state;
	bool fetch = what == STORAGE_OPEN_READ_CLOSE;

	memset(op, 0, sizeof(*op));
	switch (what) {
	case STORAGE_CREATE:
		set_name(c, op, 0);
		set_data(c, op, 1);
		tee_set_value(op, 2, o->tee.storage, 0);
		break;
	case STORAGE_OPEN:
		set_name(c, op, o->tee.name);
		tee_set_value(op, 1, o->tee.storage, 0);
		tee_set_type(op, 2, TEEC_VALUE_OUTPUT);
		break;
	case STORAGE_READ:
	case STORAGE_OPEN_READ_CLOSE:
		if (fetch)
			set_name(c, op, o->tee.name);
		tee_set_memref(op, fetch, TEEC_MEMREF_PARTIAL_OUTPUT, c->workplace->out.priv, 0,
			       o->bytes);
		tee_set_value(op, fetch + 1, fetch ? o->tee.storage : 0, 0);
		break;
	case STORAGE_WRITE:
		set_data(c, op, 0);
		tee_set_value(op, 1, 0, 0);
		break;
	case STORAGE_TRUNCATE:
		tee_set_value(op, 0, (uint32_t)(o->bytes / 2), 0);
		break;
	case STORAGE_RENAME:
	case STORAGE_DELETE:
	case STORAGE_OPS:
		break;
	}
}

static void arrange(struct bench_case *c)
{
	struct object *o = c->state;

	arrange_for(c, o->op, &o->tee.op);
}

static void set_state(struct bench_case *c, bool open)
{
	struct object *o = c->state;

	c->workplace->owner = open ? c : NULL;
	o->tee.open = open;
}

/* Makes the call that does operation `what`, and notes which object is open afterwards. */
static int call(struct bench_case *c, enum storage_op what, TEEC_Operation *op, struct error *err)
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
	struct object *o = c->state;
	int ret;

	if (what == STORAGE_OPEN || what == STORAGE_OPEN_READ_CLOSE || what == STORAGE_OPS)
		set_state(c, false);
	if (what == STORAGE_RENAME) {
		o->tee.name = !o->tee.name;
		set_name(c, op, o->tee.name);
	}
	ret = tee_invoke(workplace_ta(c->workplace), calls[what].command, op, calls[what].doing,
			 err);
	if (ret)
		return ret;
	if (what == STORAGE_CREATE || what == STORAGE_OPEN)
		set_state(c, true);
	if (what == STORAGE_CREATE)
		o->tee.name = 0;
	if (what == STORAGE_OPEN)
		o->tee.size = op->params[2].value.a;
	if (what == STORAGE_DELETE)
		set_state(c, false);
	return 0;
}

/* Sets the parameters of the call that does operation `what`, and makes the call. */
static int take(struct bench_case *c, enum storage_op what, struct error *err)
{
	TEEC_Operation op;

	arrange_for(c, what, &op);
	return call(c, what, &op, err);
}

static bool mine(const struct bench_case *c)
{
	return ((const struct object *)c->state)->tee.open && c->workplace->owner == c;
}

static int hold(struct bench_case *c, struct error *err)
{
	return mine(c) ? 0 : take(c, STORAGE_OPEN, err);
}

static int shut(struct bench_case *c, struct error *err)
{
	return mine(c) ? take(c, STORAGE_OPS, err) : 0;
}

static int forget(struct bench_case *c, uint32_t i, struct error *err)
{
	struct error why = { 0 };
	int ret = hold(c, &why);

	if (ret == -ENOENT)
		return 0;
	if (ret && err)
		*err = why;
	return ret ? ret : take(c, STORAGE_DELETE, err);
}

static int create(struct bench_case *c, uint32_t i, struct error *err)
{
	return take(c, STORAGE_CREATE, err);
}

static int read_back(struct bench_case *c, uint32_t i, size_t *len, struct error *err)
{
	struct object *o = c->state;
	int ret = shut(c, err);

	if (!ret)
		ret = hold(c, err);
	if (!ret)
		ret = stop_check(err);
	memset(c->workplace->out.data, 0, o->bytes);
	if (!ret)
		ret = take(c, STORAGE_READ, err);
	memcpy(o->back, c->workplace->out.data, o->bytes);
	*len = o->tee.size;
	return ret;
}

static int once(struct bench_case *c, uint32_t i, struct error *err)
{
	struct object *o = c->state;

	return call(c, o->op, &o->tee.op, err);
}

/*
 * Returns the result to report for a check's result `ret`. Seen with OP-TEE 4.5: truncating an
 * object of a few blocks breaks its hashes; when the object is opened next, the TEE finds it
 * corrupt and removes it. The case is skipped then.
 */
static int checked(struct bench_case *c, int ret, struct error *err)
{
	struct object *o = c->state;

	if (ret && o->op == STORAGE_TRUNCATE && err && err->tee_result == RESULT_CORRUPT_OBJECT) {
		o->made = 0;
		ret = error_skip(err, -EIO, "tee-defect",
				 "this TEE destroys an object of %zu bytes when it is made "
				 "shorter: it is corrupt when opened next\na defect of the TEE: "
				 "create the shorter object anew instead of truncating it",
				 o->bytes);
	}
	/*
	 * While a large object is open, its hash tree takes most of OP-TEE's heap, of which other
	 * cases need some.
	 */
	return !ret && o->bytes > LARGE ? shut(c, err) : ret;
}

static int tee_open(struct bench_case *c, struct error *err)
{
	struct object *o = c->state;
	int ret = open_workplace(c, err);
	bool rpmb = is_rpmb(c);

	if (ret)
		return ret;
	o->tee.storage = rpmb ? TA_BENCH_STORAGE_RPMB : TA_BENCH_STORAGE_REE_FS;
	snprintf(o->tee.names[0], NAME_BYTES, "%s", o->name);
	snprintf(o->tee.names[1], NAME_BYTES, "%s-renamed", o->name);
	/* A killed run may have left the object under its new name. */
	if (o->op == STORAGE_RENAME) {
		o->tee.name = 1;
		ret = forget(c, 0, err);
		o->tee.name = 0;
	}
	if (!ret)
		ret = create(c, 0, err);
	o->made = !ret;
	if (ret && error_tee_memory(err))
		error_hint(err, "tee-memory",
			   "OP-TEE's heap has no room for the hash tree of an "
			   "object of this size (CFG_CORE_HEAP_SIZE)");
	else if (ret && rpmb && err && err->tee_result)
		error_hint(err, "no-rpmb",
			   "this TEE keeps nothing in an RPMB partition: the board has none, "
			   "or OP-TEE was built without CFG_RPMB_FS");
	return ret;
}

#define OBJECTS                                                                                \
	.secure = true, .made_max = 1, .reserve = tee_reserve, .open = tee_open, .once = once, \
	.create = create, .forget = forget, .shut = shut, .hold = hold, .arrange = arrange,    \
	.read_back = read_back, .checked = checked

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
