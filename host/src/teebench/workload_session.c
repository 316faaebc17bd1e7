/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session/STEP/tee/none: the time to open or close a session with a TA that has a single instance
 * for all its sessions (ta/size).
 *
 *   first-open  no session is open: the TA is loaded and its signature checked
 *   open        another session keeps the instance alive: nothing is loaded
 *   close       another session keeps the instance alive: nothing is unloaded
 *
 * session/STEP/tee/digest: the same with the digest TA, which has an instance for each session: it
 * is loaded at every open, and unloaded at every close.
 *
 * session/STEP/tee/pseudo: the same with a pseudo TA of the TEE's core: nothing is ever loaded, and
 * no TA of teemark's is needed.
 */

#include <teemark/ta_digest.h>
#include <teemark/ta_size.h>

#include "direct.h"
#include "tee_client.h"
#include "workload.h"

enum { FIRST_OPEN, OPEN, CLOSE };
static const char *const steps[] = { "first-open", "open", "close", NULL };

/* A session, open or not, in a context that stays open. */
struct seat {
	TEEC_Session session;
	bool open;
};

/* A TA, with the sessions that its cases share: no case keeps an instance alive unnoticed. */
struct ta {
	TEEC_UUID uuid;
	uint32_t nop;       /* number of its command that does nothing */
	TEEC_Result answer; /* expected result of that command */
	struct seat keeper; /* the session that keeps the instance alive */
	struct seat timed;  /* the session that is opened and closed */
};

/* The TAs in the order of .parameters. */
static struct ta tas[] = {
	{ .uuid = TA_SIZE_UUID(TA_SIZE_SESSION), .nop = TA_SIZE_CMD_NOP },
	{ .uuid = TA_DIGEST_UUID, .nop = TA_DIGEST_CMD_NOP },
	{ .nop = PSEUDO_NO_COMMAND, .answer = PSEUDO_ANSWER },
};
enum { PSEUDO = 2 };

struct steps {
	struct ta *ta;
	struct tee_session *lender; /* lends its context; for the pseudo TA, the case's own */
};

static int sit(const struct steps *s, struct seat *seat, struct error *err)
{
	uint32_t origin = 0;
	TEEC_Result res;

	if (seat->open)
		return 0;
	res = s->lender->api->open_session(&s->lender->context, &seat->session, &s->ta->uuid,
					   TEEC_LOGIN_PUBLIC, NULL, NULL, &origin);
	if (res != TEEC_SUCCESS)
		return error_tee(err, res, origin, "cannot open a session with the TA");
	seat->open = true;
	return 0;
}

static void stand_up(const struct steps *s, struct seat *seat)
{
	if (seat->open)
		s->lender->api->close_session(&seat->session);
	seat->open = false;
}

static int session_parse(struct bench_case *c, struct error *err)
{
	return pool_reserve(c->pool, c->backend, WORKPLACE_DIGEST, 0, err);
}

/*
 * Opens the session that keeps the TA loaded. The pool first opens and watches another session,
 * since a process's first session hangs where nobody loads TAs; the case uses that one's context.
 */
static int session_prepare(struct bench_case *c, struct error *err)
{
	struct steps *s = c->state;
	int ret;

	c->loops_max = 1;
	s->ta = &tas[c->part[0].word];
	if (c->part[0].word == PSEUDO) {
		s->ta->uuid = pseudo_ta;
		ret = tee_session_open(&s->lender, &pseudo_ta, "the TEE's pseudo TA", err);
	} else {
		ret = pool_workplace(c->pool, c->backend, WORKPLACE_DIGEST, 0, &c->workplace, err);
		s->lender = ret ? NULL : workplace_ta(c->workplace);
	}
	if (ret)
		return ret;
	ret = sit(s, &s->ta->keeper, err);
	if (ret == -ENOENT)
		error_skip_word(err, "no-ta");
	return ret;
}

static int session_ready(struct bench_case *c, struct error *err)
{
	struct steps *s = c->state;
	int ret;

	if (c->name == FIRST_OPEN) {
		stand_up(s, &s->ta->timed);
		stand_up(s, &s->ta->keeper);
		return 0;
	}
	ret = sit(s, &s->ta->keeper, err);
	if (!ret && c->name == CLOSE)
		ret = sit(s, &s->ta->timed, err);
	else
		stand_up(s, &s->ta->timed);
	return ret;
}

static int session_once(struct bench_case *c, struct error *err)
{
	struct steps *s = c->state;

	if (c->name != CLOSE)
		return sit(s, &s->ta->timed, err);
	stand_up(s, &s->ta->timed);
	return 0;
}

static int nop(const struct steps *s, struct seat *seat, struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t origin = 0;
	TEEC_Result res = s->lender->api->invoke(&seat->session, s->ta->nop, &op, &origin);

	return res == s->ta->answer ?
		       0 :
		       error_tee(err, res, origin, "cannot call through a session that was opened");
}

/* Calls the session that was opened or, after a close, the one that keeps the instance alive. */
static int session_check(struct bench_case *c, struct error *err)
{
	struct steps *s = c->state;
	int ret = 0;

	if (c->name == CLOSE)
		return nop(s, &s->ta->keeper, err);
	ret = nop(s, &s->ta->timed, err);
	/* Closed at once: the next case must find no session open but the keeper's. */
	stand_up(s, &s->ta->timed);
	return ret;
}

static void session_teardown(struct bench_case *c)
{
	struct steps *s = c->state;

	if (s->lender) {
		stand_up(s, &s->ta->timed);
		stand_up(s, &s->ta->keeper);
		if (s->ta == &tas[PSEUDO])
			tee_session_close(s->lender);
	}
}

const struct workload workload_session = {
	.name = "session",
	.summary = "opening and closing a session",
	.parameters = "none|digest|pseudo",
	.names = steps,
	.backend = "tee",
	.state_size = sizeof(struct steps),
	.parse = session_parse,
	.prepare = session_prepare,
	.ready = session_ready,
	.once = session_once,
	.check = session_check,
	.teardown = session_teardown,
};
