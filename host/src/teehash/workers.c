/* SPDX-License-Identifier: BSD-2-Clause */
/* Several workers, each with an engine of its own; results keep their order. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "source.h"
#include "teehash.h"
#include "usage.h"
#include "workers.h"

#define TICK_NS     100000000 /* progress and signals are looked at */
#define LEAVE_TICKS 10        /* how long the interrupted wait for others */

enum job_state {
	JOB_FREE,
	JOB_READY,
	JOB_TAKEN,
	JOB_DONE,
};

struct pool;

struct worker {
	struct pool *pool;
	pthread_t thread;
	bool started;
	struct engine *engine;
	bool retired;             /* gave up for want of memory */
	struct engine_stats gone; /* of its engine then */
	uint64_t work_ns;
	uint64_t idle_ns;
	int64_t runq_ns;
};

/* A ring of jobs between the calling thread and the workers. */
struct pool {
	const struct jobs *jobs;
	pthread_mutex_t lock;
	pthread_cond_t ready;   /* for the workers: a job */
	pthread_cond_t settled; /* for the workers: another came or left */
	pthread_cond_t changed; /* for the calling thread */
	bool quit;
	unsigned int running;  /* workers that may still take jobs */
	unsigned int opening;  /* of these: have no session yet */
	unsigned int opened;   /* of these: have one and are to keep it */
	unsigned int leaving;  /* of these: are closing theirs */
	unsigned int released; /* sessions' memory that came back, ever */
	unsigned int failed;   /* that have no session */
	struct error err;      /* why */
	size_t head;           /* the oldest not yet handed to done() */
	size_t taken;          /* no job before it waits for a worker */
	size_t tail;           /* the next to be filled in */
	size_t common;         /* 1 + the last job that reads a common source */
	size_t size;
	struct worker *workers;
	enum job_state *states;
	struct common_source *sources;
	struct job *ring;
};

/* Does a job before it still have to read what this one reads? */
static bool has_to_wait(const struct pool *p, size_t index)
{
	const struct common_source *mine = &p->sources[index % p->size];

	for (size_t i = p->head; mine->is && i < index; i++)
		if (p->states[i % p->size] != JOB_DONE &&
		    source_same(&p->sources[i % p->size], mine))
			return true;
	return false;
}

static bool find_job(struct pool *p, size_t *index)
{
	while (p->taken < p->tail && p->states[p->taken % p->size] != JOB_READY)
		p->taken++;
	for (size_t i = p->taken; i < p->tail; i++) {
		if (p->states[i % p->size] == JOB_READY && !has_to_wait(p, i)) {
			*index = i;
			return true;
		}
	}
	return false;
}

static struct job *take_job(struct worker *w, size_t *index)
{
	struct pool *p = w->pool;
	uint64_t begin = clock_now_ns();
	struct job *job = NULL;

	pthread_mutex_lock(&p->lock);
	while (!p->quit && !find_job(p, index))
		pthread_cond_wait(&p->ready, &p->lock);
	if (!p->quit) {
		job = &p->ring[*index % p->size];
		p->states[*index % p->size] = JOB_TAKEN;
	}
	pthread_mutex_unlock(&p->lock);
	w->idle_ns += clock_now_ns() - begin;
	return job;
}

static void finish_job(struct pool *p, size_t index)
{
	pthread_mutex_lock(&p->lock);
	p->states[index % p->size] = JOB_DONE;
	pthread_cond_signal(&p->changed);
	if (p->sources[index % p->size].is)
		pthread_cond_broadcast(&p->ready);
	pthread_mutex_unlock(&p->lock);
}

static int open_engine(struct worker *w, const struct engine_config *config)
{
	struct pool *p = w->pool;
	struct error err = { 0 };
	int ret = engine_open(&w->engine, config, &err);

	pthread_mutex_lock(&p->lock);
	/* Those that opened side by side may have left no room for any. */
	if (ret == -ENOMEM && p->opening == 1 && !p->opened &&
	    p->jobs->workers > 1 && !p->quit) {
		pthread_mutex_unlock(&p->lock);
		memset(&err, 0, sizeof(err));
		ret = engine_open(&w->engine, config, &err);
		pthread_mutex_lock(&p->lock);
	}
	p->opening--;
	if (ret) {
		p->failed++;
		p->released++;
		p->err = err;
	} else {
		p->opened++;
	}
	pthread_cond_broadcast(&p->settled);
	pthread_mutex_unlock(&p->lock);
	return ret;
}

enum step {
	STEP_FINISH,
	STEP_AGAIN, /* others have given memory back meanwhile */
	STEP_LEAVE,
};

/*
 * When the TEE has no memory left for so many sessions, or gives none to
 * replace one that died, the worker gives its job back to the others and its
 * memory too. The last one stays, and tries again with the memory of those
 * that left or could not be opened.
 */
