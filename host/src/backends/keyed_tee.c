/* SPDX-License-Identifier: BSD-2-Clause */
/* `tee` for ciphers, AEADs and HMACs: the bench TA (ta/bench). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "keyed.h"
#include "ta_session.h"

#ifdef HAVE_TEEC

/* Where key and IV are in the small shared buffer. */
enum { AT_KEY = 0, AT_IV = ALG_KEY_MAX_BYTES, SMALL_BYTES = 256 };

struct tee {
	struct keyed head;
	struct tee_session *session;
	TEEC_SharedMemory *in, *out, *small;
	size_t aead_decrypt_max;
	TEEC_Operation op; /* as arranged for a step */
};

static void tee_close(struct keyed *k)
{
	struct tee *s = (struct tee *)k;

	if (!s)
		return;
	if (s->session) {
		if (s->small)
			memset(s->small->buffer, 0, SMALL_BYTES);
		tee_shm_free(s->session, s->in);
		tee_shm_free(s->session, s->out);
		tee_shm_free(s->session, s->small);
	}
	tee_session_close(s->session);
	free(s);
}

static int tee_open(struct keyed **k, size_t size, struct error *err)
{
	struct tee *s = calloc(1, sizeof(*s));
	uint32_t most = 0;
	int ret;

	*k = NULL;
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->head.size = size + KEYED_ROOM_BYTES;
	ret = ta_session_open_greeted(&ta_bench_name, &s->session, &most, err);
	s->aead_decrypt_max = most;
	if (!ret)
		ret = tee_shm_alloc(s->session, s->head.size, TEEC_MEM_INPUT,
				    &s->in, err);
	if (!ret)
		ret = tee_shm_alloc(s->session, s->head.size, TEEC_MEM_OUTPUT,
				    &s->out, err);
	if (!ret)
		ret = tee_shm_alloc(s->session, SMALL_BYTES, TEEC_MEM_INPUT,
				    &s->small, err);
	if (ret) {
		tee_close(&s->head);
		return ret;
	}
	s->head.in = s->in->buffer;
	s->head.out = s->out->buffer;
	memset(s->head.out, 0, s->head.size);
	*k = &s->head;
	return 0;
}

static void set_part(TEEC_Parameter *param, TEEC_SharedMemory *shm,
		     size_t offset, size_t len)
{
	param->memref.parent = shm;
	param->memref.offset = offset;
	param->memref.size = len;
}

/* Puts the key where the TA takes it from. */
static void put_key(struct tee *s, const struct keyed_job *job)
{
	memcpy((uint8_t *)s->small->buffer + AT_KEY, job->key,
	       job->alg->key_bytes);
}

static void put_iv(struct tee *s, const struct keyed_job *job)
{
	memcpy((uint8_t *)s->small->buffer + AT_IV, job->iv,
	       job->alg->iv_bytes);
}

static int unsupported(const struct keyed_job *job, struct error *err)
{
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "no %s by the TEE Internal Core API on this board's "
			  "TEE",
			  job->alg->title);
}

static const char *doing(enum keyed_step step)
{
	switch (step) {
	case KEYED_PREPARE:
		return "prepare a cipher in the bench TA";
	case KEYED_SET_KEY:
		return "set a key in the bench TA";
	case KEYED_SET_IV:
		return "set an IV in the bench TA";
	case KEYED_CIPHER_BUFFER:
		break;
	}
	return "go on with a message in the bench TA";
}

static int tee_arrange(struct keyed *k, const struct keyed_job *job,
		       enum keyed_step step, struct error *err)
{
	struct tee *s = (struct tee *)k;
	TEEC_Operation *op = &s->op;

	(void)err;
	memset(op, 0, sizeof(*op));
	switch (step) {
	case KEYED_PREPARE:
		op->params[0].value.a = job->alg->id;
		op->params[0].value.b = job->decrypt ? TA_BENCH_DECRYPT :
						       TA_BENCH_ENCRYPT;
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, TEEC_NONE,
						  TEEC_NONE, TEEC_NONE);
		break;
	case KEYED_SET_KEY:
		put_key(s, job);
		set_part(&op->params[0], s->small, AT_KEY, job->alg->key_bytes);
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						  TEEC_NONE, TEEC_NONE,
						  TEEC_NONE);
		break;
	case KEYED_SET_IV:
		put_iv(s, job);
		set_part(&op->params[0], s->small, AT_IV, job->alg->iv_bytes);
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						  TEEC_NONE, TEEC_NONE,
						  TEEC_NONE);
		break;
	case KEYED_CIPHER_BUFFER:
		set_part(&op->params[0], s->in, 0, job->len);
		set_part(&op->params[1], s->out, 0, job->len);
		op->params[2].value.a = 1;
		op->paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						  TEEC_MEMREF_PARTIAL_OUTPUT,
						  TEEC_VALUE_INPUT, TEEC_NONE);
		break;
	}
	return 0;
}

