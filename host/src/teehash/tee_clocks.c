// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "clock.h"
#include "ta_session.h"
#include "tee_clocks.h"

/* Modulo 2^32 ms, which is 49 days. */
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

/*
 * A clock that is set meanwhile would tell the time of something else: by the
 * client's clock it takes least_ns to most_ns. To one part in a thousand, for NTP
 * slows the normal world's down, or speeds it up, by half of that.
 */
static void judge(struct tee_clock *clock, uint32_t ms, uint64_t least_ns,
		  uint64_t most_ns)
{
	const double tick = 1e6, rate = 1e-3;
	double ns = tick * ms;

	clock->known = ns + tick > (double)least_ns * (1 - rate) &&
		       ns - tick < (double)most_ns * (1 + rate);
	clock->ms = ms;
	if (!clock->known)
		snprintf(clock->reason, sizeof(clock->reason),
			 "%d ms went by on it, and %.0f to %.0f ms on the "
			 "client's clock: it was set meanwhile or runs at another rate",
			 (int32_t)ms, (double)least_ns / tick,
			 (double)most_ns / tick);
}

/* The TEE's own clock is the inner one of the two. */
static int hash_between(struct tee_session *tee, struct hash_session *session,
			const struct stream_settings *stream, struct message *m,
			struct tee_clocks *clocks, struct error *err)
{
	uint32_t ree, system, ree_after, system_after;
	uint64_t begin = clock_now_ns();
	int ret = ask(tee, TA_BENCH_ASK_REE_TIME, &ree, err);

	if (!ret)
		ret = ask(tee, TA_BENCH_ASK_SYSTEM_TIME, &system, err);
	if (!ret) {
		stream_hash(session, stream, m);
		*err = m->err;
		ret = m->ret;
	}
	if (!ret)
		ret = ask(tee, TA_BENCH_ASK_SYSTEM_TIME, &system_after, err);
	if (!ret)
		ret = ask(tee, TA_BENCH_ASK_REE_TIME, &ree_after, err);
	if (ret)
		return ret;
	begin = clock_now_ns() - begin;
	judge(&clocks->system, system_after - system, m->stats.total_ns, begin);
	judge(&clocks->ree, ree_after - ree, m->stats.total_ns, begin);
	return 0;
}

void tee_clocks_measure(struct tee_clocks *clocks,
			const struct run_settings *settings,
			const struct message *hashed)
{
	struct session_settings plain = settings->session;
	struct message m = { .name = hashed->name, .alg = hashed->alg };
	struct hash_session *session = NULL;
	struct tee_session *tee = NULL;
	struct error err = { 0 };
	uint32_t unused;
	int ret = 0;

	plain.counter = NULL;
	plain.timeline = NULL;
	if (hashed->ret)
		ret = error_set(&err, hashed->ret, "the file got no digest");
	else if (source_is_shared(m.name))
		ret = error_set(&err, -ESPIPE,
				"only a regular file can be hashed once more "
				"for it");
	if (!ret)
		ret = ta_session_open(&ta_bench_name, &tee, &unused, &err);
	if (!ret)
		ret = session_open(&session, &plain, &err);
	if (!ret)
		ret = hash_between(tee, session, &settings->stream, &m, clocks,
				   &err);
	if (!ret && memcmp(m.digest, hashed->digest, m.alg->out_bytes))
		ret = error_set(&err, -ESTALE,
				"the file had changed when it was hashed once "
				"more for it");
	if (ret) {
		clocks->ree = (struct tee_clock){ 0 };
		snprintf(clocks->ree.reason, sizeof(clocks->ree.reason), "%s",
			 err.what);
		clocks->system = clocks->ree;
	}
	session_close(session);
	tee_session_close(tee);
}