static enum step next_step(struct worker *w, const struct job *job,
			   unsigned int released)
{
	struct pool *p = w->pool;
	enum step step = STEP_FINISH;

	if (!(job->ret && error_tee_memory(&job->err)) &&
	    !engine_lost(w->engine))
		return step;
	pthread_mutex_lock(&p->lock);
	while (p->opened == 1 && (p->opening || p->leaving) && !p->quit)
		pthread_cond_wait(&p->settled, &p->lock);
	if (p->opened > 1) {
		p->opened--;
		p->leaving++;
		p->failed++;
		p->err = job->err;
		step = STEP_LEAVE;
	} else if (p->released != released && !job->stats.consumed &&
		   !p->quit) {
		step = STEP_AGAIN;
	}
	pthread_mutex_unlock(&p->lock);
	return step;
}

static void leave(struct worker *w)
{
	struct pool *p = w->pool;

	w->retired = true;
	engine_settle(w->engine);
	w->gone = *engine_stats(w->engine);
	engine_close(w->engine);
	w->engine = NULL;
	pthread_mutex_lock(&p->lock);
	p->leaving--;
	p->released++;
	pthread_cond_broadcast(&p->settled);
	pthread_mutex_unlock(&p->lock);
}

static void give_job_back(struct pool *p, size_t index)
{
	pthread_mutex_lock(&p->lock);
	p->states[index % p->size] = JOB_READY;
	if (p->taken > index)
		p->taken = index;
	pthread_cond_broadcast(&p->ready);
	pthread_mutex_unlock(&p->lock);
}

/* False when the worker has left. */
static bool work(struct worker *w, struct job *job, size_t index)
{
	struct pool *p = w->pool;
	unsigned int released;
	enum step step;

	do {
		pthread_mutex_lock(&p->lock);
		released = p->released;
		pthread_mutex_unlock(&p->lock);
		job_hash(w->engine, job);
		step = next_step(w, job, released);
	} while (step == STEP_AGAIN);
	if (step == STEP_LEAVE)
		leave(w);
	/* What came out of a pipe can't be read by another. */
	if (step == STEP_LEAVE && !job->stats.consumed)
		give_job_back(p, index);
	else
		finish_job(p, index);
	return step != STEP_LEAVE;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;
	struct engine_config config = p->jobs->config;
	uint64_t begin = clock_now_ns();
	struct usage_meter meter;
	struct usage before;
	struct usage after;
	struct job *job;
	size_t index = 0;

	config.progress = p->jobs->progress->on ? progress_add : NULL;
	config.progress_ctx = p->jobs->progress;
	usage_open(&meter);
	usage_read(&meter, &before);
	if (!open_engine(w, &config))
		while ((job = take_job(w, &index)) && work(w, job, index))
			;
	usage_read(&meter, &after);
	usage_close(&meter);
	w->runq_ns = before.runq_ns < 0 || after.runq_ns < 0 ?
			     -1 :
			     after.runq_ns - before.runq_ns;
	w->work_ns = clock_now_ns() - begin;
	pthread_mutex_lock(&p->lock);
	p->running--;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Workers get no signals: those are for the thread that prints. */
static int start_workers(struct pool *p, struct error *err)
{
	unsigned int started = 0;
	sigset_t all;
	sigset_t old;
	int ret = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_mutex_lock(&p->lock);
	for (; started < p->jobs->workers; started++) {
		struct worker *w = &p->workers[started];

		w->pool = p;
		ret = pthread_create(&w->thread, NULL, worker_main, w);
		if (ret)
			break;
		w->started = true;
	}
	p->running = started;
	p->opening = started;
	pthread_mutex_unlock(&p->lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!started)
		return error_set(err, -ret, "cannot start a thread: %s",
				 strerror(ret));
	return 0;
}

static void wait_tick(struct pool *p)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += TICK_NS;
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	pthread_cond_timedwait(&p->changed, &p->lock, &end);
}

/* 0 when the oldest job is done. Called and returns with the lock held. */
static int wait_for_head(struct pool *p, struct error *err)
{
	size_t place = p->head % p->size;

	while (p->states[place] != JOB_DONE) {
		if (interrupted())
			return -EINTR;
		if (!p->running) {
			*err = p->err;
			return p->err.code ? p->err.code : -EIO;
		}
		wait_tick(p);
		pthread_mutex_unlock(&p->lock);
		progress_draw(p->jobs->progress);
		pthread_mutex_lock(&p->lock);
	}
	return 0;
}

static bool common_is_read(struct pool *p)
{
	bool is;

	pthread_mutex_lock(&p->lock);
	is = p->common > p->head &&
	     p->states[(p->common - 1) % p->size] != JOB_DONE;
	pthread_mutex_unlock(&p->lock);
	return is;
}

/* Fills the ring as far as there is room. 0: no more jobs, 1: may be. */
static int feed(struct pool *p, struct error *err)
{
	const struct jobs *jobs = p->jobs;
	int ret;

	while (p->tail - p->head < p->size) {
		size_t place = p->tail % p->size;
		struct job *job = &p->ring[place];
		struct common_source source = { 0 };

		if (jobs->next_reads && common_is_read(p))
			return 1;
		memset(job, 0, sizeof(*job));
		ret = jobs->next(jobs->ctx, job);
		if (ret <= 0)
			return ret;
		if (!job->note && !p->workers[0].started) {
			ret = start_workers(p, err);
			if (ret)
				return ret;
		}
		if (!job->note)
			source_find_common(job->name, &source);
		pthread_mutex_lock(&p->lock);
		p->states[place] = job->note ? JOB_DONE : JOB_READY;
		p->sources[place] = source;
		p->tail++;
		if (source.is)
			p->common = p->tail;
		pthread_cond_signal(&p->ready);
		pthread_mutex_unlock(&p->lock);
	}
	return 1;
}

