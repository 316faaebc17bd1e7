/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Digests by the digest TA (ta/digest): `tee`, `ta-c` and `ta-ce` are one TA,
 * asked for different implementations. Ciphers, MACs and random bytes of `tee`
 * by the bench TA (ta/bench).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "backend.h"
#include "ta_session.h"
#include "tee_asym.h"

/* Key and IV lie there in the small shared buffer. */
enum { AT_KEY = 0, AT_IV = ALG_KEY_MAX_BYTES, SMALL_BYTES = 256 };

struct session {
	struct ta_session ta; /* first: tee_asym.c finds it there */
	/*
	 * The TA puts the digest here, or takes key and IV from here: a temporary reference costs
	 * more.
	 */
	TEEC_SharedMemory *small;

	/* of the digest TA */
	enum ta_digest_impl impl;
	const struct algorithm *alg; /* of the message under way */

	/* of the bench TA */
	size_t aead_decrypt_max;
	TEEC_Operation step; /* as arranged */
};

extern const struct backend backend_tee;

static const char *const impl_titles[] = {
	[TA_DIGEST_IMPL_TEE] = "TEE Internal Core API",
	[TA_DIGEST_IMPL_C] = "portable C",
	[TA_DIGEST_IMPL_CE] = "ARMv8 Crypto Extensions",
};

static void ta_close(struct session *s)
{
	if (!s)
		return;
	if (s->small)
		memset(s->small->buffer, 0, s->small->size);
	if (s->ta.tee)
		tee_shm_free(s->ta.tee, s->small);
	tee_session_close(s->ta.tee);
	free(s);
}

/* *more: what else the TA tells of itself. */
static int open_session(struct session **session, const struct ta_name *ta, size_t small,
			uint32_t flags, uint32_t *more, struct error *err)
{
	struct session *s = calloc(1, sizeof(*s));
	int ret;

	*session = s;
	if (!s)
		return error_memory(err);
	ret = ta_session_open(ta, &s->ta.tee, more, err);
	return ret ? ret : tee_shm_alloc(s->ta.tee, small, flags, &s->small, err);
}

static int digest_open(struct session **session, enum ta_digest_impl impl, struct error *err)
{
	uint32_t impls = 0; /* bit mask of those in the TA */
	int ret = open_session(session, &ta_digest_name, ALG_DIGEST_MAX_BYTES, TEEC_MEM_OUTPUT,
			       &impls, err);

	if (ret)
		return ret;
	(*session)->impl = impl;
	if (impls & 1u << impl)
		return 0;
	return error_skip(err, -EOPNOTSUPP, "no-ta-impl",
			  "the installed digest TA was built without its implementation by %s",
			  impl_titles[impl]);
}

static int ta_buffer_alloc(struct session *s, size_t size, struct buffer *buffer, struct error *err)
{
	TEEC_SharedMemory *shm;
	int ret = tee_shm_alloc(s->ta.tee, size ? size : 1, TEEC_MEM_INPUT | TEEC_MEM_OUTPUT, &shm,
				err);

	if (ret)
		return ret;
	buffer->data = shm->buffer;
	buffer->size = size;
	buffer->priv = shm;
	return 0;
}

static void ta_buffer_free(struct session *s, struct buffer *buffer)
{
	if (buffer && !buffer->priv) {
		buffer_free_plain(s, buffer);
	} else if (buffer) {
		tee_shm_free(s->ta.tee, buffer->priv);
		memset(buffer, 0, sizeof(*buffer));
	}
}

/*
 * Sets a reference to a part of a buffer: shared or, without priv, ordinary memory. The reference
 * is empty without a buffer.
 */
static void set_input(TEEC_Operation *op, unsigned i, const struct buffer *in, size_t offset,
		      size_t len)
{
	if (in && in->priv) {
		tee_set_memref(op, i, TEEC_MEMREF_PARTIAL_INPUT, in->priv, offset, len);
		return;
	}
	tee_set_type(op, i, TEEC_MEMREF_TEMP_INPUT);
	op->params[i].tmpref.buffer = in ? in->data + offset : NULL;
	op->params[i].tmpref.size = in ? len : 0;
}

static void set_out(struct session *s, TEEC_Operation *op, unsigned i)
{
	tee_set_memref(op, i, TEEC_MEMREF_PARTIAL_OUTPUT, s->small, 0, ALG_DIGEST_MAX_BYTES);
}

