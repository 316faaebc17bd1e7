// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "pool.h"
#include "stop.h"
#include "usage.h"

struct worker {
	struct pool *pool;
	pthread_t thread;
	struct hash_session *session;
	struct pool_stats stats;
};

/* A message's place in the ring. */
struct place {
	struct message m;
	bool hashed;
};

/*
 * A ring of messages between the calling thread and the workers: head is the
 * oldest, from taken on none has a worker yet, tail is the next to be filled.
 */
struct pool {
	const struct stream_settings *settings;
	pthread_mutex_t lock;
	pthread_cond_t ready;  /* for the workers: a message, or over */
	pthread_cond_t hashed; /* for the calling thread */
	bool over;
	size_t head;
	size_t taken;
	size_t tail;
	size_t size;
	struct place *ring;
	unsigned int count;
	struct worker workers[];
};

static struct place *place_at(const struct pool *p, size_t index)
{
	return &p->ring[index % p->size];
}

/* Waits for a message. Returns NULL when there will be no more. */
static struct place *take(struct worker *w)
{
	struct pool *p = w->pool;
	uint64_t begin = clock_now_ns();
	struct place *place = NULL;

	pthread_mutex_lock(&p->lock);
	while (p->taken == p->tail && !p->over)
		pthread_cond_wait(&p->ready, &p->lock);
	if (p->taken < p->tail)
		place = place_at(p, p->taken++);
	pthread_mutex_unlock(&p->lock);
	w->stats.idle_ns += clock_now_ns() - begin;
	return place;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;
	uint64_t begin = clock_now_ns();
	struct usage_meter meter;
	struct usage before;
	struct usage after;
	struct place *place;

	usage_open(&meter);
	usage_read(&meter, &before);
	while ((place = take(w))) {
		stream_hash(w->session, p->settings, &place->m);
		pthread_mutex_lock(&p->lock);
		place->hashed = true;
		pthread_cond_signal(&p->hashed);
		pthread_mutex_unlock(&p->lock);
	}
	usage_read(&meter, &after);
	usage_close(&meter);
	w->stats.runq_ns = usage_between(&before, &after).runq_ns;
	w->stats.work_ns = clock_now_ns() - begin;
	return NULL;
}

static void free_pool(struct pool *p)
{
	pthread_cond_destroy(&p->ready);
	pthread_cond_destroy(&p->hashed);
	pthread_mutex_destroy(&p->lock);
	free(p->ring);
	free(p);
}

int pool_start(struct pool **pool, struct hash_session *const *sessions,
	       unsigned int count, const struct stream_settings *settings,
	       struct error *err)
{
	struct pool *p = calloc(1, sizeof(*p) + count * sizeof(*p->workers));
	sigset_t all;
	sigset_t old;
	int ret = 0;

	*pool = NULL;
	if (!p)
		return error_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->ready, NULL);
	pthread_cond_init(&p->hashed, NULL);
	p->settings = settings;
	p->size = 4 * (size_t)count;
	p->ring = calloc(p->size, sizeof(*p->ring));
	if (!p->ring) {
		free_pool(p);
		return error_set(err, -ENOMEM, "out of memory");
	}
	/* Signals are for the thread that prints. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (p->count < count && !ret) {
		struct worker *w = &p->workers[p->count];

		w->pool = p;
		w->session = sessions[p->count];
		ret = pthread_create(&w->thread, NULL, worker_main, w);
		p->count += !ret;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!p->count) {
		free_pool(p);
		return error_set(err, -ret, "cannot start a thread: %s",
				 strerror(ret));
	}
	*pool = p;
	return 0;
}

static void add(struct pool *p, const struct message *m)
{
	struct place *place = place_at(p, p->tail);

	place->m = *m;
	place->hashed = false;
	pthread_mutex_lock(&p->lock);
	p->tail++;
	pthread_cond_signal(&p->ready);
	pthread_mutex_unlock(&p->lock);
}

/* Waits until the oldest message is hashed. */
static struct message *wait_for_oldest(struct pool *p)
{
	struct place *place = place_at(p, p->head);

	pthread_mutex_lock(&p->lock);
	while (!place->hashed)
		pthread_cond_wait(&p->hashed, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return &place->m;
}

int pool_run(struct pool *p, const struct work *work,
	     const struct message *first)
{
	struct message m;
	int more = 1;
	int failed = 0;

	add(p, first);
	for (; p->head < p->tail; p->head++) {
		struct message *oldest;
		int ret;

		while (more > 0 && p->tail - p->head < p->size) {
			memset(&m, 0, sizeof(m));
			more = stop_asked() ? -EINTR :
					      work->next(work->ctx, &m);
			if (more > 0)
				add(p, &m);
		}
		oldest = wait_for_oldest(p);
		if (failed)
			oldest->ret = -EINTR;
		ret = work->done(work->ctx, oldest);
		if (ret && !failed) {
			failed = ret;
			stop_for(STOP_FAILURE); /* for what is under way */
		}
	}
	return failed ? failed : more;
}

void pool_stop(struct pool *pool, struct pool_stats *stats)
{
	struct pool *p = pool;

	pthread_mutex_lock(&p->lock);
	p->over = true;
	pthread_cond_broadcast(&p->ready);
	pthread_mutex_unlock(&p->lock);
	for (unsigned int i = 0; i < p->count; i++) {
		const struct worker *w = &p->workers[i];

		pthread_join(w->thread, NULL);
		stats->work_ns += w->stats.work_ns;
		stats->idle_ns += w->stats.idle_ns;
		if (w->stats.runq_ns < 0)
			stats->runq_ns = -1;
		else if (stats->runq_ns >= 0)
			stats->runq_ns += w->stats.runq_ns;
	}
	free_pool(p);
}
