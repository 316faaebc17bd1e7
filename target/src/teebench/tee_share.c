/* SPDX-License-Identifier: BSD-2-Clause */
#include "tee_share.h"

#ifdef HAVE_TEEC

#include <errno.h>

#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

const struct ta_name ta_digest_name = {
	.uuid = TA_DIGEST_UUID,
	.uuid_text = TA_DIGEST_UUID_TEXT,
	.name = "the digest TA",
};

static int greet_bench(struct tee_session *tee, struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT, TEEC_NONE,
					       TEEC_NONE, TEEC_NONE),
	};
	int ret = tee_invoke(tee, TA_BENCH_CMD_INFO, &op,
			     "ask the bench TA for its version", err);

	if (ret || op.params[0].value.a == TA_BENCH_ABI)
		return ret;
	error_skip(err, -EPROTO, "ta-version",
		   "the installed bench TA speaks version %u, this program "
		   "version %u",
		   op.params[0].value.a, TA_BENCH_ABI);
	error_hint(err, "install program and TA from one build");
	return -EPROTO;
}

const struct ta_name ta_bench_name = {
	.uuid = TA_BENCH_UUID,
	.uuid_text = TA_BENCH_UUID_TEXT,
	.name = "the bench TA",
	.greet = greet_bench,
};

static int open_share(const void *kind, size_t size, void **value,
		      struct error *err)
{
	const struct ta_name *ta = kind;
	struct tee_session *tee;
	int ret =
		tee_session_open(&tee, &ta->uuid, ta->uuid_text, ta->name, err);

	(void)size;
	*value = NULL;
	if (!ret && ta->greet)
		ret = ta->greet(tee, err);
	if (ret) {
		if (tee)
			tee_session_close(tee);
		return ret;
	}
	*value = tee;
	return 0;
}

static void close_share(void *value)
{
	tee_session_close(value);
}

int tee_share(struct pool *pool, const struct ta_name *ta,
	      struct tee_session **tee, struct error *err)
{
	void *value;
	int ret = pool_share(pool, ta, open_share, close_share, &value, err);

	*tee = value;
	return ret;
}

int tee_share_reserve(struct pool *pool, const struct ta_name *ta,
		      struct error *err)
{
	return pool_share_reserve(pool, ta, 0, err);
}

#else

int tee_absent_prepare(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	(void)c;
	(void)pool;
	return tee_probe(err);
}

/* Never called: nothing was prepared. */
int tee_absent_run(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err)
{
	(void)state;
	(void)loops;
	(void)repeat;
	return tee_probe(err);
}

int tee_absent_verify(void *state, struct error *err)
{
	(void)state;
	return tee_probe(err);
}

void tee_absent_teardown(void *state)
{
	(void)state;
}

#endif