static int run_pool(struct pool *p, struct error *err)
{
	bool more = true;
	int ret;

	for (;;) {
		if (more) {
			ret = feed(p, err);
			if (ret < 0)
				return ret;
			more = ret;
		}
		if (p->head == p->tail)
			return 0;
		pthread_mutex_lock(&p->lock);
		ret = wait_for_head(p, err);
		pthread_mutex_unlock(&p->lock);
		if (!ret) {
			struct job *job = &p->ring[p->head % p->size];

			ret = job->ret == -EINTR ?
				      -EINTR :
				      p->jobs->done(p->jobs->ctx, job);
			job_free_name(job);
			pthread_mutex_lock(&p->lock);
			p->head++;
			pthread_mutex_unlock(&p->lock);
		}
		if (!ret && interrupted())
			ret = -EINTR;
		if (ret)
			return ret;
	}
}

static void stop_workers(struct pool *p, bool hurry)
{
	unsigned int ticks = 0;

	pthread_mutex_lock(&p->lock);
	p->quit = true;
	pthread_cond_broadcast(&p->ready);
	pthread_cond_broadcast(&p->settled);
	while (hurry && p->running && ticks++ < LEAVE_TICKS)
		wait_tick(p);
	/* One sits in a read that may never end. */
	if (hurry && p->running)
		interrupt_exit();
	pthread_mutex_unlock(&p->lock);
	for (unsigned int i = 0; i < p->jobs->workers; i++)
		if (p->workers[i].started)
			pthread_join(p->workers[i].thread, NULL);
}

static void account(struct pool *p, struct jobs_stats *stats)
{
	stats->runq_known = true;
	for (unsigned int i = 0; i < p->jobs->workers; i++) {
		const struct worker *w = &p->workers[i];

		if (!w->engine && !w->retired)
			continue;
		if (w->engine)
			engine_settle(w->engine);
		stats->workers++;
		stats->work_ns += w->work_ns;
		stats->idle_ns += w->idle_ns;
		if (w->runq_ns < 0)
			stats->runq_known = false;
		else
			stats->runq_ns += (uint64_t)w->runq_ns;
		jobs_add_engine(stats, w->retired ? &w->gone :
						    engine_stats(w->engine));
	}
}

static void close_engines(struct pool *p, bool after, struct jobs_stats *stats)
{
	const struct jobs *jobs = p->jobs;
	uint64_t begin;

	for (unsigned int i = 0; i < jobs->workers; i++) {
		struct worker *w = &p->workers[i];

		if (w->engine && after && jobs->after) {
			jobs->after(jobs->ctx, w->engine);
			after = false;
		}
		begin = clock_now_ns();
		engine_close(w->engine);
		stats->close_ns += clock_now_ns() - begin;
	}
}

static void pool_free(struct pool *p)
{
	if (!p)
		return;
	for (size_t i = p->head; p->ring && i < p->tail; i++)
		job_free_name(&p->ring[i % p->size]);
	free(p->workers);
	free(p->states);
	free(p->sources);
	free(p->ring);
	pthread_cond_destroy(&p->ready);
	pthread_cond_destroy(&p->settled);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static struct pool *pool_new(const struct jobs *jobs)
{
	struct pool *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;

	if (!p)
		return NULL;
	p->jobs = jobs;
	p->size = 4 * (size_t)jobs->workers;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->ready, NULL);
	pthread_cond_init(&p->settled, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	p->workers = calloc(jobs->workers, sizeof(*p->workers));
	p->states = calloc(p->size, sizeof(*p->states));
	p->sources = calloc(p->size, sizeof(*p->sources));
	p->ring = calloc(p->size, sizeof(*p->ring));
	if (!p->workers || !p->states || !p->sources || !p->ring) {
		pool_free(p);
		return NULL;
	}
	return p;
}

int jobs_run_parallel(const struct jobs *jobs, struct jobs_stats *stats,
		      struct error *err)
{
	struct pool *p = pool_new(jobs);
	int ret;

	if (!p)
		return error_set(err, -ENOMEM, "out of memory");
	ret = run_pool(p, err);
	stop_workers(p, ret == -EINTR);
	stats->end_ns = clock_now_ns();
	account(p, stats);
	/* When there is none at all, err says it. */
	if (p->failed && p->failed < jobs->workers) {
		progress_hide();
		complain("only %u of %u sessions could be kept open",
			 jobs->workers - p->failed, jobs->workers);
		complain_error(NULL, &p->err, NULL);
	}
	close_engines(p, !ret, stats);
	pool_free(p);
	return ret;
}
