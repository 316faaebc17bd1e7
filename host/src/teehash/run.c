// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "clock.h"
#include "run.h"
#include "stop.h"

const char *const reader_kinds[] = {
	[READER_AUTO] = "auto",
	[READER_THREAD] = "thread",
	[READER_INLINE] = "inline",
	NULL,
};

/* Returns true if a reader thread is wanted, and each worker has a CPU for it. */
static bool wants_reader(const struct run_settings *settings)
{
	cpu_set_t cpus;

	if (settings->session.plain || settings->reader == READER_INLINE)
		return false;
	if (settings->reader == READER_THREAD)
		return true;
	return !sched_getaffinity(0, sizeof(cpus), &cpus) &&
	       CPU_COUNT(&cpus) >= 2 * (int)settings->jobs;
}

void run_begin(struct run *run, const struct run_settings *settings)
{
	memset(run, 0, sizeof(*run));
	run->settings = *settings;
	run->settings.session.threaded = wants_reader(settings);
	run->stats.begin_ns = clock_now_ns();
	run->turn_ns = run->stats.begin_ns;
}

/*
 * One more. A TEE may open more sessions than it has memory to work in: such a
 * one is closed again, unless it is the only one.
 */
static int add_session(struct run *r, const struct algorithm *alg)
{
	struct hash_session *s;
	struct error err = { 0 };
	int ret = session_open(&s, &r->settings.session, &r->shortage);

	if (ret)
		return ret;
	if (r->settings.jobs > 1 && session_is_starved(s, alg, &err) &&
	    r->opened) {
		session_close(s);
		r->shortage = err;
		return -ENOMEM;
	}
	r->sessions[r->opened++] = s;
	return 0;
}

static int open_sessions(struct run *r, const struct algorithm *alg,
			 struct error *err)
{
	uint64_t begin = clock_now_ns();
	int ret = 0;

	r->stats.pool.idle_ns += begin - r->turn_ns;
	while (r->opened < r->settings.jobs && !ret && !stop_asked())
		ret = add_session(r, alg);
	if (stop_asked())
		return -EINTR;
	if (!r->opened) {
		*err = r->shortage;
		return ret;
	}
	ret = 0;
	if (r->opened > 1)
		ret = pool_start(&r->pool, r->sessions, r->opened,
				 &r->settings.stream, err);
	r->turn_ns = clock_now_ns();
	r->stats.pool.work_ns = r->turn_ns - r->stats.begin_ns;
	return ret;
}

/* One worker: the calling thread itself. */
static int work_alone(struct run *r, const struct work *work, struct message *m)
{
	struct pool_stats *stats = &r->stats.pool;
	int ret = 1;

	while (ret > 0) {
		stats->idle_ns += clock_now_ns() - r->turn_ns;
		stream_hash(r->sessions[0], &r->settings.stream, m);
		r->turn_ns = clock_now_ns();
		ret = work->done(work->ctx, m);
		if (!ret && stop_asked())
			ret = -EINTR;
		if (!ret) {
			memset(m, 0, sizeof(*m));
			ret = work->next(work->ctx, m);
		}
	}
	return ret;
}

int run_work(struct run *run, const struct work *work, struct error *err)
{
	struct message first = { 0 };
	int ret = stop_asked() ? -EINTR : work->next(work->ctx, &first);

	if (ret <= 0)
		return ret;
	ret = run->opened ? 0 : open_sessions(run, first.alg, err);
	if (!ret && run->pool)
		return pool_run(run->pool, work, &first);
	if (!ret)
		return work_alone(run, work, &first);
	first.ret = -EINTR;
	work->done(work->ctx, &first);
	return ret;
}

static void add_stats(struct session_stats *sum, const struct session_stats *s)
{
	if (!sum->sessions) {
		sum->chunk = s->chunk;
		sum->slots = s->slots;
		/* The first ever in this process stands apart. */
		sum->context_ns = s->context_ns;
		sum->session_ns = s->session_ns;
		sum->first_call_ns = s->first_call_ns;
	}
	sum->open_ns += s->open_ns;
	sum->buffer_ns += s->buffer_ns;
	sum->buffer_bytes += s->buffer_bytes;
	sum->sessions += s->sessions;
	sum->inside_ns += s->inside_ns;
	sum->uncounted += s->uncounted;
	sum->reader_runq_ns += s->reader_runq_ns;
}

struct hash_session *run_settle(struct run *run)
{
	struct run_stats *stats = &run->stats;

	stats->end_ns = clock_now_ns();
	if (run->pool) {
		pool_stop(run->pool, &stats->pool);
	} else {
		stats->pool.idle_ns += stats->end_ns - run->turn_ns;
		stats->pool.work_ns = stats->end_ns - stats->begin_ns;
	}
	run->pool = NULL;
	stats->workers = run->opened;
	for (unsigned int i = 0; i < run->opened; i++) {
		session_settle(run->sessions[i]);
		add_stats(&stats->sessions, &run->sessions[i]->stats);
	}
	return run->opened ? run->sessions[0] : NULL;
}

void run_end(struct run *run)
{
	uint64_t begin = clock_now_ns();

	while (run->opened)
		session_close(run->sessions[--run->opened]);
	run->stats.close_ns = clock_now_ns() - begin;
}
