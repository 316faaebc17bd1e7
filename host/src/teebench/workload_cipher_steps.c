/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cipher-steps/ALGORITHM/BACKEND/enc|dec/BYTES/STEP/all|inv: one step of a
 * cipher, as a client takes them one by one: prepare, set-key, set-iv,
 * cipher-buffer (which goes on with the message). inv: the call alone; all:
 * with what leads to it, its parameters put where the backend takes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keyed_case.h"
#include "listing.h"
#include "workload.h"

enum { BYTES_MAX = 1 << 28 };

static const char *const names[] = {
	[KEYED_PREPARE] = "prepare",
	[KEYED_SET_KEY] = "set-key",
	[KEYED_SET_IV] = "set-iv",
	[KEYED_CIPHER_BUFFER] = "cipher-buffer",
};

struct what {
	bool decrypt, all;
	uint64_t bytes;
	enum keyed_step step;
};

struct steps {
	struct keyed_case *k;
	struct what what;
};

/* "enc/4096/set-key/inv" */
static int split(const char *parameters, struct what *what, struct error *err)
{
	char text[CASE_KEY_MAX], *save = NULL;
	const char *part[5] = { NULL };
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", parameters);
	for (char *p = strtok_r(text, "/", &save); p && n < 5;
	     p = strtok_r(NULL, "/", &save))
		part[n++] = p;
	if (n != 4)
		goto bad;
	what->decrypt = !strcmp(part[0], "dec");
	what->all = !strcmp(part[3], "all");
	if ((!what->decrypt && strcmp(part[0], "enc")) ||
	    (!what->all && strcmp(part[3], "inv")))
		goto bad;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], part[2]))
			continue;
		what->step = (enum keyed_step)i;
		return case_number(part[1], "the number of bytes", BYTES_MAX,
				   &what->bytes, err);
	}
bad:
	return error_set(err, -EINVAL,
			 "\"%s\" is not enc|dec/BYTES/STEP/all|inv (STEP: "
			 "prepare, set-key, set-iv, cipher-buffer)",
			 parameters);
}

static bool goes_on(const struct algorithm *alg)
{
	return alg->class == ALG_CIPHER && strcmp(alg->kernel, "xts(aes)");
}

static int steps_parse(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	struct what what;
	int ret;

	ret = case_need_cipher(c, err);
	if (!ret)
		ret = case_need_backend(c, err);
	if (!ret)
		ret = split(c->parameters, &what, err);
	if (ret)
		return ret;
	if (!goes_on(c->algorithm))
		return error_set(err, -EINVAL,
				 "cipher-steps is for modes that go on with a "
				 "message (ecb, cbc, ctr), not for %s",
				 c->algorithm->title);
	if (!what.bytes || what.bytes % c->algorithm->block_bytes)
		return error_set(err, -EINVAL,
				 "a message of %s has a multiple of %u bytes",
				 c->algorithm->title,
				 c->algorithm->block_bytes);
	c->bytes = (int64_t)what.bytes;
	return keyed_case_reserve(pool, c->backend_name, what.bytes, err);
}

/* A step that the backend has not at all is left out. */
static int take(struct steps *s, enum keyed_step step, struct error *err)
{
	const struct keyed_backend *backend = s->k->share->backend;
	struct keyed *k = s->k->share->k;
	struct error why = { 0 };
	int ret = backend->arrange(k, &s->k->job, step, &why);

	if (!ret)
		ret = backend->step(k, &s->k->job, step, &why);
	if (ret == -EOPNOTSUPP && why.skip && !strcmp(why.skip, "no-step"))
		return 0;
	if (ret && err)
		*err = why;
	return ret;
}

static int steps_prepare(struct bench_case *c, struct pool *pool,
			 struct error *err)
{
	struct steps *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = s;
	ret = split(c->parameters, &s->what, err);
	if (!ret)
		ret = keyed_case_open(&s->k, pool, c->backend_name,
				      c->algorithm, s->what.decrypt,
				      (size_t)s->what.bytes, err);
	if (!ret && !s->k->share->backend->step)
		ret = error_skip(err, -EOPNOTSUPP, "no-step",
				 "backend %s has no steps", c->backend_name);
	/* Does it have this one? */
	if (!ret)
		ret = s->k->share->backend->arrange(s->k->share->k, &s->k->job,
						    s->what.step, err);
	return ret;
}

/* All that comes before the step, and for `inv` what leads to its call. */
static int steps_ready(void *state, uint32_t loops, uint32_t repeat,
		       struct error *err)
{
	struct steps *s = state;
	struct keyed_share *share = s->k->share;
	bool mine = share->owner == s->k;
	int ret = keyed_case_claim(s->k, err);

	(void)loops;
	(void)repeat;
	if (!mine)
		for (int i = KEYED_PREPARE; !ret && i < (int)s->what.step; i++)
			ret = take(s, (enum keyed_step)i, err);
	if (!ret && s->what.step == KEYED_CIPHER_BUFFER)
		ret = take(s, KEYED_SET_IV, err);
	if (!ret)
		ret = share->backend->arrange(share->k, &s->k->job,
					      s->what.step, err);
	return ret;
}

static int steps_run(void *state, uint32_t loops, uint32_t repeat,
		     struct error *err)
{
	struct steps *s = state;
	const struct keyed_backend *backend = s->k->share->backend;
	struct keyed *k = s->k->share->k;
	int ret = 0;

	(void)repeat;
	if (!s->what.all) {
		for (uint32_t i = 0; !ret && i < loops; i++)
			ret = backend->step(k, &s->k->job, s->what.step, err);
		return ret;
	}
	for (uint32_t i = 0; !ret && i < loops; i++) {
		ret = backend->arrange(k, &s->k->job, s->what.step, err);
		if (!ret)
			ret = backend->step(k, &s->k->job, s->what.step, err);
	}
	return ret;
}

/* From where the step has led to the end of a message. */
static int finish(struct steps *s, struct error *err)
{
	int from = s->what.step == KEYED_CIPHER_BUFFER ? KEYED_SET_IV :
							 s->what.step + 1;
	int ret = 0;

	for (int i = from; !ret && i <= KEYED_CIPHER_BUFFER; i++)
		ret = take(s, (enum keyed_step)i, err);
	return ret;
}

static int steps_check(void *state, struct error *err)
{
	struct steps *s = state;
	int ret = finish(s, err);

	return ret ? ret : keyed_case_check(s->k, err);
}

static int steps_verify(void *state, struct error *err)
{
	struct steps *s = state;
	int ret = finish(s, err);

	return ret ? ret : keyed_case_verify(s->k, err);
}

static struct tee_session *steps_ta(const void *state)
{
	return keyed_case_ta(((const struct steps *)state)->k);
}

static void steps_facts(const void *state, struct json *json)
{
	keyed_case_facts(((const struct steps *)state)->k, json);
}

static void steps_teardown(void *state)
{
	struct steps *s = state;

	if (s)
		keyed_case_free(s->k);
	free(s);
}

static void steps_list(struct listing *listing, struct pool *pool)
{
	(void)pool;
	listing_add_keyed(listing, goes_on);
}

const struct workload workload_cipher_steps = {
	.name = "cipher-steps",
	.summary = "one step of a cipher",
	.parameters = "enc|dec/BYTES/STEP/all|inv",
	.parse = steps_parse,
	.prepare = steps_prepare,
	.ready = steps_ready,
	.run = steps_run,
	.verify = steps_verify,
	.check = steps_check,
	.ta = steps_ta,
	.facts = steps_facts,
	.teardown = steps_teardown,
	.list = steps_list,
};
