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
#include "clock.h"
#include "ta_session.h"

/* Where key and IV are in the small shared buffer. */
enum { AT_KEY = 0, AT_IV = ALG_KEY_MAX_BYTES, SMALL_BYTES = 256 };

struct session {
	struct tee_session *tee;
	/*
	 * Where the TA puts the digest, or takes key and IV from: a temporary
	 * reference costs more.
	 */
	TEEC_SharedMemory *small;

	/* of the digest TA */
	enum ta_digest_impl impl;
	uint32_t impls;              /* bit mask of those in the TA */
	uint64_t first_ns;           /* the first call's time */
	const struct algorithm *alg; /* of the message under way */

	/* of the bench TA */
	size_t aead_decrypt_max;
	TEEC_Operation step; /* as arranged */
};

extern const struct backend backend_tee, backend_ta_c, backend_ta_ce;

static const char *impl_title(enum ta_digest_impl impl)
{
	switch (impl) {
	case TA_DIGEST_IMPL_TEE:
		return "TEE Internal Core API";
	case TA_DIGEST_IMPL_C:
		return "portable C";
	case TA_DIGEST_IMPL_CE:
		return "ARMv8 Crypto Extensions";
	}
	return "unknown";
}

static int ask_info(struct session *s, struct error *err)
{
	uint64_t begin = clock_now_ns();
	int ret = ta_session_greet(&ta_digest_name, s->tee, &s->impls, err);

	s->first_ns = clock_now_ns() - begin;
	if (ret)
		return ret;
	if (!(s->impls & 1u << s->impl))
		return error_skip(err, -EOPNOTSUPP, "no-ta-impl",
				  "the installed digest TA was built without "
				  "its implementation by %s",
				  impl_title(s->impl));
	return 0;
}

static void ta_close(struct session *s)
{
	if (!s)
		return;
	if (s->small)
		memset(s->small->buffer, 0, s->small->size);
	if (s->tee)
		tee_shm_free(s->tee, s->small);
	tee_session_close(s->tee);
	free(s);
}

static int ta_open(struct session **session, enum ta_digest_impl impl,
		   struct error *err)
{
	struct session *s = calloc(1, sizeof(*s));
	int ret;

	*session = NULL;
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->impl = impl;
	ret = ta_session_open(&ta_digest_name, &s->tee, err);
	if (!ret)
		ret = ask_info(s, err);
	if (!ret)
		ret = tee_shm_alloc(s->tee, ALG_DIGEST_MAX_BYTES,
				    TEEC_MEM_OUTPUT, &s->small, err);
	if (ret) {
		ta_close(s);
		return ret;
	}
	*session = s;
	return 0;
}

static int ta_buffer_alloc(struct session *s, size_t size,
			   struct buffer *buffer, struct error *err)
{
	TEEC_SharedMemory *shm;
	int ret = tee_shm_alloc(s->tee, size ? size : 1,
				TEEC_MEM_INPUT | TEEC_MEM_OUTPUT, &shm, err);

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
		tee_shm_free(s->tee, buffer->priv);
		memset(buffer, 0, sizeof(*buffer));
	}
}

/*
 * A reference to a part of a buffer: shared or, without priv, ordinary
 * memory. No buffer at all is an empty reference. The parameter's type.
 */
static uint32_t set_memref(TEEC_Parameter *param, const struct buffer *in,
			   size_t offset, size_t len)
{
	if (in && in->priv) {
		tee_set_memref(param, in->priv, offset, len);
		return TEEC_MEMREF_PARTIAL_INPUT;
	}
	param->tmpref.buffer = in ? in->data + offset : NULL;
	param->tmpref.size = in ? len : 0;
	return TEEC_MEMREF_TEMP_INPUT;
}

static int take_out(struct session *s, const TEEC_Parameter *param,
		    const struct algorithm *alg, uint8_t *out,
		    struct error *err)
{
	if (alg && param->memref.size != alg->out_bytes)
		return error_set(err, -EPROTO,
				 "the digest TA returned %zu bytes for %s "
				 "instead of %u",
				 param->memref.size, alg->name, alg->out_bytes);
	if (param->memref.size > ALG_DIGEST_MAX_BYTES)
		return error_set(err, -EPROTO,
				 "the digest TA returned too "
				 "long a digest");
	memcpy(out, s->small->buffer, param->memref.size);
	return 0;
}

static int ta_digest(struct session *s, const struct algorithm *alg,
		     const struct buffer *in, size_t offset, size_t len,
		     uint8_t *out, uint32_t repeat, struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t in_type;
	int ret;

	op.params[0].value.a = alg->id;
	op.params[0].value.b = (uint32_t)s->impl;
	in_type = set_memref(&op.params[1], in, offset, len);
	tee_set_memref(&op.params[2], s->small, 0, ALG_DIGEST_MAX_BYTES);
	op.params[3].value.a = repeat;
	op.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, in_type,
					 TEEC_MEMREF_PARTIAL_OUTPUT,
					 TEEC_VALUE_INPUT);
	ret = tee_invoke(s->tee, TA_DIGEST_CMD_ONESHOT, &op,
			 "hash a message in the digest TA", err);
	if (ret)
		return ret;
	return take_out(s, &op.params[2], alg, out, err);
}

