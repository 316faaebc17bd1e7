/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include <stdlib.h>

#include "clock.h"
#include "run.h"
#include "stop.h"

const char *const reader_kinds[] = {
	[READER_AUTO] = "auto",
	[READER_THREAD] = "thread",
	[READER_INLINE] = "inline",
	NULL,
};

/* Returns true if each session gets a reader thread. READER_AUTO: if each worker has two CPUs. */
static bool wants_reader(const struct run_settings *settings)
{
	cpu_set_t cpus;

	if (settings->reader == READER_INLINE)
		return false;
	if (settings->reader == READER_THREAD)
		return true;
	return !sched_getaffinity(0, sizeof(cpus), &cpus) &&
	       CPU_COUNT(&cpus) >= 2 * (int)settings->jobs;
}

/* Notes when the sessions were open; a run without any has been at work from its beginning. */
static void note_opened(struct run_stats *stats)
{
	stats->opened_ns = clock_now_ns();
	usage_read(&(struct usage_meter){ .schedstat_fd = -1 }, &stats->opened);
}

void run_begin(struct run *run, const struct run_settings *settings)
{
	memset(run, 0, sizeof(*run));
	run->settings = *settings;
	run->settings.session.threaded = wants_reader(settings);
	run->stats.begin_ns = clock_now_ns();
	run->turn_ns = run->stats.begin_ns;
	note_opened(&run->stats);
}

struct worker {
	struct pool *pool;
	pthread_t thread;
	struct hash_session *session;
	uint64_t work_ns, idle_ns;
	int64_t runq_ns;
};

/*
 * A ring of messages between the calling thread and the workers: `head` is the oldest message,
 * `taken` the first that no worker has taken, `tail` the next to be filled.
 */
struct pool {
	struct run *run;
	pthread_mutex_t lock;
	pthread_cond_t ready;  /* tells workers: a message came, or `over` is set */
	pthread_cond_t hashed; /* tells the calling thread: a message was hashed */
	bool over;
	size_t head, taken, tail;
	struct message ring[4 * RUN_JOBS_MAX];
	unsigned int started;
	struct worker workers[RUN_JOBS_MAX];
};

static struct message *place_at(struct pool *p, size_t index)
{
	return &p->ring[index % (4 * p->run->opened)];
}

/* Waits for a message. Returns NULL when there will be no more. */
static struct message *take(struct worker *w)
{
	struct pool *p = w->pool;
	uint64_t begin = clock_now_ns();
	struct message *m = NULL;

	pthread_mutex_lock(&p->lock);
	while (p->taken == p->tail && !p->over)
		pthread_cond_wait(&p->ready, &p->lock);
	if (p->taken < p->tail)
		m = place_at(p, p->taken++);
	pthread_mutex_unlock(&p->lock);
	w->idle_ns += clock_now_ns() - begin;
	return m;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;
	uint64_t begin = clock_now_ns();
	struct message *m;

	while ((m = take(w))) {
		stream_hash(w->session, &p->run->settings.stream, m);
		pthread_mutex_lock(&p->lock);
		m->hashed = true;
		pthread_cond_signal(&p->hashed);
		pthread_mutex_unlock(&p->lock);
	}
	w->runq_ns = usage_thread_runq_ns();
	w->work_ns = clock_now_ns() - begin;
	return NULL;
}

/* Starts one worker a session; fewer if no more threads can be started. */
static int start_pool(struct run *r, struct error *err)
{
	struct pool *p = calloc(1, sizeof(*p));
	unsigned int started = 0;
	int ret = 0;

	if (!p)
		return error_memory(err);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->ready, NULL);
	pthread_cond_init(&p->hashed, NULL);
	p->run = r;
	while (started < r->opened && !ret) {
		struct worker *w = &p->workers[started];

		w->pool = p;
		w->session = r->sessions[started];
		ret = thread_start(&w->thread, worker_main, w);
		started += !ret;
	}
	if (!started) {
		free(p);
		return error_set(err, -ret, "cannot start a thread: %s", strerror(ret));
	}
	r->pool = p;
	p->started = started;
	return 0;
}

static void add_message(struct pool *p, const struct message *m)
{
	*place_at(p, p->tail) = *m;
	pthread_mutex_lock(&p->lock);
	p->tail++;
	pthread_cond_signal(&p->ready);
	pthread_mutex_unlock(&p->lock);
}

