/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cipher-steps/ALGORITHM/BACKEND/enc|dec/BYTES/STEP/all|inv: one step of a
 * cipher, as a client takes them one by one: prepare, set-key, set-iv,
 * cipher-buffer (which goes on with the message). inv: the call alone; all:
 * with what leads to it, its parameters put where the backend takes them.
 * STEP whole (all only): the four of them, one after the other.
 */
#include <errno.h>
#include <string.h>

#include "keyed_case.h"

#define WHOLE KEYED_STEPS /* all of them */

static const char *const steps[] = {
	[KEYED_PREPARE] = "prepare", [KEYED_SET_KEY] = "set-key",
	[KEYED_SET_IV] = "set-iv",   [KEYED_CIPHER_BUFFER] = "cipher-buffer",
	[WHOLE] = "whole",           NULL,
};

struct steps {
	struct keyed_case k;
	enum keyed_step step;
	bool all; /* with what leads to the call */
};

static bool goes_on(const struct algorithm *alg)
{
	return alg->class == ALG_CIPHER && strcmp(alg->kernel, "xts(aes)");
}

static int steps_parse(struct bench_case *c, struct error *err)
{
	if (!goes_on(c->algorithm))
		return case_wrong(err,
				  "cipher-steps is for modes that go on with a "
				  "message (ecb, cbc, ctr), not for %s",
				  c->algorithm->title);
	if (c->part[2].word == WHOLE && c->part[3].word)
		return case_wrong(err, "STEP whole has no call alone: only whole/all");
	return keyed_case_parse(c, err);
}

static void arrange(const struct keyed_case *k, enum keyed_step step)
{
	if (k->c->backend->arrange)
		k->c->backend->arrange(k->c->desk->session, &k->job, step);
}

/* Takes a step; one that the backend doesn't have at all is left out. */
static int take(const struct keyed_case *k, enum keyed_step step, struct error *err)
{
	if (k->c->backend->no_step[step])
		return 0;
	arrange(k, step);
	return k->c->backend->step(k->c->desk->session, &k->job, step, err);
}

static int steps_prepare(struct bench_case *c, struct error *err)
{
	struct steps *s = c->state;
	int ret = keyed_case_prepare(c, err);
	const char *none;

	s->step = (enum keyed_step)c->part[2].word;
	s->all = !c->part[3].word;
	if (s->step != KEYED_CIPHER_BUFFER && s->step != WHOLE)
		c->bytes = -1; /* the message is for the steps that follow */
	if (ret || s->step == WHOLE)
		return ret;
	none = c->backend->no_step[s->step];
	return none ? error_skip(err, -EOPNOTSUPP, "no-step", "%s", none) : 0;
}

/* Does all that comes before the step, and for `inv` what leads to its call. */
static int steps_ready(void *state, uint32_t loops, struct error *err)
{
	struct steps *s = state;
	struct keyed_case *k = &s->k;
	bool mine = k->c->desk->owner == k;
	int ret = keyed_case_ready(k, loops, err);

	if (s->step == WHOLE)
		return ret;
	if (!mine)
		for (int i = KEYED_PREPARE; !ret && i < (int)s->step; i++)
			ret = take(k, (enum keyed_step)i, err);
	if (!ret && s->step == KEYED_CIPHER_BUFFER)
		ret = take(k, KEYED_SET_IV, err);
	if (!ret)
		arrange(k, s->step);
	return ret;
}

static int steps_once(void *state, uint32_t i, struct error *err)
{
	struct steps *s = state;
	const struct keyed_case *k = &s->k;
	int ret = 0;

	(void)i;
	if (s->step == WHOLE) {
		for (int step = KEYED_PREPARE; !ret && step < WHOLE; step++)
			ret = take(k, (enum keyed_step)step, err);
		return ret;
	}
	if (s->all)
		arrange(k, s->step);
	return k->c->backend->step(k->c->desk->session, &k->job, s->step, err);
}

/* Takes the steps that are left to the end of a message. */
static int finish(struct steps *s, struct error *err)
{
	int from = s->step == KEYED_CIPHER_BUFFER ? KEYED_SET_IV : s->step + 1;
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

const struct workload workload_cipher_steps = {
	.name = "cipher-steps",
	.summary = "one step of a cipher",
	.parameters = "enc|dec/BYTES/STEP/all|inv",
	.terms = { { "STEP", steps } },
	.classes = 1u << ALG_CIPHER | 1u << ALG_AEAD,
	.most = 1 << 28,
	.blocks = true,
	.state_size = sizeof(struct steps),
	.parse = steps_parse,
	.prepare = steps_prepare,
	.ready = steps_ready,
	.once = steps_once,
	.verify = steps_verify,
	.check = steps_check,
	.ta_clock = true,
	.refereed = true,
	.teardown = keyed_case_teardown,
};