static int ta_digest_init(struct session *s, const struct algorithm *alg,
			  struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, TEEC_NONE,
					       TEEC_NONE, TEEC_NONE),
	};

	s->alg = alg;
	op.params[0].value.a = alg->id;
	op.params[0].value.b = (uint32_t)s->impl;
	return tee_invoke(s->tee, TA_DIGEST_CMD_INIT, &op,
			  "begin a message in the digest TA", err);
}

static int ta_digest_update(struct session *s, const struct buffer *in,
			    size_t offset, size_t len, struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t in_type = set_memref(&op.params[0], in, offset, len);

	op.paramTypes =
		TEEC_PARAM_TYPES(in_type, TEEC_NONE, TEEC_NONE, TEEC_NONE);
	return tee_invoke(s->tee, TA_DIGEST_CMD_UPDATE, &op,
			  "hash a piece of a message in the digest TA", err);
}

static int ta_digest_final(struct session *s, const struct buffer *in,
			   size_t offset, size_t len, uint8_t *out,
			   struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t in_type = TEEC_NONE;
	int ret;

	if (in && len)
		in_type = set_memref(&op.params[0], in, offset, len);
	op.paramTypes = TEEC_PARAM_TYPES(in_type, TEEC_MEMREF_PARTIAL_OUTPUT,
					 TEEC_NONE, TEEC_NONE);
	tee_set_memref(&op.params[1], s->small, 0, ALG_DIGEST_MAX_BYTES);
	ret = tee_invoke(s->tee, TA_DIGEST_CMD_FINAL, &op,
			 "end a message in the digest TA", err);
	if (ret)
		return ret;
	return take_out(s, &op.params[1], s->alg, out, err);
}

/* The TEE's word, said about the algorithm. */
static int unsupported(const struct algorithm *alg, enum ta_digest_impl impl,
		       struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "no %s by %s on this board's TEE", alg->title,
			  impl_title(impl));
}

/* The TA is asked, since only it knows what its TEE can do. */
static int ta_supports(struct session *s, const struct algorithm *alg,
		       struct error *err)
{
	int ret;

	if (alg->class != ALG_DIGEST)
		return backend_lacks(&backend_tee, alg, err);
	ret = ta_digest_init(s, alg, err);
	if (ret == -EOPNOTSUPP) {
		unsupported(alg, s->impl, err);
		if (s->impl != TA_DIGEST_IMPL_C)
			error_hint(err,
				   "backend ta-c has what there is portable C "
				   "for%s",
				   s->impl == TA_DIGEST_IMPL_CE ?
					   ", tee what the TEE's own library "
					   "has" :
					   "");
	}
	return ret;
}

static int ta_nop(struct session *s, uint32_t calls, struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_NONE, TEEC_NONE, TEEC_NONE,
					       TEEC_NONE),
	};

	return tee_invoke_times(s->tee, TA_DIGEST_CMD_NOP, &op, calls,
				"make an empty call to the digest TA", err);
}

static void ta_open_cost(const struct session *s, struct open_cost *cost)
{
	cost->context_ns = s->tee->context_ns;
	cost->session_ns = s->tee->open_ns;
	cost->invoke_ns = s->first_ns;
}

static void heap_facts(struct session *s, struct session_facts *facts)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT, TEEC_NONE,
					       TEEC_NONE, TEEC_NONE),
	};
	struct error err = { 0 };
	int ret = tee_invoke(s->tee, TA_DIGEST_CMD_HEAP, &op,
			     "ask the digest TA for its heap", &err);

	if (!ret) {
		facts->heap_peak = op.params[0].value.a;
		facts->heap_size = op.params[0].value.b;
	} else if (ret == -EOPNOTSUPP) {
		snprintf(facts->heap_reason, sizeof(facts->heap_reason),
			 "the TA's library keeps no statistics of its heap "
			 "(OP-TEE built without CFG_WITH_STATS)");
	} else {
		snprintf(facts->heap_reason, sizeof(facts->heap_reason),
			 "%.150s", err.what);
	}
}

