/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "ta_session.h"
#include "tee_asym.h"

static const struct {
	uint32_t command;
	const char *doing, *refuses; /* for messages */
} steps[ASYM_STEPS] = {
	[ASYM_ALLOCATE] = { TA_BENCH_CMD_ASYM_ALLOCATE,
			    "allocate an asymmetric operation in the bench TA", "allocate it" },
	[ASYM_IMPORT] = { TA_BENCH_CMD_ASYM_IMPORT, "import an asymmetric key into the bench TA",
			  "import its key" },
	[ASYM_PREPARE] = { TA_BENCH_CMD_ASYM_PREPARE, "give a key to an operation in the bench TA",
			   "use its key" },
	[ASYM_OPERATE] = { TA_BENCH_CMD_ASYM_OPERATE, "use an asymmetric key in the bench TA",
			   "use its key" },
};

static struct tee_session *tee_of(struct session *s)
{
	return ((struct ta_session *)s)->tee;
}

int asym_ta_step(struct session *s, struct asym_job *job, enum asym_step step, struct error *err)
{
	uint32_t command = steps[step].command;
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
	ret = tee_invoke(tee_of(s), command, &op, steps[step].doing, err);
	if (!ret && step == ASYM_OPERATE && !verify)
		job->out_len = op.params[1].memref.size;
	if (ret != -EOPNOTSUPP)
		return ret;
	return error_skip(err, ret, "unsupported-algorithm",
			  "no %s on this board's TEE: it refuses to %s", job->alg->title,
			  steps[step].refuses);
}

int asym_ta_generate(struct session *s, const struct asym_job *job, struct error *err)
{
	TEEC_Operation op = { 0 };

	(void)job;
	return tee_invoke(tee_of(s), TA_BENCH_CMD_ASYM_GENERATE, &op,
			  "generate a key pair in the bench TA", err);
}

int asym_ta_public_key(struct session *s, const struct asym_job *job, uint8_t *out,
		       struct error *err)
{
	size_t len = asym_public_bytes(job->alg);
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_OUTPUT, job->out->priv, 0, len);
	ret = tee_invoke(tee_of(s), TA_BENCH_CMD_ASYM_PUBLIC, &op,
			 "ask the bench TA for a public key", err);
	if (!ret)
		memcpy(out, job->out->data, len);
	return ret;
}

int asym_ta_says(struct session *s, const struct asym_algorithm *alg, bool *says, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, alg->id, 0);
	tee_set_type(&op, 1, TEEC_VALUE_OUTPUT);
	ret = tee_invoke(tee_of(s), TA_BENCH_CMD_ASYM_SAYS, &op,
			 "ask the bench TA for an algorithm", err);
	*says = !ret && op.params[1].value.a;
	return ret;
}

int asym_ta_again(struct session *s, struct error *err)
{
	return tee_session_again(tee_of(s), &ta_bench_name.uuid, "the bench TA", err);
}
