/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keyed_case.h"
#include "known_answer.h"
#include "prng.h"

static size_t room(size_t bytes)
{
	return bytes > KNOWN_ANSWER_BYTES ? bytes : KNOWN_ANSWER_BYTES;
}

int keyed_case_reserve(const struct bench_case *c, size_t bytes, struct error *err)
{
	const struct backend *backend = c->backend;
	size_t next = 0;
	int ret = 0;

	do
		ret = pool_reserve(c->pool, backend, DESK_KEYED, room(bytes), err);
	while (!ret && (backend = known_answer_referee(c->backend, DESK_KEYED, &next)));
	return ret;
}

int keyed_case_parse(struct bench_case *c, struct error *err)
{
	return keyed_case_reserve(c, (size_t)c->bytes, err);
}

static int take_desk(struct pool *pool, const struct backend *backend, size_t len,
		     struct desk **desk, struct error *err)
{
	return pool_desk(pool, backend, DESK_KEYED, room(len), desk, err);
}

static int set_up(struct desk *desk, struct keyed_job *job, struct error *err)
{
	desk->owner = NULL;
	job->in = &desk->in;
	job->out = &desk->out;
	return desk->backend->set_up(desk->session, job, err);
}

/* Computes a job that is set up on the desk; the result stays there. */
static int compute(struct desk *desk, const struct keyed_job *job, const uint8_t *in,
		   struct error *err)
{
	memcpy(desk->in.data, in, job->len);
	return desk->backend->message(desk->session, job, 1, err);
}

/* Returns the desk of another backend, set up for *job; NULL if no other can do it. */
static struct desk *find_other(const struct keyed_case *k, struct keyed_job *job)
{
	const struct backend *referee;
	struct desk *desk;
	size_t next = 0;

	while ((referee = known_answer_referee(k->c->backend, DESK_KEYED, &next)))
		if (!take_desk(k->c->pool, referee, job->len, &desk, NULL) &&
		    (!referee->len_max || job->len <= referee->len_max(desk->session, job)) &&
		    !set_up(desk, job, NULL))
			return desk;
	return NULL;
}

int keyed_case_referee(const struct keyed_case *k, struct keyed_job *job, struct desk **desk,
		       struct error *err)
{
	*desk = find_other(k, job);
	if (*desk) {
		k->c->checked_by = (*desk)->backend->name;
		return 0;
	}
	/* Then the backend's own, and vectors must do. */
	*desk = k->c->desk;
	return set_up(*desk, job, err);
}

/* Computes what another backend makes of `len` bytes, or this one if there is no other. */
static int compute_otherwise(struct keyed_case *k, const uint8_t *in, size_t len, uint8_t *out,
			     size_t out_len, struct error *err)
{
	struct keyed_job job = k->job;
	struct desk *desk;
	int ret;

	job.decrypt = false;
	job.len = len;
	ret = keyed_case_referee(k, &job, &desk, err);
	if (!ret)
		ret = compute(desk, &job, in, err);
	if (!ret)
		memcpy(out, desk->out.data, out_len);
	return ret;
}

static int fill(struct keyed_case *k, size_t bytes, struct error *err)
{
	uint8_t *message = malloc(bytes ? bytes : 1);
	int ret = 0;

	k->in = malloc(k->job.len ? k->job.len : 1);
	if (!message || !k->in) {
		free(message);
		return error_memory(err);
	}
	pool_message(message, bytes);
	if (k->job.decrypt) {
		ret = compute_otherwise(k, message, bytes, k->in, k->job.len, err);
		k->want = message;
		return ret;
	}
	memcpy(k->in, message, bytes);
	free(message);
	return 0;
}

static int check_length(const struct keyed_case *k, struct error *err)
{
	size_t max = k->c->backend->len_max ? k->c->backend->len_max(k->c->desk->session, &k->job) :
					      SIZE_MAX;

	if (k->job.len <= max)
		return 0;
	return error_skip(err, -EMSGSIZE, "too-long",
			  "backend %s %s %s of at most %zu bytes in one message",
			  k->c->backend->name, k->job.decrypt ? "decrypts" : "takes",
			  k->job.alg->title, max);
}