static int tee_step(struct keyed *k, const struct keyed_job *job,
		    enum keyed_step step, struct error *err)
{
	static const uint32_t commands[] = {
		[KEYED_PREPARE] = TA_BENCH_CMD_CIPHER_PREPARE,
		[KEYED_SET_KEY] = TA_BENCH_CMD_CIPHER_SET_KEY,
		[KEYED_SET_IV] = TA_BENCH_CMD_CIPHER_SET_IV,
		[KEYED_CIPHER_BUFFER] = TA_BENCH_CMD_CIPHER_UPDATE,
	};
	struct tee *s = (struct tee *)k;

	(void)job;
	return tee_invoke(s->session, commands[step], &s->op, doing(step), err);
}

static int set_mac_key(struct tee *s, const struct keyed_job *job,
		       struct error *err)
{
	TEEC_Operation op = { 0 };

	put_key(s, job);
	op.params[0].value.a = job->alg->id;
	set_part(&op.params[1], s->small, AT_KEY, job->alg->key_bytes);
	op.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT,
					 TEEC_MEMREF_PARTIAL_INPUT, TEEC_NONE,
					 TEEC_NONE);
	return tee_invoke(s->session, TA_BENCH_CMD_MAC_SET_KEY, &op,
			  doing(KEYED_SET_KEY), err);
}

static int tee_set_up(struct keyed *k, const struct keyed_job *job,
		      struct error *err)
{
	static const enum keyed_step steps[] = { KEYED_PREPARE, KEYED_SET_KEY };
	struct tee *s = (struct tee *)k;
	int ret = 0;

	switch ((enum alg_class)job->alg->class) {
	case ALG_MAC:
		ret = set_mac_key(s, job, err);
		break;
	case ALG_CIPHER:
	case ALG_AEAD:
		for (size_t i = 0; !ret && i < 2; i++) {
			tee_arrange(k, job, steps[i], err);
			ret = tee_step(k, job, steps[i], err);
		}
		break;
	case ALG_DIGEST:
	default:
		return unsupported(job, err);
	}
	return ret == -EOPNOTSUPP ? unsupported(job, err) : ret;
}

static int tee_message(struct keyed *k, const struct keyed_job *job,
		       uint32_t repeat, struct error *err)
{
	struct tee *s = (struct tee *)k;
	TEEC_Operation op = { 0 };
	bool is_mac = job->alg->class == ALG_MAC;
	size_t want = keyed_result_len(job);
	TEEC_Parameter *out;
	int ret;

	if (is_mac) {
		set_part(&op.params[0], s->in, 0, job->len);
		out = &op.params[1];
		op.params[2].value.a = repeat;
		op.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						 TEEC_MEMREF_PARTIAL_OUTPUT,
						 TEEC_VALUE_INPUT, TEEC_NONE);
	} else {
		put_iv(s, job);
		set_part(&op.params[0], s->small, AT_IV, job->alg->iv_bytes);
		set_part(&op.params[1], s->in, 0, job->len);
		out = &op.params[2];
		op.params[3].value.a = repeat;
		op.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_PARTIAL_INPUT,
						 TEEC_MEMREF_PARTIAL_INPUT,
						 TEEC_MEMREF_PARTIAL_OUTPUT,
						 TEEC_VALUE_INPUT);
	}
	set_part(out, s->out, 0, want);
	ret = tee_invoke(s->session,
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

static size_t tee_len_max(const struct keyed *k, const struct keyed_job *job)
{
	const struct tee *s = (const struct tee *)k;

	return job->alg->class == ALG_AEAD && job->decrypt ?
		       s->aead_decrypt_max + job->alg->out_bytes :
		       SIZE_MAX;
}

static struct tee_session *tee_behind(struct keyed *k)
{
	return ((struct tee *)k)->session;
}

#else /* HAVE_TEEC */

static int tee_open(struct keyed **k, size_t size, struct error *err)
{
	(void)size;
	*k = NULL;
	return tee_probe(err);
}

static void tee_close(struct keyed *k)
{
	(void)k;
}

#define tee_set_up  NULL
#define tee_message NULL
#define tee_len_max NULL
#define tee_arrange NULL
#define tee_step    NULL
#define tee_behind  NULL

#endif /* HAVE_TEEC */

extern const struct keyed_backend keyed_tee;

const struct keyed_backend keyed_tee = {
	.name = "tee",
	.open = tee_open,
	.close = tee_close,
	.set_up = tee_set_up,
	.message = tee_message,
	.len_max = tee_len_max,
	.arrange = tee_arrange,
	.step = tee_step,
	.tee = tee_behind,
};
