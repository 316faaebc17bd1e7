/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tee-ree-fs, tee-rpmb: persistent objects of the bench TA. Its session has
 * one object open at a time, and cases share it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "stop.h"
#include "storage.h"
#include "tee_device.h"
#include "tee_share.h"

static uint32_t tee_loops_max(enum storage_op op)
{
	switch (op) {
	case STORAGE_READ:
	case STORAGE_WRITE:
	case STORAGE_RENAME:
		return 0;
	case STORAGE_CREATE:
	case STORAGE_OPEN:
	case STORAGE_TRUNCATE:
	case STORAGE_DELETE:
	case STORAGE_OPS:
		break;
	}
	return 1;
}

/* What can be told without the TEE storing anything. */
static int probe_system(const struct storage_backend *backend,
			struct pool *pool, struct error *err)
{
	int ret = tee_probe(err);

	if (ret)
		return ret;
	if (backend->which == TA_BENCH_STORAGE_RPMB && !pool->allow_rpmb) {
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

#ifdef HAVE_TEEC

/* Where a name is in the small buffer, of which two are used. */
enum { NAME_BYTES = 64, SMALL_BYTES = 128 };

enum { LARGE = 64 << 10 };

#define RESULT_CORRUPT_OBJECT 0xF0100001u /* TEE_ERROR_CORRUPT_OBJECT */

struct desk {
	struct tee_session *tee;
	TEEC_SharedMemory *in, *out, *small;
	const void *owner; /* the case whose object is open */
};

struct tee_object {
	struct desk *desk;
	const struct storage_job *job;
	uint32_t storage;
	uint8_t *data; /* what it should hold */
	char names[2][NAME_BYTES];
	unsigned name; /* which of them it has */
	bool exists;
	bool open;     /* when it is ours */
	uint32_t size; /* as OPEN told */
	TEEC_Operation op;
};

/* Its address is the desk's kind: the other cases' session is another. */
static const char desk_kind;

static void close_desk(void *value)
{
	struct desk *desk = value;

	if (desk->tee) {
		tee_shm_free(desk->tee, desk->in);
		tee_shm_free(desk->tee, desk->out);
		tee_shm_free(desk->tee, desk->small);
	}
	tee_session_close(desk->tee);
	free(desk);
}

static int open_desk(const void *kind, size_t size, void **value,
		     struct error *err)
{
	struct desk *desk = calloc(1, sizeof(*desk));
	int ret;

	(void)kind;
	*value = NULL;
	if (!desk)
		return error_set(err, -ENOMEM, "out of memory");
	ret = ta_session_open_greeted(&ta_bench_name, &desk->tee, NULL, err);
	if (!ret)
		ret = tee_shm_alloc(desk->tee, size ? size : 64, TEEC_MEM_INPUT,
				    &desk->in, err);
	if (!ret)
		ret = tee_shm_alloc(desk->tee, size ? size : 64,
				    TEEC_MEM_OUTPUT, &desk->out, err);
	if (!ret)
		ret = tee_shm_alloc(desk->tee, SMALL_BYTES, TEEC_MEM_INPUT,
				    &desk->small, err);
	if (ret)
		close_desk(desk);
	else
		*value = desk;
	return ret;
}

static int tee_storage_probe(const struct storage_backend *backend,
			     struct pool *pool, struct error *err)
{
	void *desk;
	int ret = probe_system(backend, pool, err);

	return ret ? ret :
		     pool_share(pool, &desk_kind, open_desk, close_desk, &desk,
				err);
}

static int tee_reserve(struct pool *pool, size_t bytes, struct error *err)
{
	return pool_share_reserve(pool, &desk_kind, bytes, err);
}

static void set_part(TEEC_Parameter *param, TEEC_SharedMemory *shm, size_t len)
{
	param->memref.parent = shm;
	param->memref.offset = 0;
	param->memref.size = len;
}

static void set_name(struct tee_object *o, TEEC_Operation *op, unsigned name)
{
	size_t len = strlen(o->names[name]);

	memcpy(o->desk->small->buffer, o->names[name], len);
	set_part(&op->params[0], o->desk->small, len);
}

static int call(struct tee_object *o, uint32_t command, TEEC_Operation *op,
		const char *doing, struct error *err)
{
	return tee_invoke(o->desk->tee, command, op, doing, err);
}

static void arrange_create(struct tee_object *o, TEEC_Operation *op)
{
	memset(op, 0, sizeof(*op));
	set_name(o, op, 0);
	memcpy(o->desk->in->buffer, o->data, o->job->bytes);
	set_part(&op->params[1], o->desk->in, o->job->bytes);
	op->params[2].value.a = o->storage;
	op->paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
					  TEEC_MEMREF_PARTIAL_INPUT,
					  TEEC_VALUE_INPUT, TEEC_NONE);
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
	op->params[1].value.a = o->storage;
	op->paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
					  TEEC_VALUE_INPUT, TEEC_VALUE_OUTPUT,
					  TEEC_NONE);
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
	switch (o->job->op) {
	case STORAGE_CREATE:
		ret = ensure_absent(o, err);
		arrange_create(o, op);
		break;
	case STORAGE_OPEN:
		ret = ensure_closed(o, err);
		arrange_open(o, op);
		break;
	case STORAGE_READ:
		ret = ensure_open(o, err);
		memset(op, 0, sizeof(*op));
		set_part(&op->params[0], o->desk->out, o->job->bytes);
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_OUTPUT,
						  TEEC_VALUE_INPUT, TEEC_NONE,
						  TEEC_NONE);
		break;
	case STORAGE_WRITE:
		ret = ensure_open(o, err);
		/* Others than before, so that not writing is seen. */
		for (size_t i = 0; i < o->job->bytes; i++)
			o->data[i] ^= 0xff;
		memset(op, 0, sizeof(*op));
		memcpy(o->desk->in->buffer, o->data, o->job->bytes);
		set_part(&op->params[0], o->desk->in, o->job->bytes);
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						  TEEC_VALUE_INPUT, TEEC_NONE,
						  TEEC_NONE);
		break;
	case STORAGE_RENAME:
		ret = ensure_open(o, err);
		memset(op, 0, sizeof(*op));
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						  TEEC_NONE, TEEC_NONE,
						  TEEC_NONE);
		break;
	case STORAGE_TRUNCATE:
		ret = make(o, err);
		memset(op, 0, sizeof(*op));
		op->params[0].value.a = (uint32_t)(o->job->bytes / 2);
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, TEEC_NONE,
						  TEEC_NONE, TEEC_NONE);
		break;
	case STORAGE_DELETE:
		ret = make(o, err);
		break;
	case STORAGE_OPS:
		break;
	}
	return ret;
}