int keyed_case_open(struct bench_case *c, bool decrypt, size_t bytes, struct error *err)
{
	const struct algorithm *alg = c->algorithm;
	struct keyed_case *k = c->state;
	struct prng prng;
	int ret;

	if (!c->backend->message)
		return backend_lacks(c->backend, alg, err);
	k->c = c;
	ret = take_desk(c->pool, c->backend, bytes, &c->desk, err);
	if (ret)
		return ret;
	prng.state = 0x6b657973; /* "keys" */
	prng_fill(&prng, k->key, sizeof(k->key));
	prng_fill(&prng, k->iv, sizeof(k->iv));
	k->job = (struct keyed_job){
		.alg = alg,
		.decrypt = decrypt,
		.key = k->key,
		.iv = k->iv,
		.len = bytes + (decrypt && alg->class == ALG_AEAD ? alg->out_bytes : 0),
	};
	k->want_len = keyed_result_len(&k->job);
	ret = check_length(k, err);
	if (!ret)
		ret = set_up(c->desk, &k->job, err);
	return ret ? ret : fill(k, bytes, err);
}

int keyed_case_prepare(struct bench_case *c, struct error *err)
{
	bool decrypt = !strncmp(c->parameters, "dec/", 4);

	return keyed_case_open(c, decrypt, (size_t)c->bytes, err);
}

void keyed_case_teardown(void *state)
{
	struct keyed_case *k = state;

	/* Its address may be another case's soon. */
	if (k->c && k->c->desk && k->c->desk->owner == k)
		k->c->desk->owner = NULL;
	free(k->in);
	free(k->want);
}

int keyed_case_ready(void *state, uint32_t loops, struct error *err)
{
	struct keyed_case *k = state;
	int ret;

	(void)loops;
	if (k->c->desk->owner == k)
		return 0;
	ret = set_up(k->c->desk, &k->job, err);
	if (ret)
		return ret;
	memcpy(k->c->desk->in.data, k->in, k->job.len);
	k->c->desk->owner = k;
	return 0;
}

static int run(void *state, uint32_t loops, uint32_t repeat, struct error *err)
{
	struct keyed_case *k = state;
	const struct desk *desk = k->c->desk;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = desk->backend->message(desk->session, &k->job, repeat, err);
	return ret;
}

int keyed_case_check(void *state, struct error *err)
{
	struct keyed_case *k = state;
	uint8_t *out = k->c->desk->out.data;
	int differs = memcmp(out, k->want, k->want_len);

	memset(out, 0, k->want_len);
	return differs ? known_answer_wrong(err, "wrong result of %s of %zu bytes by backend %s",
					    k->job.alg->title, k->job.len, k->c->backend->name) :
			 0;
}

static int find_want(struct keyed_case *k, struct error *err)
{
	k->want = malloc(k->want_len ? k->want_len : 1);
	return k->want ? compute_otherwise(k, k->in, k->job.len, k->want, k->want_len, err) :
			 error_memory(err);
}

int keyed_case_verify(void *state, struct error *err)
{
	struct keyed_case *k = state;
	int ret = k->want ? 0 : find_want(k, err);

	if (!ret)
		ret = keyed_case_check(k, err);
	return ret ? ret : known_answer_check(k->c->desk, k->job.alg, k->job.decrypt, err);
}

const struct workload keyed_case_workload = {
	.state_size = sizeof(struct keyed_case),
	.prepare = keyed_case_prepare,
	.ready = keyed_case_ready,
	.run = run,
	.verify = keyed_case_verify,
	.check = keyed_case_check,
	.ta_clock = true,
	.refereed = true,
	.teardown = keyed_case_teardown,
};
