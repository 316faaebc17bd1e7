/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backends `tee`, `ta-c` and `ta-ce` compute digests by three implementations of one TA, the
 * digest TA (ta/digest). `tee` also computes ciphers, MACs, random bytes and asymmetric operations
 * by the bench TA (ta/bench).
 */

#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "backend.h"
#include "cpu.h"
#include "ta_session.h"

/* Offsets of key and IV in the small shared buffer, and its size in bytes. */
enum { AT_KEY = 0, AT_IV = ALG_KEY_MAX_BYTES, SMALL_BYTES = 256 };

struct session {
	struct tee_session *tee;
	/*
	 * Shared buffer in which the TA writes the digest, or reads key and IV: a temporary
	 * reference would cost more.
	 */
	TEEC_SharedMemory *small;

	/* implementation in the digest TA */
	enum ta_digest_impl impl;
	const struct algorithm *alg; /* algorithm of the message under way */

	/* limit in the bench TA, in bytes */
	size_t aead_decrypt_max;
	TEEC_Operation step; /* parameters that arrange() has set */
};

static const char *const impl_titles[] = {
	[TA_DIGEST_IMPL_TEE] = "TEE Internal Core API",
	[TA_DIGEST_IMPL_C] = "portable C",
	[TA_DIGEST_IMPL_CE] = "ARMv8 Crypto Extensions",
};

static void ta_close(struct session *s)
{
	if (s->small)
		memset(s->small->buffer, 0, s->small->size);
	tee_shm_free(s->tee, s->small);
	tee_session_close(s->tee);
}

static int ta_open(struct session *s, const struct backend *self, enum backend_use use,
		   struct error *err)
{
	bool digests = use == USE_DIGESTS, ce = digests && self->code == TA_DIGEST_IMPL_CE;
	uint32_t more =
		0; /* digests: mask of implementations; else: longest AEAD message to decrypt */
	int ret = ce && cpu_masked() ? error_skip(err, -EOPNOTSUPP, "no-ce", CPU_MASKED) :
				       ta_session_open(digests ? &ta_digest_name : &ta_bench_name,
						       &s->tee, &more, err);

	if (!ret)
		ret = tee_shm_alloc(s->tee, digests ? ALG_DIGEST_MAX_BYTES : SMALL_BYTES,
				    digests ? TEEC_MEM_OUTPUT : TEEC_MEM_INPUT, &s->small, err);
	s->impl = (enum ta_digest_impl)self->code;
	s->aead_decrypt_max = more;
	if (ret || !digests || more & 1u << s->impl)
		return ret;
	return error_skip(err, -EOPNOTSUPP, "no-ta-impl",
			  "the installed digest TA was built without its implementation by %s",
			  impl_titles[s->impl]);
}

static int ta_buffer_alloc(struct session *s, size_t size, struct buffer *buffer, struct error *err)
{
	TEEC_SharedMemory *shm;
	int ret =
		tee_shm_alloc(s->tee, size ? size : 1, TEEC_MEM_INPUT | TEEC_MEM_OUTPUT, &shm, err);

	if (ret)
		return ret;
	buffer->data = shm->buffer;
	buffer->size = size;
	buffer->priv = shm;
	return 0;
}

static void ta_buffer_free(struct session *s, struct buffer *buffer)
{
	tee_shm_free(s->tee, buffer->priv);
}

/* Sets parameter i to a part of a buffer: shared memory or, if priv is NULL, ordinary memory. */
static void set_input(TEEC_Operation *op, unsigned i, const struct buffer *in, size_t offset,
		      size_t len)
{
	if (in->priv) {
		tee_set_memref(op, i, TEEC_MEMREF_PARTIAL_INPUT, in->priv, offset, len);
		return;
	}
	tee_set_type(op, i, TEEC_MEMREF_TEMP_INPUT);
	op->params[i].tmpref.buffer = in->data + offset;
	op->params[i].tmpref.size = len;
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

/* Reports that the TEE refused the algorithm. */
static int unsupported(const struct algorithm *alg, enum ta_digest_impl impl, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "no %s by %s on this board's TEE", alg->title, impl_titles[impl]);
}

static int no_digest(const struct algorithm *alg, enum ta_digest_impl impl, struct error *err)
{
	int ret = unsupported(alg, impl, err);

	if (impl != TA_DIGEST_IMPL_C)
		error_hint(err, NULL, "backend ta-c has what there is portable C for%s",
			   impl == TA_DIGEST_IMPL_CE ? ", tee what the TEE's own library has" : "");
	return ret;
}

