/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session/STEP/tee/none: what opening and closing a session takes, with a TA
 * of which there is one instance however many sessions (ta/size).
 *
 *   first-open  no session is open: the TA is loaded and its signature checked
 *   open        another session keeps the instance alive: nothing is loaded
 *   close       a session of an instance that stays
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_size.h>

#include "pool.h"
#include "tee_client.h"
#include "workload.h"

static const char *const steps[] = { "first-open", "open", "close", NULL };

static int session_parse(struct bench_case *c, struct pool *pool,
			 struct error *err)
{
	int ret = case_choice(c->algorithm_name, steps, "a step of a session",
			      err);

	if (ret >= 0)
		ret = case_need_tee(c, err);
	if (!ret)
		ret = case_need_no_parameters(c, err);
	c->loops_max = 1;
	return ret ? ret : pool_reserve(pool, c->backend, DESK_DIGEST, 0, err);
}

/* A session that may be open or not, in a context that stays. */
struct seat {
	TEEC_Session session;
	bool open;
};

/* What the cases share, so that none keeps an instance alive unseen. */
static struct {
	struct tee_session *tee; /* lends its context */
	struct seat keeper;      /* keeps the instance alive */
	struct seat timed;       /* is opened and closed */
} shared;

struct steps {
	char step; /* its first letter */
};

static const TEEC_UUID uuid = TA_SIZE_UUID(TA_SIZE_SESSION);

static int sit(struct seat *seat, struct error *err)
{
	uint32_t origin = 0;
	TEEC_Result res;

	if (seat->open)
		return 0;
	res = shared.tee->api->open_session(&shared.tee->context,
					    &seat->session, &uuid,
					    TEEC_LOGIN_PUBLIC, NULL, NULL,
					    &origin);
	if (res != TEEC_SUCCESS)
		return error_tee(err, res, origin,
				 "cannot open a session with a size TA");
	seat->open = true;
	return 0;
}

static void stand_up(struct seat *seat)
{
	if (seat->open)
		shared.tee->api->close_session(&seat->session);
	seat->open = false;
}

/*
 * The first session of a process is watched, for it hangs where nobody loads
 * TAs. It is one with another TA, which stays and lends its context.
 */
static int session_prepare(struct bench_case *c, struct pool *pool,
			   struct error *err)
{
	struct steps *s = c->state;
	struct desk *desk;
	int ret = pool_desk(pool, c->backend, DESK_DIGEST, 0, &desk, err);

	if (ret)
		return ret;
	s->step = c->algorithm_name[0];
	shared.tee = desk_ta(desk);
	ret = sit(&shared.keeper, err);
	if (ret == -ENOENT)
		error_skip_word(err, "no-ta");
	return ret;
}

static int session_ready(void *state, uint32_t loops, struct error *err)
{
	struct steps *s = state;
	int ret;

	(void)loops;
	if (s->step == 'f') {
		stand_up(&shared.timed);
		stand_up(&shared.keeper);
		return 0;
	}
	ret = sit(&shared.keeper, err);
	if (!ret && s->step == 'c')
		ret = sit(&shared.timed, err);
	else
		stand_up(&shared.timed);
	return ret;
}

static int session_run(void *state, uint32_t loops, uint32_t repeat,
		       struct error *err)
{
	struct steps *s = state;

	(void)loops;
	(void)repeat;
	if (s->step != 'c')
		return sit(&shared.timed, err);
	stand_up(&shared.timed);
	return 0;
}

static int nop(struct seat *seat, struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t origin = 0;
	TEEC_Result res = shared.tee->api->invoke(&seat->session,
						  TA_SIZE_CMD_NOP, &op,
						  &origin);

	return res == TEEC_SUCCESS ? 0 :
				     error_tee(err, res, origin,
					       "cannot call through a session "
					       "that was opened");
}

/* What is open can be called; what was closed left the instance alive. */
static int session_check(void *state, struct error *err)
{
	struct steps *s = state;
	int ret = 0;

	if (s->step == 'c')
		return nop(&shared.keeper, err);
	ret = nop(&shared.timed, err);
	/* Closed at once, so that the next case finds none but the holder's. */
	stand_up(&shared.timed);
	return ret;
}

static void session_teardown(void *state)
{
	(void)state;
	stand_up(&shared.timed);
	stand_up(&shared.keeper);
}

const struct workload workload_session = {
	.name = "session",
	.summary = "opening and closing a session",
	.parameters = "none",
	.state_size = sizeof(struct steps),
	.parse = session_parse,
	.prepare = session_prepare,
	.ready = session_ready,
	.run = session_run,
	.verify = session_check,
	.check = session_check,
	.teardown = session_teardown,
	.names = steps,
};
