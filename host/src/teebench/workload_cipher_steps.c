/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cipher-steps/ALGORITHM/BACKEND/enc|dec/BYTES/STEP/all|inv: one step of a
 * cipher, as a client takes them one by one: prepare, set-key, set-iv,
 * cipher-buffer (which goes on with the message). inv: the call alone; all:
 * with what leads to it, its parameters put where the backend takes them.
 * STEP whole (all only): the four of them, one after the other.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "keyed_case.h"
#include "listing.h"
#include "workload.h"

enum { BYTES_MAX = 1 << 28 };

#define WHOLE KEYED_STEPS /* all of them */

static const char *const steps[] = {
	[KEYED_PREPARE] = "prepare", [KEYED_SET_KEY] = "set-key",
	[KEYED_SET_IV] = "set-iv",   [KEYED_CIPHER_BUFFER] = "cipher-buffer",
	[WHOLE] = "whole",           NULL,
};

/* What the key's parameters say. */
struct what {
	bool decrypt;
	bool all; /* with what leads to the call */
	enum keyed_step step;
};

struct steps {
	struct keyed_case k;
	struct what what;
};

/* "enc/4096/set-key/inv" */
static int split(struct bench_case *c, struct what *what, struct error *err)
{
	char text[CASE_KEY_MAX], *save = NULL;
	const char *part[5] = { NULL };
	size_t n = 0;
	int step;

	snprintf(text, sizeof(text), "%s", c->parameters);
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
	step = case_choice(part[2], steps, "a STEP", err);
	if (step < 0)
		return step;
	what->step = (enum keyed_step)step;
	if (what->step == WHOLE && !what->all)
		return error_set(err, -EINVAL,
				 "STEP whole has no call alone: only whole/all");
	return case_bytes(c, part[1], BYTES_MAX, err);
bad:
	return error_set(err, -EINVAL,
			 "\"%s\" is not enc|dec/BYTES/STEP/all|inv",
			 c->parameters);
}

static bool goes_on(const struct algorithm *alg)
{
	return alg->class == ALG_CIPHER && strcmp(alg->kernel, "xts(aes)");
}

static int steps_parse(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	struct what what;
	int ret = case_need_algorithm(c, ALG_CIPHER, ALG_AEAD, "a cipher", err);

	if (!ret)
		ret = split(c, &what, err);
	if (!ret && !goes_on(c->algorithm))
		ret = error_set(err, -EINVAL,
				"cipher-steps is for modes that go on with a "
				"message (ecb, cbc, ctr), not for %s",
				c->algorithm->title);
	if (!ret)
		ret = case_need_blocks(c, (uint64_t)c->bytes, err);
	return ret ? ret : keyed_case_reserve(c, pool, (uint64_t)c->bytes, err);
}

static void arrange(const struct keyed_case *k, enum keyed_step step)
{
	if (k->backend->arrange)
		k->backend->arrange(k->session, &k->job, step);
}

/* A step that the backend has not at all is left out. */
static int take(const struct keyed_case *k, enum keyed_step step,
		struct error *err)
{
	if (k->backend->no_step[step])
		return 0;
	arrange(k, step);
	return k->backend->step(k->session, &k->job, step, err);
}

static int steps_prepare(struct bench_case *c, struct pool *pool,
			 struct error *err)
{
	struct steps *s = c->state;
	int ret = split(c, &s->what, err);
	const char *none;

	if (!ret)
		ret = keyed_case_open(c, pool, s->what.decrypt,
				      (size_t)c->bytes, err);
	if (s->what.step != KEYED_CIPHER_BUFFER && s->what.step != WHOLE)
		c->bytes = -1; /* the message is for the steps that follow */
	if (ret || s->what.step == WHOLE)
		return ret;
	none = c->backend->no_step[s->what.step];
	return none ? error_skip(err, -EOPNOTSUPP, "no-step", "%s", none) : 0;
}

/* All that comes before the step, and for `inv` what leads to its call. */
static int steps_ready(void *state, uint32_t loops, struct error *err)
{
	struct steps *s = state;
	struct keyed_case *k = &s->k;
	bool mine = k->desk->owner == k;
	int ret = keyed_case_ready(k, loops, err);

	if (s->what.step == WHOLE)
		return ret;
	if (!mine)
		for (int i = KEYED_PREPARE; !ret && i < (int)s->what.step; i++)
			ret = take(k, (enum keyed_step)i, err);
	if (!ret && s->what.step == KEYED_CIPHER_BUFFER)
		ret = take(k, KEYED_SET_IV, err);
	if (!ret)
		arrange(k, s->what.step);
	return ret;
}

static int run_whole(const struct keyed_case *k, uint32_t loops,
		     struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < loops; i++)
		for (int step = KEYED_PREPARE; !ret && step < WHOLE; step++)
			ret = take(k, (enum keyed_step)step, err);
	return ret;
}

static int steps_run(void *state, uint32_t loops, uint32_t repeat,
		     struct error *err)
{
	struct steps *s = state;
	const struct keyed_case *k = &s->k;
	int ret = 0;

	(void)repeat;
	if (s->what.step == WHOLE)
		return run_whole(k, loops, err);
	for (uint32_t i = 0; !ret && i < loops; i++) {
		if (s->what.all)
			arrange(k, s->what.step);
		ret = k->backend->step(k->session, &k->job, s->what.step, err);
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
		ret = take(&s->k, (enum keyed_step)i, err);
	return ret;
}

static int steps_check(void *state, struct error *err)
{
	struct steps *s = state;
	int ret = finish(s, err);

	return ret ? ret : keyed_case_check(&s->k, err);
}

static int steps_verify(void *state, struct error *err)
{
	struct steps *s = state;
	int ret = finish(s, err);

	return ret ? ret : keyed_case_verify(&s->k, err);
}

static void steps_list(struct listing *listing, struct pool *pool)
{
	listing_add_algorithms(listing, pool, DESK_KEYED, goes_on);
}

const struct workload workload_cipher_steps = {
	.name = "cipher-steps",
	.summary = "one step of a cipher",
	.parameters = "enc|dec/BYTES/STEP/all|inv",
	.state_size = sizeof(struct steps),
	.parse = steps_parse,
	.prepare = steps_prepare,
	.ready = steps_ready,
	.run = steps_run,
	.verify = steps_verify,
	.check = steps_check,
	.ta = keyed_case_ta,
	.facts = keyed_case_facts,
	.teardown = keyed_case_teardown,
	.list = steps_list,
};