static int ta_digest(struct session *s, const struct algorithm *alg, const struct buffer *in,
		     size_t len, uint8_t *out, uint32_t repeat, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, alg->id, (uint32_t)s->impl);
	set_input(&op, 1, in, 0, len);
	set_out(s, &op, 2);
	tee_set_value(&op, 3, repeat, 0);
	ret = tee_invoke(s->tee, TA_DIGEST_CMD_ONESHOT, &op, "hash a message in the digest TA",
			 err);
	if (ret)
		return ret == -EOPNOTSUPP ? no_digest(alg, s->impl, err) : ret;
	return take_out(s, &op.params[2], alg, out, err);
}

static int ta_digest_init(struct session *s, const struct algorithm *alg, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	s->alg = alg;
	tee_set_value(&op, 0, alg->id, (uint32_t)s->impl);
	ret = tee_invoke(s->tee, TA_DIGEST_CMD_INIT, &op, "begin a message in the digest TA", err);
	return ret == -EOPNOTSUPP ? no_digest(alg, s->impl, err) : ret;
}

static int ta_digest_update(struct session *s, const struct buffer *in, size_t offset, size_t len,
			    struct error *err)
{
	TEEC_Operation op = { 0 };

	set_input(&op, 0, in, offset, len);
	return tee_invoke(s->tee, TA_DIGEST_CMD_UPDATE, &op,
			  "hash a piece of a message in the digest TA", err);
}

static int ta_digest_final(struct session *s, const struct buffer *in, size_t offset, size_t len,
			   uint8_t *out, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	if (len)
		set_input(&op, 0, in, offset, len);
	set_out(s, &op, 1);
	ret = tee_invoke(s->tee, TA_DIGEST_CMD_FINAL, &op, "end a message in the digest TA", err);
	if (ret)
		return ret;
	return take_out(s, &op.params[1], s->alg, out, err);
}

static int ta_nop(struct session *s, uint32_t calls, struct error *err)
{
	TEEC_Operation op = { 0 };

	return tee_invoke_times(s->tee, TA_DIGEST_CMD_NOP, &op, calls,
				"make an empty call to the digest TA", err);
}

static void ta_stack(struct session *s, struct peak *peak)
{
	TEEC_Operation op = { .paramTypes = TEEC_VALUE_OUTPUT };
	struct error err = { 0 };
	int ret = tee_invoke(s->tee, TA_DIGEST_CMD_STACK, &op, "ask the digest TA for its stack",
			     &err);

	peak->bytes = ret ? -1 : (int64_t)op.params[0].value.a;
	peak->of = ret ? -1 : (int64_t)op.params[0].value.b;
	snprintf(peak->reason, sizeof(peak->reason), "%.150s", err.what);
}

static struct tee_session *ta_tee(struct session *s)
{
	return s->tee;
}

/* Copies a key or IV to offset `at` of the small shared buffer, and sets parameter i to it. */
static void give_small(struct session *s, TEEC_Operation *op, unsigned i, size_t at,
		       const uint8_t *data, size_t len)
{
	memcpy((uint8_t *)s->small->buffer + at, data, len);
	tee_set_memref(op, i, TEEC_MEMREF_PARTIAL_INPUT, s->small, at, len);
}

/*
 * Sets three parameters: the message, the room for its result, the repetitions. Inline, because it
 * runs in the measured time, and most arguments are constants to the compiler.
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
	const char *doing; /* for error messages */
} keyed_steps[] = {
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
		give_small(s, op, 0, AT_KEY, job->key, alg->key_bytes);
		break;
	case KEYED_SET_IV:
		give_small(s, op, 0, AT_IV, job->iv, alg->iv_bytes);
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
	return tee_invoke(s->tee, keyed_steps[step].command, &s->step, keyed_steps[step].doing,
			  err);
}

static int set_mac_key(struct session *s, const struct keyed_job *job, struct error *err)
{
	TEEC_Operation op = { 0 };

	tee_set_value(&op, 0, job->alg->id, 0);
	give_small(s, &op, 1, AT_KEY, job->key, job->alg->key_bytes);
	return tee_invoke(s->tee, TA_BENCH_CMD_MAC_SET_KEY, &op, keyed_steps[KEYED_SET_KEY].doing,
			  err);
}

static int tee_set_up(struct session *s, const struct keyed_job *job, struct error *err)
{
	int ret = 0;

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
		give_small(s, &op, 0, AT_IV, job->iv, job->alg->iv_bytes);
		set_message(&op, 1, job, want, repeat);
	}
	ret = tee_invoke(s->tee, is_mac ? TA_BENCH_CMD_MAC : TA_BENCH_CMD_CIPHER_MESSAGE, &op,
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
	return tee_invoke(s->tee, TA_BENCH_CMD_RANDOM, &op, "draw random bytes in the bench TA",
			  err);
}

