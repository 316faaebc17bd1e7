/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cipher/ALGORITHM/BACKEND/enc|dec/BYTES: a whole message, its key set before:
 * the IV, the bytes, and an AEAD's tag. In the TEE one call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keyed_case.h"
#include "listing.h"
#include "workload.h"

enum { BYTES_MAX = 1 << 28 };

/* "enc/4096" */
static int split(const char *parameters, bool *decrypt, uint64_t *bytes,
		 struct error *err)
{
	*decrypt = !strncmp(parameters, "dec/", 4);
	if (!*decrypt && strncmp(parameters, "enc/", 4))
		return error_set(err, -EINVAL,
				 "\"%s\" is not enc/BYTES or dec/BYTES",
				 parameters);
	return case_number(parameters + 4, "the number of bytes", BYTES_MAX,
			   bytes, err);
}

static int cipher_parse(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	uint64_t bytes;
	bool decrypt;
	int ret;

	ret = case_need_cipher(c, err);
	if (!ret)
		ret = case_need_backend(c, err);
	if (!ret)
		ret = split(c->parameters, &decrypt, &bytes, err);
	if (ret)
		return ret;
	if (!bytes || bytes % c->algorithm->block_bytes)
		return error_set(err, -EINVAL,
				 "a message of %s has a multiple of %u bytes, "
				 "not %llu",
				 c->algorithm->title, c->algorithm->block_bytes,
				 (unsigned long long)bytes);
	c->bytes = (int64_t)bytes;
	ret = case_need_work(c, err);
	if (ret)
		return ret;
	return keyed_case_reserve(pool, c->backend_name, bytes, err);
}

static int cipher_prepare(struct bench_case *c, struct pool *pool,
			  struct error *err)
{
	struct keyed_case *k;
	uint64_t bytes;
	bool decrypt;
	int ret = split(c->parameters, &decrypt, &bytes, err);

	if (ret)
		return ret;
	ret = keyed_case_open(&k, pool, c->backend_name, c->algorithm, decrypt,
			      (size_t)bytes, err);
	c->state = k;
	return ret;
}

static int cipher_ready(void *state, uint32_t loops, uint32_t repeat,
			struct error *err)
{
	(void)loops;
	(void)repeat;
	return keyed_case_claim(state, err);
}

static int cipher_run(void *state, uint32_t loops, uint32_t repeat,
		      struct error *err)
{
	struct keyed_case *k = state;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = k->share->backend->message(k->share->k, &k->job, repeat,
						 err);
	return ret;
}

static int cipher_verify(void *state, struct error *err)
{
	return keyed_case_verify(state, err);
}

static int cipher_check(void *state, struct error *err)
{
	return keyed_case_check(state, err);
}

static struct tee_session *cipher_ta(const void *state)
{
	return keyed_case_ta(state);
}

static void cipher_facts(const void *state, struct json *json)
{
	keyed_case_facts(state, json);
}

static void cipher_teardown(void *state)
{
	keyed_case_free(state);
}

static bool is_cipher(const struct algorithm *alg)
{
	return alg->class == ALG_CIPHER || alg->class == ALG_AEAD;
}

static void cipher_list(struct listing *listing, struct pool *pool)
{
	(void)pool;
	listing_add_keyed(listing, is_cipher);
}

const struct workload workload_cipher = {
	.name = "cipher",
	.summary = "a message encrypted or decrypted",
	.parameters = "enc|dec/BYTES",
	.repeats = true,
	.parse = cipher_parse,
	.prepare = cipher_prepare,
	.ready = cipher_ready,
	.run = cipher_run,
	.verify = cipher_verify,
	.check = cipher_check,
	.ta = cipher_ta,
	.facts = cipher_facts,
	.teardown = cipher_teardown,
	.list = cipher_list,
};