static int take_out(struct session *s, const TEEC_Parameter *param, const struct algorithm *alg,
		    uint8_t *out, struct error *err)
{
	if (param->memref.size != alg->out_bytes)
		return error_set(err, -EPROTO,
				 "the digest TA returned %zu bytes for %s instead of %u",
				 param->memref.size, alg->name, alg->out_bytes);
	memcpy(out, s->small->buffer, param->memref.size);
	return 0;
}

static int ta_digest(struct session *s, const struct algorithm *alg, const struct buffer *in,
		     size_t offset, size_t len, uint8_t *out, uint32_t repeat, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, alg->id, (uint32_t)s->impl);
	set_input(&op, 1, in, offset, len);
	set_out(s, &op, 2);
	tee_set_value(&op, 3, repeat, 0);
	ret = tee_invoke(s->ta.tee, TA_DIGEST_CMD_ONESHOT, &op, "hash a message in the digest TA",
			 err);
	if (ret)
		return ret;
	return take_out(s, &op.params[2], alg, out, err);
}

static int ta_digest_init(struct session *s, const struct algorithm *alg, struct error *err)
{
	TEEC_Operation op = { 0 };

	s->alg = alg;
	tee_set_value(&op, 0, alg->id, (uint32_t)s->impl);
	return tee_invoke(s->ta.tee, TA_DIGEST_CMD_INIT, &op, "begin a message in the digest TA",
			  err);
}

static int ta_digest_update(struct session *s, const struct buffer *in, size_t offset, size_t len,
			    struct error *err)
{
	TEEC_Operation op = { 0 };

	set_input(&op, 0, in, offset, len);
	return tee_invoke(s->ta.tee, TA_DIGEST_CMD_UPDATE, &op,
			  "hash a piece of a message in the digest TA", err);
}

static int ta_digest_final(struct session *s, const struct buffer *in, size_t offset, size_t len,
			   uint8_t *out, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	if (in && len)
		set_input(&op, 0, in, offset, len);
	set_out(s, &op, 1);
	ret = tee_invoke(s->ta.tee, TA_DIGEST_CMD_FINAL, &op, "end a message in the digest TA",
			 err);
	if (ret)
		return ret;
	return take_out(s, &op.params[1], s->alg, out, err);
}

/* Says about the algorithm what the TEE said. */
static int unsupported(const struct algorithm *alg, enum ta_digest_impl impl, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "no %s by %s on this board's TEE", alg->title, impl_titles[impl]);
}

/* Asks the TA, since only it knows what its TEE can do. */
static int ta_supports(struct session *s, const struct algorithm *alg, struct error *err)
{
	int ret;

	if (alg->class != ALG_DIGEST)
		return backend_lacks(&backend_tee, alg, err);
	ret = ta_digest_init(s, alg, err);
	if (ret == -EOPNOTSUPP) {
		unsupported(alg, s->impl, err);
		if (s->impl != TA_DIGEST_IMPL_C)
			error_hint(err, "backend ta-c has what there is portable C for%s",
				   s->impl == TA_DIGEST_IMPL_CE ?
					   ", tee what the TEE's own library has" :
					   "");
	}
	return ret;
}

static int ta_nop(struct session *s, uint32_t calls, struct error *err)
{
	TEEC_Operation op = { 0 };

	return tee_invoke_times(s->ta.tee, TA_DIGEST_CMD_NOP, &op, calls,
				"make an empty call to the digest TA", err);
}

/* Asks for a peak and a size. The reason has room for 160 characters. */
static void ask_fact(struct session *s, uint32_t command, int64_t *peak, int64_t *size,
		     char *reason)
{
	TEEC_Operation op = { .paramTypes = TEEC_VALUE_OUTPUT };
	struct error err = { 0 };
	int ret = tee_invoke(s->ta.tee, command, &op, "ask the digest TA for its memory", &err);

	*peak = ret ? -1 : (int64_t)op.params[0].value.a;
	*size = ret ? -1 : (int64_t)op.params[0].value.b;
	snprintf(reason, 160, "%.150s",
		 ret == -EOPNOTSUPP ? "the TA's library keeps no statistics of its heap "
				      "(OP-TEE built without CFG_WITH_STATS)" :
				      err.what);
}