static int run_once(struct tee_object *o, struct error *err)
{
	switch (o->job->op) {
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
		return storage_wrong(err, o->job, "its size is another");
	memset(o->desk->out->buffer, 0, o->job->bytes);
	set_part(&op.params[0], o->desk->out, o->job->bytes);
	op.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_OUTPUT,
					 TEEC_VALUE_INPUT, TEEC_NONE,
					 TEEC_NONE);
	ret = call(o, TA_BENCH_CMD_STORAGE_READ, &op,
		   "read an object of the bench TA", err);
	if (ret)
		return ret;
	if (op.params[0].memref.size != len ||
	    memcmp(o->desk->out->buffer, o->data, len))
		return storage_wrong(err, o->job,
				     "it does not hold what was stored");
	return 0;
}

static int is_gone(struct tee_object *o, struct error *err)
{
	struct error why = { 0 };
	int ret = ensure_open(o, &why);

	if (ret == -ENOENT)
		return 0;
	return storage_wrong(err, o->job, "it is still there");
}

/*
 * Seen with OP-TEE 4.5: of an object of a few blocks that was made shorter,
 * the hashes no longer fit; the TEE finds it corrupt when it is opened next,
 * and removes it.
 */
static int truncated(struct tee_object *o, struct error *err)
{
	int ret = holds(o, o->job->bytes / 2, err);

	if (!ret || !err || err->tee_result != RESULT_CORRUPT_OBJECT)
		return ret;
	o->exists = false;
	error_skip(err, -EIO, "tee-defect",
		   "this TEE destroys an object of %zu bytes when it is made "
		   "shorter: it is corrupt when opened next",
		   o->job->bytes);
	error_hint(err, "a defect of the TEE: create the shorter object anew "
			"instead of truncating it");
	return -EIO;
}

