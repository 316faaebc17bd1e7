/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * invoke/KIND/BACKEND/none: an empty call, by the kind of its parameter.
 * With backend `empty` it is the cost of measuring itself. KIND increment: the
 * bench TA adds 1 to a value, as the example hello_world does; direct and
 * refused: direct.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "direct.h"
#include "listing.h"
#include "pool.h"
#include "tee_client.h"
#include "workload.h"

enum { MEMREF_BYTES = 64 };

struct invoke {
	const struct backend *backend; /* kind "none" */
	struct session *session;
	struct direct *direct; /* kinds "direct" and "refused" */
	bool refused;
	struct tee_session *tee; /* the other kinds */
	TEEC_SharedMemory *shm;
	TEEC_Operation op;
	uint32_t command;
	const char *doing;
	uint32_t value; /* that the last call should have left */
};

static const char *const kinds[] = {
	"none",      "values", "memref-in", "memref-out", "memref-inout",
	"increment", "direct", "refused",   NULL,
};

/* That of the TA that is called: the digest TA, or the bench TA. */
static enum desk_use desk_of(const struct bench_case *c)
{
	return strcmp(c->algorithm_name, "increment") ? DESK_DIGEST :
							DESK_STORAGE;
}

static int invoke_parse(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	int ret = case_choice(c->algorithm_name, kinds, "a kind of parameter",
			      err);

	if (ret >= 0)
		ret = case_need_backend(c, err);
	if (!ret)
		ret = case_need_no_parameters(c, err);
	return ret ? ret : pool_reserve(pool, c->backend, desk_of(c), 0, err);
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

	if (!strcmp(kind, "values") || !strcmp(kind, "increment")) {
		op->params[0].value.a = in->value = 0x600dca11;
		op->params[0].value.b = 1;
		tee_set_type(op, 0, TEEC_VALUE_INOUT);
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
		tee_set_memref(op, 0, memrefs[i].type, in->shm, 0,
			       MEMREF_BYTES);
	}
	return 0;
}

static int invoke_prepare(struct bench_case *c, struct pool *pool,
			  struct error *err)
{
	bool plain = !strcmp(c->algorithm_name, "none");
	struct invoke *in = c->state;
	struct desk *desk;
	int ret;

	if (!c->backend->nop || (!plain && strcmp(c->backend->name, "tee")))
		return no_call(c, err);
	/* Opens a session with the TA, and says why where none can be had. */
	ret = pool_desk(pool, c->backend, desk_of(c), 0, &desk, err);
	if (ret)
		return ret;
	in->backend = c->backend;
	in->session = desk->session;
	if (plain)
		return 0;
	in->refused = !strcmp(c->algorithm_name, "refused");
	if (in->refused || !strcmp(c->algorithm_name, "direct"))
		return direct_open(&in->direct, err);
	in->tee = desk_ta(desk);
	in->command = TA_DIGEST_CMD_NOP;
	in->doing = "make an empty call to the digest TA";
	if (desk_of(c) == DESK_STORAGE) {
		in->command = TA_BENCH_CMD_INCREMENT;
		in->doing = "have the bench TA increment a value";
	}
	return set_parameter(in, c->algorithm_name, err);
}

static int invoke_run(void *state, uint32_t loops, uint32_t repeat,
		      struct error *err)
{
	struct invoke *in = state;

	(void)repeat;
	if (in->direct)
		return direct_call(in->direct, in->refused, loops, err);
	if (in->tee) {
		if (in->command == TA_BENCH_CMD_INCREMENT)
			in->value += loops;
		return tee_invoke_times(in->tee, in->command, &in->op, loops,
					in->doing, err);
	}
	return in->backend->nop(in->session, loops, err);
}

/* Its success run() checks; what went in comes back as it was. */
static int invoke_verify(void *state, struct error *err)
{
	struct invoke *in = state;

	if (in->shm) {
		uint8_t want[MEMREF_BYTES];

		pool_message(want, sizeof(want));
		if (memcmp(want, in->shm->buffer, sizeof(want)) ||
		    in->op.params[0].memref.size != MEMREF_BYTES)
			return error_set(err, -EBADMSG,
					 "an empty call has changed the memory "
					 "that it was given");
	} else if (in->tee && (in->op.params[0].value.a != in->value ||
			       in->op.params[0].value.b != 1)) {
		return error_set(err, -EBADMSG,
				 "wrong values come back from a call: %08x "
				 "%08x, not %08x 1",
				 in->op.params[0].value.a,
				 in->op.params[0].value.b, in->value);
	}
	return invoke_run(state, 1, 1, err);
}

static void invoke_teardown(void *state)
{
	struct invoke *in = state;

	if (in->shm)
		tee_shm_free(in->tee, in->shm);
	direct_close(in->direct);
}

static void invoke_list(struct listing *listing, struct pool *pool)
{
	/* Only those that are called across a border, and nothing. */
	for (size_t b = 0; backends[b]; b++)
		if (backends[b]->nop)
			listing_add_names(listing, pool, backends[b],
					  DESK_DIGEST,
					  (const char *const[]){ "none",
								 NULL });
	listing_add_names(listing, pool, backend_by_name("tee"), DESK_DIGEST,
			  kinds + 1);
}

const struct workload workload_invoke = {
	.name = "invoke",
	.summary = "an empty call, by kind of parameter",
	.parameters = "none",
	.state_size = sizeof(struct invoke),
	.parse = invoke_parse,
	.prepare = invoke_prepare,
	.run = invoke_run,
	.verify = invoke_verify,
	.teardown = invoke_teardown,
	.list = invoke_list,
};