static void ta_facts(struct session *s, struct session_facts *facts)
{
	ask_fact(s, TA_DIGEST_CMD_STACK, &facts->stack_peak, &facts->stack_size,
		 facts->stack_reason);
	ask_fact(s, TA_DIGEST_CMD_HEAP, &facts->heap_peak, &facts->heap_size, facts->heap_reason);
}

static struct tee_session *ta_tee(struct session *s)
{
	return s->ta.tee;
}

static int ta_open(struct session **session, const struct backend *self, enum backend_use use,
		   struct error *err)
{
	uint32_t most = 0;
	int ret;

	if (use == USE_DIGESTS)
		return digest_open(session, (enum ta_digest_impl)self->code, err);
	ret = open_session(session, &ta_bench_name, SMALL_BYTES, TEEC_MEM_INPUT, &most, err);
	if (!ret)
		(*session)->aead_decrypt_max = most;
	return ret;
}

/* Puts key or IV where the TA takes it from. */
static void put_small(struct session *s, size_t at, const uint8_t *data, size_t len)
{
	memcpy((uint8_t *)s->small->buffer + at, data, len);
}

static void set_small(struct session *s, TEEC_Operation *op, unsigned i, size_t at, size_t len)
{
	tee_set_memref(op, i, TEEC_MEMREF_PARTIAL_INPUT, s->small, at, len);
}

/*
 * Sets three parameters: the message, the room for its result, the repetitions. Inline, for all but
 * the sizes is known to the compiler, and it is measured.
 */
static inline void set_message(TEEC_Operation *op, unsigned first, const struct keyed_job *job,
			       size_t out_len, uint32_t repeat)
{
	tee_set_memref(op, first, TEEC_MEMREF_PARTIAL_INPUT, job->in->priv, 0, job->len);
	tee_set_memref(op, first + 1, TEEC_MEMREF_PARTIAL_OUTPUT, job->out->priv, 0, out_len);
	tee_set_value(op, first + 2, repeat, 0);
}

static const struct {
	uint32_t command;
	const char *doing; /* for messages */
} steps[] = {
	[KEYED_PREPARE] = { TA_BENCH_CMD_CIPHER_PREPARE, "prepare a cipher in the bench TA" },
	[KEYED_SET_KEY] = { TA_BENCH_CMD_CIPHER_SET_KEY, "set a key in the bench TA" },
	[KEYED_SET_IV] = { TA_BENCH_CMD_CIPHER_SET_IV, "set an IV in the bench TA" },
	[KEYED_CIPHER_BUFFER] = { TA_BENCH_CMD_CIPHER_UPDATE,
				  "go on with a message in the bench TA" },
};

static void tee_arrange(struct session *s, const struct keyed_job *job, enum keyed_step step)
{
	const struct algorithm *alg = job->alg;
	TEEC_Operation *op = &s->step;

	memset(op, 0, sizeof(*op));
	switch (step) {
	case KEYED_PREPARE:
		tee_set_value(op, 0, alg->id, job->decrypt ? TA_BENCH_DECRYPT : TA_BENCH_ENCRYPT);
		break;
	case KEYED_SET_KEY:
		set_small(s, op, 0, AT_KEY, alg->key_bytes);
		put_small(s, AT_KEY, job->key, job->alg->key_bytes);
		break;
	case KEYED_SET_IV:
		set_small(s, op, 0, AT_IV, alg->iv_bytes);
		put_small(s, AT_IV, job->iv, job->alg->iv_bytes);
		break;
	case KEYED_CIPHER_BUFFER:
		set_message(op, 0, job, job->len, 1);
		break;
	case KEYED_STEPS:
		break;
	}
}

static int tee_step(struct session *s, const struct keyed_job *job, enum keyed_step step,
		    struct error *err)
{
	(void)job;
	return tee_invoke(s->ta.tee, steps[step].command, &s->step, steps[step].doing, err);
}

static int set_mac_key(struct session *s, const struct keyed_job *job, struct error *err)
{
	TEEC_Operation op = { 0 };

	put_small(s, AT_KEY, job->key, job->alg->key_bytes);
	tee_set_value(&op, 0, job->alg->id, 0);
	set_small(s, &op, 1, AT_KEY, job->alg->key_bytes);
	return tee_invoke(s->ta.tee, TA_BENCH_CMD_MAC_SET_KEY, &op, steps[KEYED_SET_KEY].doing,
			  err);
}

