/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * invoke/KIND/BACKEND/none: an empty call, by the kind of its parameter.
 * With backend `empty` it is the cost of measuring itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_digest.h>

#include "listing.h"
#include "pool.h"
#include "tee_share.h"
#include "workload.h"

enum { MEMREF_BYTES = 64 };

struct invoke {
	const struct backend *backend; /* kind "none" */
	struct session *session;
#ifdef HAVE_TEEC
	struct tee_session *tee; /* the other kinds */
	TEEC_SharedMemory *shm;
	TEEC_Operation op;
#endif
};

static const char *const kinds[] = {
	"none", "values", "memref-in", "memref-out", "memref-inout", NULL,
};

static int invoke_parse(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	const char *const *kind = kinds;
	int ret;

	while (*kind && strcmp(*kind, c->algorithm_name))
		kind++;
	if (!*kind)
		return error_set(err, -EINVAL,
				 "workload invoke has no kind \"%s\" (none, "
				 "values, memref-in, memref-out, memref-inout)",
				 c->algorithm_name);
	ret = case_need_backend(c, err);
	if (ret)
		return ret;
	if (strcmp(c->parameters, "none"))
		return error_set(err, -EINVAL,
				 "workload invoke has no "
				 "parameters \"%s\" (none)",
				 c->parameters);
	return pool_reserve(pool, c->backend, 0, err);
}

static int no_call(const struct bench_case *c, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "no-call",
			  "backend %s is not called across a border: there is "
			  "no empty call%s to it",
			  c->backend->name,
			  strcmp(c->algorithm_name, "none") ?
				  " with parameters" :
				  "");
}

#ifdef HAVE_TEEC
/* The parameter that a kind is about. */
static int set_parameter(struct invoke *in, const char *kind, struct error *err)
{
	static const struct {
		const char *kind;
		uint32_t type, flags;
	} memrefs[] = {
		{ "memref-in", TEEC_MEMREF_PARTIAL_INPUT, TEEC_MEM_INPUT },
		{ "memref-out", TEEC_MEMREF_PARTIAL_OUTPUT, TEEC_MEM_OUTPUT },
		{ "memref-inout", TEEC_MEMREF_PARTIAL_INOUT,
		  TEEC_MEM_INPUT | TEEC_MEM_OUTPUT },
	};
	TEEC_Operation *op = &in->op;
	int ret;

	if (!strcmp(kind, "values")) {
		op->params[0].value.a = 0x600dca11;
		op->params[0].value.b = 1;
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INOUT, TEEC_NONE,
						  TEEC_NONE, TEEC_NONE);
		return 0;
	}
	for (size_t i = 0; i < sizeof(memrefs) / sizeof(*memrefs); i++) {
		if (strcmp(memrefs[i].kind, kind))
			continue;
		ret = tee_shm_alloc(in->tee, MEMREF_BYTES, memrefs[i].flags,
				    &in->shm, err);
		if (ret)
			return ret;
		pool_message(in->shm->buffer, MEMREF_BYTES);
		op->params[0].memref.parent = in->shm;
		op->params[0].memref.size = MEMREF_BYTES;
		op->paramTypes = TEEC_PARAM_TYPES(memrefs[i].type, TEEC_NONE,
						  TEEC_NONE, TEEC_NONE);
	}
	return 0;
}
#endif

static int invoke_prepare(struct bench_case *c, struct pool *pool,
			  struct error *err)
{
	struct session *session;
	struct invoke *in;
	int ret;

	ret = pool_session(pool, c->backend, &session, err);
	if (ret)
		return ret;
	if (!c->backend->nop || (strcmp(c->algorithm_name, "none") &&
				 strcmp(c->backend->name, "tee")))
		return no_call(c, err);
	in = calloc(1, sizeof(*in));
	if (!in)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = in;
	in->backend = c->backend;
	in->session = session;
#ifdef HAVE_TEEC
	if (strcmp(c->algorithm_name, "none")) {
		ret = tee_share(pool, &ta_digest_name, &in->tee, err);
		if (!ret)
			ret = set_parameter(in, c->algorithm_name, err);
	}
#endif
	return ret;
}

static int invoke_run(void *state, uint32_t loops, uint32_t repeat,
		      struct error *err)
{
	struct invoke *in = state;

	(void)repeat;
#ifdef HAVE_TEEC
	if (in->tee) {
		int ret = 0;

		for (uint32_t i = 0; !ret && i < loops; i++)
			ret = tee_invoke(in->tee, TA_DIGEST_CMD_NOP, &in->op,
					 "make an empty call to the digest TA",
					 err);
		return ret;
	}
#endif
	return in->backend->nop(in->session, loops, err);
}

/* Its success run() checks; what went in comes back as it was. */
static int invoke_verify(void *state, struct error *err)
{
#ifdef HAVE_TEEC
	struct invoke *in = state;

	if (in->shm) {
		uint8_t want[MEMREF_BYTES];

		pool_message(want, sizeof(want));
		if (memcmp(want, in->shm->buffer, sizeof(want)) ||
		    in->op.params[0].memref.size != MEMREF_BYTES)
			return error_set(err, -EBADMSG,
					 "an empty call has changed the memory "
					 "that it was given");
	} else if (in->tee && (in->op.params[0].value.a != 0x600dca11 ||
			       in->op.params[0].value.b != 1)) {
		return error_set(err, -EBADMSG,
				 "values come back changed from an empty "
				 "call: %08x %08x",
				 in->op.params[0].value.a,
				 in->op.params[0].value.b);
	}
#endif
	return invoke_run(state, 1, 1, err);
}

static void invoke_teardown(void *state)
{
#ifdef HAVE_TEEC
	struct invoke *in = state;

	if (in && in->shm)
		tee_shm_free(in->tee, in->shm);
#endif
	free(state);
}

static void invoke_list(struct listing *listing, struct pool *pool)
{
	const struct backend *tee = backend_by_name("tee");
	struct session *session;
	struct error why = { 0 };

	listing_add_calls(listing, pool);
	pool_session(pool, tee, &session, &why);
	for (const char *const *kind = kinds + 1; *kind; kind++)
		listing_add(listing, *kind, tee->name, &why);
}

const struct workload workload_invoke = {
	.name = "invoke",
	.summary = "an empty call, by kind of parameter",
	.parameters = "none",
	.parse = invoke_parse,
	.prepare = invoke_prepare,
	.run = invoke_run,
	.verify = invoke_verify,
	.teardown = invoke_teardown,
	.list = invoke_list,
};
