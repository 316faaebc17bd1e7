/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cipher/ALGORITHM/BACKEND/enc|dec/BYTES: a whole message, its key set before:
 * the IV, the bytes, and an AEAD's tag. In the TEE one call.
 */
#include <errno.h>
#include <string.h>

#include "keyed_case.h"
#include "listing.h"
#include "workload.h"

enum { BYTES_MAX = 1 << 28 };

static bool decrypts(const struct bench_case *c)
{
	return !strncmp(c->parameters, "dec/", 4);
}

static int cipher_parse(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	int ret = case_need_algorithm(c, ALG_CIPHER, ALG_AEAD, "a cipher", err);

	if (!ret && !decrypts(c) && strncmp(c->parameters, "enc/", 4))
		ret = error_set(err, -EINVAL,
				"\"%s\" is not enc/BYTES or dec/BYTES",
				c->parameters);
	if (!ret)
		ret = case_bytes(c, c->parameters + 4, BYTES_MAX, err);
	if (!ret)
		ret = case_need_blocks(c, (uint64_t)c->bytes, err);
	return ret ? ret : keyed_case_reserve(c, pool, (uint64_t)c->bytes, err);
}

static int cipher_prepare(struct bench_case *c, struct pool *pool,
			  struct error *err)
{
	return keyed_case_open(c, pool, decrypts(c), (size_t)c->bytes, err);
}

static bool is_cipher(const struct algorithm *alg)
{
	return alg->class == ALG_CIPHER || alg->class == ALG_AEAD;
}

static void cipher_list(struct listing *listing, struct pool *pool)
{
	listing_add_algorithms(listing, pool, DESK_KEYED, is_cipher);
}

const struct workload workload_cipher = {
	.name = "cipher",
	.summary = "a message encrypted or decrypted",
	.parameters = "enc|dec/BYTES",
	.repeats = true,
	.state_size = sizeof(struct keyed_case),
	.parse = cipher_parse,
	.prepare = cipher_prepare,
	.ready = keyed_case_ready,
	.run = keyed_case_run,
	.verify = keyed_case_verify,
	.check = keyed_case_check,
	.ta = keyed_case_ta,
	.facts = keyed_case_facts,
	.teardown = keyed_case_teardown,
	.list = cipher_list,
};