static struct message *wait_for_oldest(struct pool *p)
{
	struct message *m = place_at(p, p->head);

	pthread_mutex_lock(&p->lock);
	while (!m->hashed)
		pthread_cond_wait(&p->hashed, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return m;
}

static int work_together(struct pool *p, const struct work *work, const struct message *first)
{
	int more = 1;
	int failed = 0;

	add_message(p, first);
	for (; p->head < p->tail; p->head++) {
		struct message *oldest;
		int ret;

		while (more > 0 && p->tail - p->head < 4 * p->run->opened) {
			struct message m = { 0 };

			more = stop_asked() ? -EINTR : work->next(work->ctx, &m);
			if (more > 0)
				add_message(p, &m);
		}
		oldest = wait_for_oldest(p);
		if (failed)
			oldest->ret = -EINTR;
		ret = work->done(work->ctx, oldest);
		if (ret && !failed) {
			failed = ret;
			stop_for(STOP_FAILURE); /* stops the messages under way */
		}
	}
	return failed ? failed : more;
}

static void stop_pool(struct pool *p, struct run_stats *stats)
{
	pthread_mutex_lock(&p->lock);
	p->over = true;
	pthread_cond_broadcast(&p->ready);
	pthread_mutex_unlock(&p->lock);
	for (unsigned int i = 0; i < p->started; i++) {
		const struct worker *w = &p->workers[i];

		pthread_join(w->thread, NULL);
		stats->work_ns += w->work_ns;
		stats->idle_ns += w->idle_ns;
		if (w->runq_ns < 0)
			stats->runq_ns = -1;
		else if (stats->runq_ns >= 0)
			stats->runq_ns += w->runq_ns;
	}
	pthread_cond_destroy(&p->ready);
	pthread_cond_destroy(&p->hashed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/*
 * Opens one more session. A TEE may open a session without having memory for its work: such a
 * session is closed again, unless it is the only one.
 */
static int add_session(struct run *r, const struct algorithm *alg)
{
	struct hash_session *s;
	struct error err = { 0 };
	int ret = session_open(&s, &r->settings.session, &r->shortage);

	if (ret)
		return ret;
	if (r->settings.jobs > 1 && session_is_starved(s, alg, &err) && r->opened) {
		session_close(s);
		r->shortage = err;
		return -ENOMEM;
	}
	r->sessions[r->opened++] = s;
	return 0;
}

static int open_sessions(struct run *r, const struct algorithm *alg, struct error *err)
{
	uint64_t begin = clock_now_ns();
	int ret = 0;

	r->stats.idle_ns += begin - r->turn_ns;
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
		ret = start_pool(r, err);
	r->turn_ns = clock_now_ns();
	r->stats.work_ns = r->turn_ns - r->stats.begin_ns;
	note_opened(&r->stats);
	return ret;
}

/* Works without threads: the calling thread hashes. */
static int work_alone(struct run *r, const struct work *work, struct message *m)
{
	struct run_stats *stats = &r->stats;
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
		return work_together(run->pool, work, &first);
	if (!ret)
		return work_alone(run, work, &first);
	first.ret = -EINTR;
	work->done(work->ctx, &first);
	return ret;
}

static void add_stats(struct session_stats *sum, const struct session_stats *s)
{
	if (!sum->sessions) {
		sum->slots = s->slots;
		/* These are the first session's: later openings in a process are faster. */
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

struct hash_session *run_complete(struct run *run)
{
	struct run_stats *stats = &run->stats;

	stats->end_ns = clock_now_ns();
	usage_read(&(struct usage_meter){ .schedstat_fd = -1 }, &stats->ended);
	if (run->pool) {
		stop_pool(run->pool, stats);
	} else {
		stats->idle_ns += stats->end_ns - run->turn_ns;
		stats->work_ns = stats->end_ns - stats->begin_ns;
	}
	run->pool = NULL;
	stats->workers = run->opened;
	for (unsigned int i = 0; i < run->opened; i++) {
		session_complete(run->sessions[i]);
		add_stats(&stats->sessions, &run->sessions[i]->stats);
	}
	if (!run->opened)
		return NULL;
	stats->chunk = session_call_max(run->sessions[0]);
	return run->sessions[0];
}

void run_end(struct run *run)
{
	uint64_t begin = clock_now_ns();

	while (run->opened)
		session_close(run->sessions[--run->opened]);
	run->stats.close_ns = clock_now_ns() - begin;
}