static void ta_facts(struct session *s, struct session_facts *facts)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT,
					       TEEC_VALUE_OUTPUT,
					       TEEC_VALUE_OUTPUT, TEEC_NONE),
	};
	struct error err = { 0 };

	*facts = (struct session_facts){ -1, -1, -1, -1, "", "" };
	if (tee_invoke(s->tee, TA_DIGEST_CMD_STATS, &op,
		       "ask the digest TA for its statistics", &err)) {
		snprintf(facts->stack_reason, sizeof(facts->stack_reason),
			 "%.150s", err.what);
	} else {
		facts->stack_peak = op.params[0].value.a;
		facts->stack_size = op.params[0].value.b;
	}
	heap_facts(s, facts);
}

static struct tee_session *ta_tee(struct session *s)
{
	return s->tee;
}

static int ta_open_tee(struct session **session, struct error *err)
{
	return ta_open(session, TA_DIGEST_IMPL_TEE, err);
}

static int ta_open_c(struct session **session, struct error *err)
{
	return ta_open(session, TA_DIGEST_IMPL_C, err);
}

static int ta_open_ce(struct session **session, struct error *err)
{
	return ta_open(session, TA_DIGEST_IMPL_CE, err);
}

static int bench_open(struct session **session, struct error *err)
{
	struct session *s = calloc(1, sizeof(*s));
	uint32_t most = 0;
	int ret;

	*session = NULL;
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	ret = ta_session_open_greeted(&ta_bench_name, &s->tee, &most, err);
	s->aead_decrypt_max = most;
	if (!ret)
		ret = tee_shm_alloc(s->tee, SMALL_BYTES, TEEC_MEM_INPUT,
				    &s->small, err);
	if (ret) {
		ta_close(s);
		return ret;
	}
	*session = s;
	return 0;
}

/* Puts the key where the TA takes it from. */
static void put_key(struct session *s, const struct keyed_job *job)
{
	memcpy((uint8_t *)s->small->buffer + AT_KEY, job->key,
	       job->alg->key_bytes);
}

static void put_iv(struct session *s, const struct keyed_job *job)
{
	memcpy((uint8_t *)s->small->buffer + AT_IV, job->iv,
	       job->alg->iv_bytes);
}

static const struct {
	uint32_t command;
	const char *doing; /* for messages */
} steps[] = {
	[KEYED_PREPARE] = { TA_BENCH_CMD_CIPHER_PREPARE,
			    "prepare a cipher in the bench TA" },
	[KEYED_SET_KEY] = { TA_BENCH_CMD_CIPHER_SET_KEY,
			    "set a key in the bench TA" },
	[KEYED_SET_IV] = { TA_BENCH_CMD_CIPHER_SET_IV,
			   "set an IV in the bench TA" },
	[KEYED_CIPHER_BUFFER] = { TA_BENCH_CMD_CIPHER_UPDATE,
				  "go on with a message in the bench TA" },
};

static void tee_arrange(struct session *s, const struct keyed_job *job,
			enum keyed_step step)
{
	const struct algorithm *alg = job->alg;
	TEEC_Operation *op = &s->step;

	memset(op, 0, sizeof(*op));
	switch (step) {
	case KEYED_PREPARE:
		op->params[0].value.a = alg->id;
		op->params[0].value.b = job->decrypt ? TA_BENCH_DECRYPT :
						       TA_BENCH_ENCRYPT;
		op->paramTypes = TEEC_VALUE_INPUT;
		break;
	case KEYED_SET_KEY:
		put_key(s, job);
		tee_set_memref(&op->params[0], s->small, AT_KEY,
			       alg->key_bytes);
		op->paramTypes = TEEC_MEMREF_PARTIAL_INPUT;
		break;
	case KEYED_SET_IV:
		put_iv(s, job);
		tee_set_memref(&op->params[0], s->small, AT_IV, alg->iv_bytes);
		op->paramTypes = TEEC_MEMREF_PARTIAL_INPUT;
		break;
	case KEYED_CIPHER_BUFFER:
		tee_set_memref(&op->params[0], job->in->priv, 0, job->len);
		tee_set_memref(&op->params[1], job->out->priv, 0, job->len);
		op->params[2].value.a = 1;
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						  TEEC_MEMREF_PARTIAL_OUTPUT,
						  TEEC_VALUE_INPUT, TEEC_NONE);
		break;
	case KEYED_STEPS:
		break;
	}
}

static int tee_step(struct session *s, const struct keyed_job *job,
		    enum keyed_step step, struct error *err)
{
	(void)job;
	return tee_invoke(s->tee, steps[step].command, &s->step,
			  steps[step].doing, err);
}

static int set_mac_key(struct session *s, const struct keyed_job *job,
		       struct error *err)
{
	TEEC_Operation op = { 0 };

	put_key(s, job);
	op.params[0].value.a = job->alg->id;
	tee_set_memref(&op.params[1], s->small, AT_KEY, job->alg->key_bytes);
	op.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT,
					 TEEC_MEMREF_PARTIAL_INPUT, TEEC_NONE,
					 TEEC_NONE);
	return tee_invoke(s->tee, TA_BENCH_CMD_MAC_SET_KEY, &op,
			  steps[KEYED_SET_KEY].doing, err);
}

