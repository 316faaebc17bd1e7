/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * invoke/KIND/BACKEND/none: an empty call, by the kind of its parameter. With backend `empty`, it
 * is the overhead of measuring. KIND increment: the bench TA adds 1 to a value, as the example
 * hello_world does. KINDs direct, refused and pseudo: see direct.h; the last two need no TA of
 * teemark's.
 */

#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "direct.h"
#include "tee_call.h"

enum { MEMREF_BYTES = 64 };

struct invoke {
	struct tee_call call;  /* for kinds with a parameter; its .tee is NULL otherwise */
	struct direct *direct; /* for kinds "direct", "refused" and "pseudo" */
	enum direct_kind kind;
	struct tee_memory memory;
	uint32_t value; /* expected after the last call */
};

enum { NONE, VALUES, MEMREF_IN, MEMREF_OUT, MEMREF_INOUT, INCREMENT, DIRECT, REFUSED, PSEUDO };

static const char *const kinds[] = {
	[NONE] = "none",
	[VALUES] = "values",
	[MEMREF_IN] = "memref-in",
	[MEMREF_OUT] = "memref-out",
	[MEMREF_INOUT] = "memref-inout",
	[INCREMENT] = "increment",
	[DIRECT] = "direct",
	[REFUSED] = "refused",
	[PSEUDO] = "pseudo",
	NULL,
};

/* Returns the use of the workplace: bench TA for increment, digest TA for the other kinds. */
static enum workplace_use workplace_of(const struct bench_case *c)
{
	return c->name == INCREMENT ? WORKPLACE_STORAGE : WORKPLACE_DIGEST;
}

static int invoke_parse(struct bench_case *c, struct error *err)
{
	return pool_reserve(c->pool, c->backend, workplace_of(c), 0, err);
}

static int no_call(const struct bench_case *c, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "no-call",
			  "backend %s is not called across a border: there is no empty call%s to it",
			  c->backend->name, c->name == NONE ? "" : " with parameters");
}

/* Sets the call's parameter, of the kind that the case is about. */
static int set_parameter(struct invoke *in, int kind, struct error *err)
{
	struct tee_memory *m = &in->memory;
	TEEC_Operation *op = &in->call.op;
	int ret;

	if (kind == VALUES || kind == INCREMENT) {
		in->value = 0x600dca11;
		tee_set_value(op, 0, in->value, 1);
		tee_set_type(op, 0, TEEC_VALUE_INOUT);
		return 0;
	}
	*m = (struct tee_memory){ .tee = in->call.tee,
				  .kind = MEMORY_ALLOCATED,
				  .in = kind != MEMREF_OUT,
				  .out = kind != MEMREF_IN,
				  .size = MEMREF_BYTES };
	ret = tee_memory_make(m, err);
	tee_memory_set(m, op, 0, m->in, m->out);
	return ret;
}

static int invoke_prepare(struct bench_case *c, struct error *err)
{
	struct invoke *in = c->state;
	int ret;

	if (!c->backend->nop || (c->name != NONE && strcmp(c->backend->name, "tee")))
		return no_call(c, err);
	if (c->name == PSEUDO) {
		in->kind = DIRECT_PSEUDO;
		return direct_open(&in->direct, true, err);
	}
	/* Opens a session with the TA; an error says why there is none. */
	ret = pool_workplace(c->pool, c->backend, workplace_of(c), 0, &c->workplace, err);
	if (ret && c->name == REFUSED && err->skip &&
	    (!strcmp(err->skip, "ta-rejected") || !strcmp(err->skip, "no-ta"))) {
		struct error none = { 0 };

		in->kind = DIRECT_REFUSED;
		if (!direct_open(&in->direct, true, &none)) {
			*err = none;
			return 0;
		}
	}
	if (ret)
		return ret;
	in->kind = c->name == REFUSED ? DIRECT_REFUSED : DIRECT_EMPTY;
	if (c->name == NONE)
		return 0;
	if (c->name == DIRECT || c->name == REFUSED)
		return direct_open(&in->direct, false, err);
	in->call = (struct tee_call){
		.tee = workplace_ta(c->workplace),
		.command = TA_DIGEST_CMD_NOP,
		.doing = "make an empty call to the digest TA",
	};
	if (c->name == INCREMENT) {
		in->call.command = TA_BENCH_CMD_INCREMENT;
		in->call.doing = "have the bench TA increment a value";
	}
	return set_parameter(in, c->name, err);
}

static int invoke_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	struct invoke *in = c->state;

	if (c->name == NONE)
		return c->backend->nop(c->workplace->session, loops, err);
	if (in->direct)
		return direct_call(in->direct, in->kind, loops, err);
	if (in->call.command == TA_BENCH_CMD_INCREMENT)
		in->value += loops;
	return tee_call_run(c, loops, repeat, err);
}

/* Checks that the calls left the parameters as expected; run() checks that they succeed. */
static int invoke_verify(struct bench_case *c, struct error *err)
{
	const struct invoke *in = c->state;
	const TEEC_Value *value = &in->call.op.params[0].value;

	if (in->memory.shared) {
		uint8_t want[MEMREF_BYTES];

		pool_message(want, sizeof(want));
		if (memcmp(want, in->memory.data, sizeof(want)) ||
		    in->call.op.params[0].memref.size != MEMREF_BYTES)
			return error_set(err, -EBADMSG,
					 "an empty call has changed the memory that it was given");
	} else if (in->call.tee && (value->a != in->value || value->b != 1)) {
		return error_set(err, -EBADMSG,
				 "wrong values come back from a call: %08x %08x, not %08x 1",
				 value->a, value->b, in->value);
	}
	return invoke_run(c, 1, 1, err);
}

static void invoke_teardown(struct bench_case *c)
{
	struct invoke *in = c->state;

	tee_memory_drop(&in->memory);
	direct_close(in->direct);
}

const struct workload workload_invoke = {
	.name = "invoke",
	.summary = "an empty call, by kind of parameter",
	.parameters = "none",
	.names = kinds,
	.state_size = sizeof(struct invoke),
	.parse = invoke_parse,
	.prepare = invoke_prepare,
	.run = invoke_run,
	.verify = invoke_verify,
	.teardown = invoke_teardown,
};
