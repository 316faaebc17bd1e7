/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session/STEP/tee/none: what opening and closing a session takes, with a TA
 * of which there is one instance however many sessions (ta/size).
 *
 *   first-open  no session is open: the TA is loaded and its signature checked
 *   open        another session keeps the instance alive: nothing is loaded
 *   close       a session of an instance that stays
 *
 * session/STEP/tee/digest: the same with the TA of the digests, which has an
 * instance for each session: it is loaded at every open, and goes at close.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_digest.h>
#include <teemark/ta_size.h>

#include "listing.h"
#include "pool.h"
#include "tee_share.h"
#include "workload.h"

static const char *const steps[] = { "first-open", "open", "close", NULL };

static int session_parse(struct bench_case *c, struct pool *pool,
			 struct error *err)
{
	const char *const *step = steps;

	(void)pool;
	while (*step && strcmp(*step, c->algorithm_name))
		step++;
	if (!*step)
		return error_set(err, -EINVAL,
				 "a session has no step \"%s\" (first-open, "
				 "open, close)",
				 c->algorithm_name);
	if (strcmp(c->backend_name, "tee"))
		return error_set(err, -EINVAL,
				 "only backend tee has sessions, not \"%s\"",
				 c->backend_name);
	if (strcmp(c->parameters, "none") && strcmp(c->parameters, "digest"))
		return error_set(err, -EINVAL,
				 "workload session has no parameters \"%s\" "
				 "(none, digest)",
				 c->parameters);
	c->backend = backend_by_name("tee");
	c->loops_max = 1;
	return 0;
}

#ifdef HAVE_TEEC

struct kind {
	TEEC_UUID uuid;
	uint32_t nop; /* its command that does nothing */
};

static const struct kind single = { TA_SIZE_UUID(TA_SIZE_SESSION),
				    TA_SIZE_CMD_NOP };
static const struct kind digest = { TA_DIGEST_UUID, TA_DIGEST_CMD_NOP };

/* A session that may be open or not, in a context that stays. */
struct seat {
	TEEC_Session session;
	unsigned char room[256]; /* for a libteec whose structure grew */
	bool open;
};

/* What the cases share, so that none keeps an instance alive unseen. */
struct holder {
	const struct kind *kind;
	struct tee_session *tee; /* lends its context */
	struct seat seat;        /* keeps the instance alive */
	struct seat timed;       /* is opened and closed */
};

struct steps {
	struct holder *holder;
	char step; /* its first letter */
};

static int sit(struct holder *holder, struct seat *seat, struct error *err)
{
	uint32_t origin = 0;
	TEEC_Result res;

	if (seat->open)
		return 0;
	res = holder->tee->api->open_session(&holder->tee->context,
					     &seat->session,
					     &holder->kind->uuid,
					     TEEC_LOGIN_PUBLIC, NULL, NULL,
					     &origin);
	if (res != TEEC_SUCCESS)
		return error_tee(err, res, origin,
				 "cannot open a session with the TA");
	seat->open = true;
	return 0;
}

static void stand_up(struct holder *holder, struct seat *seat)
{
	if (seat->open)
		holder->tee->api->close_session(&seat->session);
	seat->open = false;
}

static void close_holder(void *value)
{
	struct holder *holder = value;

	if (holder->tee) {
		stand_up(holder, &holder->timed);
		stand_up(holder, &holder->seat);
		tee_session_close(holder->tee);
	}
	free(holder);
}

static int open_holder(const void *kind, size_t size, void **value,
		       struct error *err)
{
	char text[64];
	struct holder *holder = calloc(1, sizeof(*holder));
	static const TEEC_UUID lender = TA_SIZE_UUID(256);
	int ret;

	(void)size;
	*value = NULL;
	if (!holder)
		return error_set(err, -ENOMEM, "out of memory");
	holder->kind = kind;
	/*
	 * The first session of a process is watched, for it hangs where
	 * nobody loads TAs. It is one with another TA, and stays.
	 */
	snprintf(text, sizeof(text), TA_SIZE_UUID_FORMAT, 256u);
	ret = tee_session_open(&holder->tee, &lender, text,
			       "the size TA of 256 KiB", err);
	if (!ret) {
		ret = sit(holder, &holder->seat, err);
		if (ret == -ENOENT)
			error_skip_word(err, "no-ta");
	}
	if (ret) {
		close_holder(holder);
		return ret;
	}
	*value = holder;
	return 0;
}

static int session_prepare(struct bench_case *c, struct pool *pool,
			   struct error *err)
{
	const struct kind *kind = strcmp(c->parameters, "digest") ? &single :
								    &digest;
	struct steps *s;
	void *holder;
	int ret;

	ret = pool_share(pool, kind, open_holder, close_holder, &holder, err);
	if (ret)
		return ret;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->holder = holder;
	s->step = c->algorithm_name[0];
	c->state = s;
	return 0;
}

static int session_ready(void *state, uint32_t loops, uint32_t repeat,
			 struct error *err)
{
	struct steps *s = state;
	int ret;

	(void)loops;
	(void)repeat;
	if (s->step == 'f') {
		stand_up(s->holder, &s->holder->timed);
		stand_up(s->holder, &s->holder->seat);
		return 0;
	}
	ret = sit(s->holder, &s->holder->seat, err);
	if (!ret && s->step == 'c')
		ret = sit(s->holder, &s->holder->timed, err);
	else
		stand_up(s->holder, &s->holder->timed);
	return ret;
}

static int session_run(void *state, uint32_t loops, uint32_t repeat,
		       struct error *err)
{
	struct steps *s = state;

	(void)loops;
	(void)repeat;
	if (s->step != 'c')
		return sit(s->holder, &s->holder->timed, err);
	stand_up(s->holder, &s->holder->timed);
	return 0;
}

static int nop(struct holder *holder, struct seat *seat, struct error *err)
{
	TEEC_Operation op = { 0 };
	uint32_t origin = 0;
	TEEC_Result res = holder->tee->api->invoke(&seat->session,
						   holder->kind->nop, &op,
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
		return nop(s->holder, &s->holder->seat, err);
	ret = nop(s->holder, &s->holder->timed, err);
	/* Closed at once, so that the next case finds none but the holder's. */
	stand_up(s->holder, &s->holder->timed);
	return ret;
}

static int session_verify(void *state, struct error *err)
{
	return session_check(state, err);
}

static void session_teardown(void *state)
{
	free(state);
}

#else
#define session_prepare  tee_absent_prepare
#define session_ready    NULL
#define session_run      tee_absent_run
#define session_check    NULL
#define session_verify   tee_absent_verify
#define session_teardown tee_absent_teardown
#endif

static void session_list(struct listing *listing, struct pool *pool)
{
	struct session *session;
	struct error why = { 0 };

	pool_session(pool, backend_by_name("tee"), &session, &why);
	for (const char *const *step = steps; *step; step++)
		listing_add(listing, *step, "tee", &why);
}

const struct workload workload_session = {
	.name = "session",
	.summary = "opening and closing a session",
	.parameters = "none|digest",
	.parse = session_parse,
	.prepare = session_prepare,
	.ready = session_ready,
	.run = session_run,
	.verify = session_verify,
	.check = session_check,
	.teardown = session_teardown,
	.list = session_list,
};