static int tee_set_up(struct session *s, const struct keyed_job *job,
		      struct error *err)
{
	int ret;

	switch ((enum alg_class)job->alg->class) {
	case ALG_MAC:
		ret = set_mac_key(s, job, err);
		break;
	case ALG_CIPHER:
	case ALG_AEAD:
		tee_arrange(s, job, KEYED_PREPARE);
		ret = tee_step(s, job, KEYED_PREPARE, err);
		if (ret)
			break;
		tee_arrange(s, job, KEYED_SET_KEY);
		ret = tee_step(s, job, KEYED_SET_KEY, err);
		break;
	case ALG_DIGEST:
	default:
		return backend_lacks(&backend_tee, job->alg, err);
	}
	return ret == -EOPNOTSUPP ?
		       unsupported(job->alg, TA_DIGEST_IMPL_TEE, err) :
		       ret;
}

static int tee_message(struct session *s, const struct keyed_job *job,
		       uint32_t repeat, struct error *err)
{
	TEEC_Operation op = { 0 };
	bool is_mac = job->alg->class == ALG_MAC;
	size_t want = keyed_result_len(job);
	TEEC_Parameter *out;
	int ret;

	if (is_mac) {
		tee_set_memref(&op.params[0], job->in->priv, 0, job->len);
		out = &op.params[1];
		op.params[2].value.a = repeat;
		op.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						 TEEC_MEMREF_PARTIAL_OUTPUT,
						 TEEC_VALUE_INPUT, TEEC_NONE);
	} else {
		put_iv(s, job);
		tee_set_memref(&op.params[0], s->small, AT_IV,
			       job->alg->iv_bytes);
		tee_set_memref(&op.params[1], job->in->priv, 0, job->len);
		out = &op.params[2];
		op.params[3].value.a = repeat;
		op.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						 TEEC_MEMREF_PARTIAL_INPUT,
						 TEEC_MEMREF_PARTIAL_OUTPUT,
						 TEEC_VALUE_INPUT);
	}
	tee_set_memref(out, job->out->priv, 0, want);
	ret = tee_invoke(s->tee,
			 is_mac ? TA_BENCH_CMD_MAC :
				  TA_BENCH_CMD_CIPHER_MESSAGE,
			 &op, "send a message through the bench TA", err);
	if (!ret && out->memref.size != want)
		return error_set(err, -EPROTO,
				 "the bench TA returned %zu bytes instead of "
				 "%zu",
				 out->memref.size, want);
	return ret;
}

static size_t tee_len_max(const struct session *s, const struct keyed_job *job)
{
	return job->alg->class == ALG_AEAD && job->decrypt ?
		       s->aead_decrypt_max + job->alg->out_bytes :
		       SIZE_MAX;
}

static int tee_random(struct session *s, const struct buffer *out, size_t len,
		      uint32_t repeat, struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_OUTPUT,
					       TEEC_VALUE_INPUT, TEEC_NONE,
					       TEEC_NONE),
	};

	tee_set_memref(&op.params[0], out->priv, 0, len);
	op.params[1].value.a = repeat;
	return tee_invoke(s->tee, TA_BENCH_CMD_RANDOM, &op,
			  "draw random bytes in the bench TA", err);
}

#define DIGESTS_OF_TA                                                        \
	.crosses = true, .probe = tee_probe, .close = ta_close,              \
	.buffer_alloc = ta_buffer_alloc, .buffer_plain = buffer_alloc_plain, \
	.buffer_free = ta_buffer_free, .supports = ta_supports,              \
	.digest = ta_digest, .digest_init = ta_digest_init,                  \
	.digest_update = ta_digest_update, .digest_final = ta_digest_final,  \
	.nop = ta_nop, .open_cost = ta_open_cost, .facts = ta_facts,         \
	.tee = ta_tee

const struct backend backend_tee = {
	.name = "tee",
	.title = "TEE API",
	.summary = "TEE Internal Core API, in the TA",
	.open = ta_open_tee,
	.open_keyed = bench_open,
	.open_random = bench_open,
	DIGESTS_OF_TA,
	.set_up = tee_set_up,
	.message = tee_message,
	.len_max = tee_len_max,
	.arrange = tee_arrange,
	.step = tee_step,
	.random = tee_random,
};

const struct backend backend_ta_c = {
	.name = "ta-c",
	.title = "C, in the TA",
	.summary = "portable C, in the TA",
	.open = ta_open_c,
	DIGESTS_OF_TA,
};

const struct backend backend_ta_ce = {
	.name = "ta-ce",
	.title = "CE, in the TA",
	.summary = "ARMv8 Crypto Extensions, in the TA",
	.open = ta_open_ce,
	DIGESTS_OF_TA,
};
