/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm/KIND/tee/DIRECTION/BYTES: an empty call that carries a buffer, which the TA does not touch:
 * the cost of passing a buffer, by how the client made it.
 *
 *   temporary      ordinary memory, registered and released by every call
 *   registered     ordinary memory, registered once
 *   allocated      memory that libteec allocated, shared from the beginning
 *   registered-ro  memory that the client may only read, as a constant: it cannot be registered, so
 *                  libteec copies it at every call
 */
#include <stdlib.h>

#include <teemark/ta_digest.h>

#include "known_answer.h"
#include "tee_call.h"

static const char *const kinds[] = {
	[MEMORY_TEMPORARY] = "temporary",
	[MEMORY_REGISTERED] = "registered",
	[MEMORY_ALLOCATED] = "allocated",
	[MEMORY_READ_ONLY] = "registered-ro",
	NULL,
};

enum { IN, OUT, INOUT }; /* directions, in the order of .parameters */

static int shm_parse(struct bench_case *c, struct error *err)
{
	if (c->part[0].word != IN && c->name == MEMORY_READ_ONLY)
		return case_wrong(err, "memory that can only be read has direction in");
	return 0;
}

/*
 * The state of a case, which has a buffer only while it owns the workplace: the TEE keeps a list of the
 * pages of all shared memory in its small heap.
 */
struct shm {
	struct tee_call call;
	struct tee_memory memory;
	bool crossed; /* the first call succeeded */
};

static void drop_buffer(struct bench_case *c)
{
	tee_memory_drop(&((struct shm *)c->state)->memory);
}

static int shm_ready(struct bench_case *c, struct error *err)
{
	struct shm *s = c->state;
	int ret;

	if (c->workplace->owner == c)
		return 0;
	if (c->workplace->owner)
		drop_buffer(c->workplace->owner);
	c->workplace->owner = c;
	ret = tee_memory_make(&s->memory, err);
	if (!ret)
		tee_memory_set(&s->memory, &s->call.op, 0, s->memory.in, s->memory.out);
	return ret;
}

static int shm_prepare(struct bench_case *c, struct error *err)
{
	struct shm *s = c->state;

	s->call.tee = workplace_ta(c->workplace);
	s->call.command = TA_DIGEST_CMD_NOP;
	s->call.doing = "carry a buffer to the digest TA and back";
	s->memory.tee = s->call.tee;
	s->memory.kind = (unsigned)c->name;
	s->memory.in = c->part[0].word != OUT;
	s->memory.out = c->part[0].word != IN;
	s->memory.size = (size_t)c->bytes;
	return shm_ready(c, err);
}

static int shm_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	const struct shm *s = c->state;
	int ret = tee_call_run(c, loops, repeat, err);

	if (ret && !s->crossed) /* a temporary buffer is registered only now */
		tee_memory_blame_size(&s->memory, err);
	return ret;
}

/*
 * Checks that the TA sees the buffer's bytes, whose digest it computes. With `out`, checks that
 * bytes from the TA come back in the buffer: it writes the digest of other bytes there.
 */
static int cross(struct bench_case *c, bool out, struct error *err)
{
	const struct algorithm *alg = algorithm_by_name("sha256");
	struct shm *s = c->state;
	uint8_t bytes[ALG_DIGEST_MAX_BYTES] = { 0 };
	uint8_t want[ALG_DIGEST_MAX_BYTES];
	struct tee_memory plain = { .data = bytes, .size = sizeof(bytes) };
	struct tee_memory *from = out ? &plain : &s->memory, *to = out ? &s->memory : &plain;
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, alg->id, TA_DIGEST_IMPL_C);
	tee_memory_set(from, &op, 1, true, false);
	tee_memory_set(to, &op, 2, false, true);
	tee_set_value(&op, 3, 1, 0);
	ret = known_answer_digest(c->pool, NULL, alg, from->data, from->size, want, NULL, err);
	if (!ret)
		ret = tee_invoke(s->call.tee, TA_DIGEST_CMD_ONESHOT, &op,
				 "hash through a shared buffer", err);
	return ret ? ret :
		     case_compare(out ? "a buffer that comes back" : "a buffer that crosses",
				  to->data, want, alg->out_bytes, err);
}

/* Checks that an empty call leaves the buffer as it was. */
static int unchanged(const struct shm *s, struct error *err)
{
	uint8_t *message = malloc(s->memory.size);
	int differs;

	if (!message)
		return error_memory(err);
	pool_message(message, s->memory.size);
	differs = memcmp(message, s->memory.data, s->memory.size);
	free(message);
	return differs ? error_set(err, -EBADMSG,
				   "an empty call has changed the buffer that it carried") :
			 0;
}

static int shm_verify(struct bench_case *c, struct error *err)
{
	struct shm *s = c->state;
	int ret = unchanged(s, err);

	s->crossed = true;
	if (!ret && s->memory.in)
		ret = cross(c, false, err);
	if (!ret && s->memory.out)
		ret = cross(c, true, err);
	if (!ret && s->memory.kind == MEMORY_READ_ONLY && s->memory.shm.buffer != s->memory.plain)
		ret = error_set(err, -EPROTO, "registering moved the buffer of the client");
	return ret;
}

const struct workload workload_shm = {
	.name = "shm",
	.summary = "an empty call that carries a buffer, by kind of memory",
	.parameters = "in|out|inout/BYTES",
	.names = kinds,
	.backend = "tee",
	.least = ALG_DIGEST_MAX_BYTES,
	.most = 64 << 20,
	.workplace = WORKPLACE_SHM,
	.state_size = sizeof(struct shm),
	.parse = shm_parse,
	.prepare = shm_prepare,
	.ready = shm_ready,
	.run = shm_run,
	.verify = shm_verify,
	.teardown = drop_buffer,
};