static int tee_set_up(struct session *s, const struct keyed_job *job, struct error *err)
{
	int ret = 0;

	if (job->alg->class == ALG_DIGEST)
		return backend_lacks(&backend_tee, job->alg, err);
	if (job->alg->class == ALG_MAC)
		ret = set_mac_key(s, job, err);
	else
		for (enum keyed_step i = KEYED_PREPARE; !ret && i <= KEYED_SET_KEY; i++) {
			tee_arrange(s, job, i);
			ret = tee_step(s, job, i, err);
		}
	return ret == -EOPNOTSUPP ? unsupported(job->alg, TA_DIGEST_IMPL_TEE, err) : ret;
}

static int tee_message(struct session *s, const struct keyed_job *job, uint32_t repeat,
		       struct error *err)
{
	size_t want = keyed_result_len(job);
	bool is_mac = job->alg->class == ALG_MAC;
	TEEC_Operation op = { 0 };
	const TEEC_Parameter *out = &op.params[is_mac ? 1 : 2];
	int ret;

	if (is_mac) {
		set_message(&op, 0, job, want, repeat);
	} else {
		set_small(s, &op, 0, AT_IV, job->alg->iv_bytes);
		set_message(&op, 1, job, want, repeat);
		put_small(s, AT_IV, job->iv, job->alg->iv_bytes);
	}
	ret = tee_invoke(s->ta.tee, is_mac ? TA_BENCH_CMD_MAC : TA_BENCH_CMD_CIPHER_MESSAGE, &op,
			 "send a message through the bench TA", err);
	if (!ret && out->memref.size != want)
		return error_set(err, -EPROTO, "the bench TA returned %zu bytes instead of %zu",
				 out->memref.size, want);
	return ret;
}

static size_t tee_len_max(const struct session *s, const struct keyed_job *job)
{
	return job->alg->class == ALG_AEAD && job->decrypt ?
		       s->aead_decrypt_max + job->alg->out_bytes :
		       SIZE_MAX;
}

static int tee_random(struct session *s, const struct buffer *out, size_t len, uint32_t repeat,
		      struct error *err)
{
	TEEC_Operation op = { 0 };

	tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_OUTPUT, out->priv, 0, len);
	tee_set_value(&op, 1, repeat, 0);
	return tee_invoke(s->ta.tee, TA_BENCH_CMD_RANDOM, &op, "draw random bytes in the bench TA",
			  err);
}

#define DIGESTS_OF_TA                                                                            \
	.crosses = true, .probe = tee_probe, .open = ta_open, .close = ta_close,                 \
	.buffer_alloc = ta_buffer_alloc, .buffer_free = ta_buffer_free, .supports = ta_supports, \
	.digest = ta_digest, .digest_init = ta_digest_init, .digest_update = ta_digest_update,   \
	.digest_final = ta_digest_final, .nop = ta_nop, .facts = ta_facts, .tee = ta_tee

const struct backend backend_tee = {
	.name = "tee",
	.title = "TEE API",
	.summary = "TEE Internal Core API, in the TA",
	.uses = 1u << USE_DIGESTS | 1u << USE_KEYS | 1u << USE_RANDOM | 1u << USE_ASYM,
	.code = TA_DIGEST_IMPL_TEE,
	DIGESTS_OF_TA,
	.set_up = tee_set_up,
	.message = tee_message,
	.len_max = tee_len_max,
	.arrange = tee_arrange,
	.step = tee_step,
	.random = tee_random,
	.asym_step = asym_ta_step,
	.generate = asym_ta_generate,
	.public_key = asym_ta_public_key,
	.asym_says = asym_ta_says,
	.asym_again = asym_ta_again,
};

const struct backend backend_ta_c = {
	.name = "ta-c",
	.title = "C, in the TA",
	.summary = "portable C, in the TA",
	.uses = 1u << USE_DIGESTS,
	.code = TA_DIGEST_IMPL_C,
	DIGESTS_OF_TA,
};

const struct backend backend_ta_ce = {
	.name = "ta-ce",
	.title = "CE, in the TA",
	.summary = "ARMv8 Crypto Extensions, in the TA",
	.uses = 1u << USE_DIGESTS,
	.code = TA_DIGEST_IMPL_CE,
	DIGESTS_OF_TA,
};