static int check(struct tee_object *o, struct error *err)
{
	switch (o->job->op) {
	case STORAGE_READ:
		/* What the timed call read. */
		if (memcmp(o->desk->out->buffer, o->data, o->job->bytes))
			return storage_wrong(err, o->job,
					     "other bytes than were stored");
		memset(o->desk->out->buffer, 0, o->job->bytes);
		return 0;
	case STORAGE_TRUNCATE:
		return truncated(o, err);
	case STORAGE_DELETE:
		return is_gone(o, err);
	case STORAGE_CREATE:
	case STORAGE_OPEN:
	case STORAGE_WRITE:
	case STORAGE_RENAME:
	case STORAGE_OPS:
		break;
	}
	return holds(o, o->job->bytes, err);
}

static int tee_check(void *state, struct error *err)
{
	struct tee_object *o = state;
	int ret = check(o, err);

	/*
	 * The hash tree of a large object takes most of OP-TEE's heap while it
	 * is open; other cases need some.
	 */
	return !ret && o->job->bytes > LARGE ? ensure_closed(o, err) : ret;
}

static void tee_close(void *state)
{
	struct tee_object *o = state;

	if (!o)
		return;
	if (o->desk) {
		if (o->exists)
			ensure_absent(o, &(struct error){ 0 });
		if (o->desk->owner == o)
			o->desk->owner = NULL;
	}
	free(o->data);
	free(o);
}

static int tee_open(void **state, const struct storage_backend *backend,
		    const struct storage_job *job, struct pool *pool,
		    struct error *err)
{
	struct tee_object *o = calloc(1, sizeof(*o));
	void *desk;
	int ret;

	*state = o;
	if (!o)
		return error_set(err, -ENOMEM, "out of memory");
	o->job = job;
	o->storage = backend->which;
	snprintf(o->names[0], NAME_BYTES, "%s", job->name);
	snprintf(o->names[1], NAME_BYTES, "%s-renamed", job->name);
	o->data = malloc(job->bytes);
	if (!o->data)
		return error_set(err, -ENOMEM, "out of memory");
	pool_message(o->data, job->bytes);
	ret = pool_share(pool, &desk_kind, open_desk, close_desk, &desk, err);
	if (ret)
		return ret;
	o->desk = desk;
	/* A run that was killed may have left it under its other name. */
	if (job->op == STORAGE_RENAME) {
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

#else /* HAVE_TEEC */

#define tee_storage_probe probe_system

static int tee_reserve(struct pool *pool, size_t bytes, struct error *err)
{
	(void)pool;
	(void)bytes;
	(void)err;
	return 0;
}

#define tee_open  NULL /* never called: the probe fails */
#define tee_close NULL
#define tee_ready NULL
#define tee_run   NULL
#define tee_check NULL

#endif

const struct storage_backend storage_ree_fs = {
	.name = "tee-ree-fs",
	.which = TA_BENCH_STORAGE_REE_FS,
	.loops_max = tee_loops_max,
	.reserve = tee_reserve,
	.probe = tee_storage_probe,
	.open = tee_open,
	.close = tee_close,
	.ready = tee_ready,
	.run = tee_run,
	.check = tee_check,
};

const struct storage_backend storage_rpmb = {
	.name = "tee-rpmb",
	.which = TA_BENCH_STORAGE_RPMB,
	.loops_max = tee_loops_max,
	.reserve = tee_reserve,
	.probe = tee_storage_probe,
	.open = tee_open,
	.close = tee_close,
	.ready = tee_ready,
	.run = tee_run,
	.check = tee_check,
};