static const struct {
	uint32_t command;
	const char *doing, *refuses; /* for error messages */
} asym_steps[ASYM_STEPS] = {
	[ASYM_ALLOCATE] = { TA_BENCH_CMD_ASYM_ALLOCATE,
			    "allocate an asymmetric operation in the bench TA", "allocate it" },
	[ASYM_IMPORT] = { TA_BENCH_CMD_ASYM_IMPORT, "import an asymmetric key into the bench TA",
			  "import its key" },
	[ASYM_PREPARE] = { TA_BENCH_CMD_ASYM_PREPARE, "give a key to an operation in the bench TA",
			   "use its key" },
	[ASYM_OPERATE] = { TA_BENCH_CMD_ASYM_OPERATE, "use an asymmetric key in the bench TA",
			   "use its key" },
};

static int asym_step(struct session *s, struct asym_job *job, enum asym_step step,
		     struct error *err)
{
	uint32_t command = asym_steps[step].command;
	bool verify = step == ASYM_OPERATE && job->use == ASYM_VERIFY;
	TEEC_Operation op = { 0 };
	int ret;

	if (step == ASYM_ALLOCATE)
		tee_set_value(&op, 0, job->alg->id, job->use);
	else if (step == ASYM_IMPORT)
		tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_INPUT, job->in->priv, ASYM_KEY_AT,
			       job->key_len);
	if (step == ASYM_OPERATE) {
		tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_INPUT, job->in->priv, 0, job->in_len);
		tee_set_memref(&op, 1,
			       verify ? TEEC_MEMREF_PARTIAL_INPUT : TEEC_MEMREF_PARTIAL_OUTPUT,
			       job->out->priv, 0, verify ? job->out_len : ASYM_VALUE_MAX_BYTES);
	}
	if (verify)
		command = TA_BENCH_CMD_ASYM_VERIFY;
	ret = tee_invoke(s->tee, command, &op, asym_steps[step].doing, err);
	if (!ret && step == ASYM_OPERATE && !verify)
		job->out_len = op.params[1].memref.size;
	if (ret != -EOPNOTSUPP)
		return ret;
	return error_skip(err, ret, "unsupported-algorithm",
			  "no %s on this board's TEE: it refuses to %s", job->alg->title,
			  asym_steps[step].refuses);
}

static int asym_generate(struct session *s, const struct asym_job *job, struct error *err)
{
	TEEC_Operation op = { 0 };

	return tee_invoke(s->tee, TA_BENCH_CMD_ASYM_GENERATE, &op,
			  "generate a key pair in the bench TA", err);
}

static int asym_public_key(struct session *s, const struct asym_job *job, uint8_t *out,
			   struct error *err)
{
	size_t len = asym_public_bytes(job->alg);
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_OUTPUT, job->out->priv, 0, len);
	ret = tee_invoke(s->tee, TA_BENCH_CMD_ASYM_PUBLIC, &op, "ask the bench TA for a public key",
			 err);
	if (!ret)
		memcpy(out, job->out->data, len);
	return ret;
}

static int asym_says(struct session *s, const struct asym_algorithm *alg, bool *says,
		     struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, alg->id, 0);
	tee_set_type(&op, 1, TEEC_VALUE_OUTPUT);
	ret = tee_invoke(s->tee, TA_BENCH_CMD_ASYM_SAYS, &op, "ask the bench TA for an algorithm",
			 err);
	*says = !ret && op.params[1].value.a;
	return ret;
}

static int asym_again(struct session *s, struct error *err)
{
	return tee_session_again(s->tee, &ta_bench_name.uuid, "the bench TA", err);
}

#define DIGESTS_OF_TA                                                                      \
	.crosses = true, .probe = tee_probe, .session_bytes = sizeof(struct session),      \
	.open = ta_open, .close = ta_close, .buffer_alloc = ta_buffer_alloc,               \
	.buffer_free = ta_buffer_free, .digest = ta_digest, .digest_init = ta_digest_init, \
	.digest_update = ta_digest_update, .digest_final = ta_digest_final, .nop = ta_nop, \
	.stack = ta_stack, .tee = ta_tee

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
	.asym_step = asym_step,
	.generate = asym_generate,
	.public_key = asym_public_key,
	.asym_says = asym_says,
	.asym_again = asym_again,
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
