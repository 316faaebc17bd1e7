/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "tee_asym.h"

/* No -EOPNOTSUPP without the algorithm's name, and a word to skip by. */
static int has_not(int ret, const struct asym_job *job, const char *step,
		   struct error *err)
{
	if (ret != -EOPNOTSUPP)
		return ret;
	return error_skip(err, ret, "unsupported-algorithm",
			  "no %s on this board's TEE: it refuses to %s",
			  job->alg->title, step);
}

static void set_in(TEEC_Operation *op, const struct asym_job *job)
{
	tee_set_memref(op, 0, TEEC_MEMREF_PARTIAL_INPUT, job->in->priv, 0,
		       job->in_len);
}

static int allocate(struct tee_session *tee, const struct asym_job *job,
		    struct error *err)
{
	TEEC_Operation op = { 0 };

	tee_set_value(&op, 0, job->alg->id, job->use);
	return has_not(tee_invoke(tee, TA_BENCH_CMD_ASYM_ALLOCATE, &op,
				  "allocate an asymmetric operation in the "
				  "bench TA",
				  err),
		       job, "allocate it", err);
}

static int import(struct tee_session *tee, const struct asym_job *job,
		  struct error *err)
{
	TEEC_Operation op = { 0 };

	tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_INPUT, job->in->priv,
		       ASYM_KEY_AT, job->key_len);
	return has_not(tee_invoke(tee, TA_BENCH_CMD_ASYM_IMPORT, &op,
				  "import an asymmetric key into the bench TA",
				  err),
		       job, "import its key", err);
}

static int prepare(struct tee_session *tee, const struct asym_job *job,
		   struct error *err)
{
	TEEC_Operation op = { 0 };

	return has_not(tee_invoke(tee, TA_BENCH_CMD_ASYM_PREPARE, &op,
				  "give a key to an operation in the bench TA",
				  err),
		       job, "use its key", err);
}

static int operate(struct tee_session *tee, struct asym_job *job,
		   struct error *err)
{
	bool verify = job->use == ASYM_VERIFY;
	TEEC_Operation op = { 0 };
	int ret;

	set_in(&op, job);
	tee_set_memref(&op, 1,
		       verify ? TEEC_MEMREF_PARTIAL_INPUT :
				TEEC_MEMREF_PARTIAL_OUTPUT,
		       job->out->priv, 0,
		       verify ? job->out_len : ASYM_VALUE_MAX_BYTES);
	ret = tee_invoke(tee,
			 verify ? TA_BENCH_CMD_ASYM_VERIFY :
				  TA_BENCH_CMD_ASYM_OPERATE,
			 &op, "use an asymmetric key in the bench TA", err);
	if (!ret && !verify)
		job->out_len = op.params[1].memref.size;
	return has_not(ret, job, "use its key", err);
}

int asym_ta_step(struct tee_session *tee, struct asym_job *job,
		 enum asym_step step, struct error *err)
{
	switch (step) {
	case ASYM_ALLOCATE:
		return allocate(tee, job, err);
	case ASYM_IMPORT:
		return import(tee, job, err);
	case ASYM_PREPARE:
		return prepare(tee, job, err);
	case ASYM_OPERATE:
	case ASYM_STEPS:
		break;
	}
	return operate(tee, job, err);
}

int asym_ta_generate(struct tee_session *tee, struct error *err)
{
	TEEC_Operation op = { 0 };

	return tee_invoke(tee, TA_BENCH_CMD_ASYM_GENERATE, &op,
			  "generate a key pair in the bench TA", err);
}

int asym_ta_public_key(struct tee_session *tee, const struct asym_job *job,
		       uint8_t *out, struct error *err)
{
	size_t len = asym_public_bytes(job->alg);
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_OUTPUT, job->out->priv, 0,
		       len);
	ret = tee_invoke(tee, TA_BENCH_CMD_ASYM_PUBLIC, &op,
			 "ask the bench TA for a public key", err);
	if (!ret)
		memcpy(out, job->out->data, len);
	return ret;
}

int asym_ta_says(struct tee_session *tee, const struct asym_algorithm *alg,
		 bool *says, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, alg->id, 0);
	tee_set_type(&op, 1, TEEC_VALUE_OUTPUT);
	ret = tee_invoke(tee, TA_BENCH_CMD_ASYM_SAYS, &op,
			 "ask the bench TA for an algorithm", err);
	*says = !ret && op.params[1].value.a;
	return ret;
}
