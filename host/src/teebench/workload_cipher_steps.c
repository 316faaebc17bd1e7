/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cipher-steps/ALGORITHM/BACKEND/enc|dec/BYTES/STEP/all|inv: one step of a cipher, as a client
 * takes them one by one: prepare, set-key, set-iv, cipher-buffer (which continues the message).
 * `inv` times the call alone, `all` also times how the call's parameters are set. STEP whole (only
 * with `all`): the four steps, one after the other.
 */

#include "message_case.h"

#define WHOLE KEYED_STEPS /* all steps, one after the other */

static const char *const steps[] = {
	[KEYED_PREPARE] = "prepare", [KEYED_SET_KEY] = "set-key",
	[KEYED_SET_IV] = "set-iv",   [KEYED_CIPHER_BUFFER] = "cipher-buffer",
	[WHOLE] = "whole",           NULL,
};

static enum keyed_step step_of(const struct bench_case *c)
{
	return (enum keyed_step)c->part[2].word;
}

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
	if (step_of(c) == WHOLE && c->part[3].word)
		return case_wrong(err, "STEP whole has no call alone: only whole/all");
	return message_case_parse_keyed(c, err);
}

static void arrange(const struct bench_case *c, enum keyed_step step)
{
	const struct message_case *m = c->state;

	if (c->backend->arrange)
		c->backend->arrange(c->workplace->session, &m->job, step);
}

/* Takes a step; does nothing if the backend doesn't have it. */
static int take(const struct bench_case *c, enum keyed_step step, struct error *err)
{
	const struct message_case *m = c->state;

	if (c->backend->no_step[step])
		return 0;
	arrange(c, step);
	return c->backend->step(c->workplace->session, &m->job, step, err);
}

/* Takes the steps from `from` up to `end`, which is left out. */
static int lead(const struct bench_case *c, enum keyed_step from, enum keyed_step end,
		struct error *err)
{
	int ret = 0;

	for (int i = (int)from; !ret && i < (int)end; i++)
		ret = take(c, (enum keyed_step)i, err);
	return ret;
}

static int steps_prepare(struct bench_case *c, struct error *err)
{
	enum keyed_step step = step_of(c);
	int ret = message_case_prepare_keyed(c, err);
	const char *none;

	if (step < KEYED_CIPHER_BUFFER)
		c->bytes = -1; /* these steps process no message */
	if (ret || step == WHOLE)
		return ret;
	none = c->backend->no_step[step];
	return none ? error_skip(err, -EOPNOTSUPP, "no-step", "%s", none) : 0;
}

/* Takes the steps before the timed one, and sets the parameters of its call. */
static int steps_ready(struct bench_case *c, struct error *err)
{
	enum keyed_step step = step_of(c);
	bool mine = c->workplace->owner == c;
	int ret = message_case_ready_keyed(c, err);

	if (step == WHOLE)
		return ret;
	if (!ret && !mine)
		ret = lead(c, KEYED_PREPARE, step, err);
	if (!ret && step == KEYED_CIPHER_BUFFER)
		ret = take(c, KEYED_SET_IV, err);
	if (!ret)
		arrange(c, step);
	return ret;
}

static int steps_once(struct bench_case *c, struct error *err)
{
	const struct message_case *m = c->state;
	enum keyed_step step = step_of(c);

	if (step == WHOLE)
		return lead(c, KEYED_PREPARE, WHOLE, err);
	if (!c->part[3].word) /* all: setting the parameters is timed, too */
		arrange(c, step);
	return c->backend->step(c->workplace->session, &m->job, step, err);
}

/*
 * Takes the steps that remain to the end of a message; or all, after another message was computed on
 * this workplace because no other backend is there to compare with.
 */
static int steps_check(struct bench_case *c, struct error *err)
{
	enum keyed_step step = step_of(c);

	if (c->workplace->owner != c)
		return lead(c, KEYED_PREPARE, WHOLE, err);
	return lead(c, step == KEYED_CIPHER_BUFFER ? KEYED_SET_IV : step + 1, WHOLE, err);
}

const struct workload workload_cipher_steps = {
	.name = "cipher-steps",
	.summary = "one step of a cipher",
	.parameters = "enc|dec/BYTES/STEP/all|inv",
	.terms = { { "STEP", steps } },
	.classes = 1u << ALG_CIPHER | 1u << ALG_AEAD,
	.most = 1 << 28,
	.blocks = true,
	.parse = steps_parse,
	.prepare = steps_prepare,
	.ready = steps_ready,
	.once = steps_once,
	.check = steps_check,
	MESSAGE_CASE,
};
