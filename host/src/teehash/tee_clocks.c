// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include <teemark/ta_bench.h>

#include "ta_session.h"
#include "tee_clocks.h"

struct times {
	uint32_t system_ms, ree_ms;
};

static int ask(struct tee_session *tee, enum ta_bench_ask what, uint32_t *ms,
	       struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, what, 1);
	tee_set_type(&op, 1, TEEC_VALUE_OUTPUT);
	ret = tee_invoke(tee, TA_BENCH_CMD_ASK, &op,
			 "ask the bench TA for the time", err);
	*ms = op.params[1].value.b;
	return ret;
}

/* Between two questions for the time; the TEE's own clock is the inner one. */
static int hash_between(struct tee_clocks *clocks, struct tee_session *tee,
			struct hash_session *session,
			const struct stream_settings *stream, struct message *m,
			struct error *err)
{
	struct times before, after;
	int ret = ask(tee, TA_BENCH_ASK_REE_TIME, &before.ree_ms, err);

	if (!ret)
		ret = ask(tee, TA_BENCH_ASK_SYSTEM_TIME, &before.system_ms,
			  err);
	if (ret)
		return ret;
	stream_hash(session, stream, m);
	*err = m->err;
	ret = m->ret;
	if (!ret)
		ret = ask(tee, TA_BENCH_ASK_SYSTEM_TIME, &after.system_ms, err);
	if (!ret)
		ret = ask(tee, TA_BENCH_ASK_REE_TIME, &after.ree_ms, err);
	if (ret)
		return ret;
	/* Modulo 2^32 ms, which is 49 days. */
	clocks->system_ms = after.system_ms - before.system_ms;
	clocks->ree_ms = after.ree_ms - before.ree_ms;
	clocks->known = true;
	return 0;
}

void tee_clocks_measure(struct tee_clocks *clocks,
			const struct session_settings *settings,
			const struct stream_settings *stream, const char *name,
			const struct algorithm *alg)
{
	struct session_settings plain = *settings;
	struct message m = { .name = name, .alg = alg };
	struct hash_session *session = NULL;
	struct tee_session *tee = NULL;
	struct error err = { 0 };
	uint32_t unused;
	int ret;

	memset(clocks, 0, sizeof(*clocks));
	plain.counter = NULL;
	plain.timeline = NULL;
	ret = ta_session_open(&ta_bench_name, &tee, &unused, &err);
	if (!ret)
		ret = session_open(&session, &plain, &err);
	if (!ret)
		ret = hash_between(clocks, tee, session, stream, &m, &err);
	if (ret)
		snprintf(clocks->reason, sizeof(clocks->reason), "%s",
			 err.what);
	session_close(session);
	tee_session_close(tee);
}
