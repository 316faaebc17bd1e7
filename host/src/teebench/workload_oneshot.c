/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oneshot/ALGORITHM/BACKEND/BYTES: the digest or the HMAC of a whole message,
 * one call. An HMAC's key is set before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keyed_case.h"
#include "known_answer.h"
#include "listing.h"
#include "pool.h"
#include "workload.h"

enum { BYTES_MAX = 1 << 30 };

struct oneshot {
	struct keyed_case *k; /* an HMAC's; the rest is then unused */
	const struct backend *backend;
	const struct algorithm *alg;
	struct session *session;
	const struct buffer *buffer;
	size_t bytes;
	uint8_t out[ALG_DIGEST_MAX_BYTES];
	uint8_t want[ALG_DIGEST_MAX_BYTES];
	char what[64];
};

static int oneshot_parse(struct bench_case *c, struct pool *pool,
			 struct error *err)
{
	uint64_t bytes;
	int ret;

	c->algorithm = algorithm_by_name(c->algorithm_name);
	if (!c->algorithm || (c->algorithm->class != ALG_DIGEST &&
			      c->algorithm->class != ALG_MAC))
		return error_set(err, -EINVAL, "\"%s\" is not a digest or HMAC",
				 c->algorithm_name);
	ret = case_need_backend(c, err);
	if (!ret)
		ret = case_number(c->parameters, "the number of bytes",
				  BYTES_MAX, &bytes, err);
	if (ret)
		return ret;
	c->bytes = (int64_t)bytes;
	ret = case_need_work(c, err);
	if (ret)
		return ret;
	if (c->algorithm->class == ALG_MAC)
		return keyed_case_reserve(pool, c->backend_name, bytes, err);
	return pool_reserve(pool, c->backend,
			    bytes > KNOWN_ANSWER_BYTES ? bytes :
							 KNOWN_ANSWER_BYTES,
			    err);
}

static int prepare_mac(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	struct oneshot *o = calloc(1, sizeof(*o));

	if (!o)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = o;
	return keyed_case_open(&o->k, pool, c->backend_name, c->algorithm,
			       false, (size_t)c->bytes, err);
}

static int oneshot_prepare(struct bench_case *c, struct pool *pool,
			   struct error *err)
{
	struct session *session;
	struct oneshot *o;
	int ret;

	if (c->algorithm->class == ALG_MAC)
		return prepare_mac(c, pool, err);
	ret = pool_session(pool, c->backend, &session, err);
	if (!ret)
		ret = c->backend->supports(session, c->algorithm, err);
	if (ret)
		return ret;
	o = calloc(1, sizeof(*o));
	if (!o)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = o;
	o->backend = c->backend;
	o->alg = c->algorithm;
	o->session = session;
	o->bytes = (size_t)c->bytes;
	snprintf(o->what, sizeof(o->what), "%zu bytes by backend %s", o->bytes,
		 o->backend->name);
	return pool_buffer(pool, c->backend,
			   o->bytes > KNOWN_ANSWER_BYTES ? o->bytes :
							   KNOWN_ANSWER_BYTES,
			   &o->buffer, err);
}

static int oneshot_ready(void *state, uint32_t loops, uint32_t repeat,
			 struct error *err)
{
	struct oneshot *o = state;

	(void)loops;
	(void)repeat;
	return o->k ? keyed_case_claim(o->k, err) : 0;
}

static int oneshot_run(void *state, uint32_t loops, uint32_t repeat,
		       struct error *err)
{
	struct oneshot *o = state;
	int ret = 0;

	if (o->k) {
		for (uint32_t i = 0; !ret && i < loops; i++)
			ret = o->k->share->backend->message(o->k->share->k,
							    &o->k->job, repeat,
							    err);
		return ret;
	}
	/* The backend's own loop: a smaller share of the time is ours. */
	if (!o->backend->crosses && loops <= UINT32_MAX / repeat) {
		repeat *= loops;
		loops = 1;
	}
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = o->backend->digest(o->session, o->alg, o->buffer, 0,
					 o->bytes, o->out, repeat, err);
	return ret;
}

static int oneshot_check(void *state, struct error *err)
{
	struct oneshot *o = state;
	int ret;

	if (o->k)
		return keyed_case_check(o->k, err);
	ret = digest_differs(o->alg, o->out, o->want, o->what, err);

	/* A run that writes no digest must not pass by the one before. */
	memset(o->out, 0, sizeof(o->out));
	return ret;
}

static int oneshot_verify(void *state, struct error *err)
{
	struct oneshot *o = state;
	int ret;

	if (o->k)
		return keyed_case_verify(o->k, err);
	ret = known_answer_by_c(o->alg, o->buffer->data, o->bytes, o->want,
				err);
	if (!ret)
		ret = oneshot_check(o, err);
	if (!ret)
		ret = known_answer_check(o->backend, o->session, o->alg,
					 o->buffer, err);
	return ret;
}

static struct tee_session *oneshot_ta(const void *state)
{
	const struct oneshot *o = state;

	if (o->k)
		return keyed_case_ta(o->k);
	return o->backend->tee ? o->backend->tee(o->session) : NULL;
}

static void oneshot_facts(const void *state, struct json *json)
{
	const struct oneshot *o = state;

	if (o->k)
		keyed_case_facts(o->k, json);
}

static void oneshot_teardown(void *state)
{
	struct oneshot *o = state;

	if (o)
		keyed_case_free(o->k);
	free(o);
}

static bool is_mac(const struct algorithm *alg)
{
	return alg->class == ALG_MAC;
}

static void oneshot_list(struct listing *listing, struct pool *pool)
{
	listing_add_digests(listing, pool);
	listing_add_keyed(listing, is_mac);
}

const struct workload workload_oneshot = {
	.name = "oneshot",
	.summary = "digest or HMAC of a whole message in one call",
	.parameters = "BYTES",
	.repeats = true,
	.parse = oneshot_parse,
	.prepare = oneshot_prepare,
	.ready = oneshot_ready,
	.run = oneshot_run,
	.verify = oneshot_verify,
	.check = oneshot_check,
	.ta = oneshot_ta,
	.facts = oneshot_facts,
	.teardown = oneshot_teardown,
	.list = oneshot_list,
};
