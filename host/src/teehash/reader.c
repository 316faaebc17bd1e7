// SPDX-License-Identifier: BSD-2-Clause
/*
 * The reader thread. Two semaphores count the slots that are free and those
 * that are filled, so that a side which need not wait makes no system call;
 * and sem_wait() returns when a signal arrives, which a condition variable
 * doesn't.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "teehash.h"
#include "usage.h"

#define SLOTS_MAX   4
#define STACK_BYTES (64u << 10)

struct slot {
	size_t len;
	bool eof;
	int ret;
};

struct reader {
	pthread_t thread;
	sem_t work; /* a message is waiting, or quit */
	sem_t idle; /* the message is done with */
	sem_t empty;
	sem_t filled;
	atomic_bool stop;
	bool quit;
	bool busy; /* of the user's side */
	struct source *source;
	uint8_t *base;
	size_t chunk;
	unsigned int slots;
	unsigned int first; /* slot of the next message's first piece */
	unsigned int next;  /* slot that the user takes next */
	struct slot slot[SLOTS_MAX];
	uint64_t runq_ns;
};

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

static void read_message(struct reader *r)
{
	unsigned int i = r->first;

	for (;;) {
		struct slot *slot = &r->slot[i];

		wait_for(&r->empty);
		if (atomic_load(&r->stop))
			return;
		slot->ret = source_fill(r->source, r->base + i * r->chunk,
					r->chunk, &slot->len, &slot->eof);
		sem_post(&r->filled);
		if (slot->ret || slot->eof)
			return;
		i = (i + 1) % r->slots;
	}
}

static void *reader_main(void *arg)
{
	struct usage_meter meter;
	struct usage before;
	struct usage now;
	struct reader *r = arg;

	usage_open(&meter);
	usage_read(&meter, &before);
	for (;;) {
		wait_for(&r->work);
		if (r->quit)
			break;
		read_message(r);
		usage_read(&meter, &now);
		if (now.runq_ns >= 0 && before.runq_ns >= 0)
			r->runq_ns = (uint64_t)(now.runq_ns - before.runq_ns);
		sem_post(&r->idle);
	}
	usage_close(&meter);
	return NULL;
}

int reader_create(struct reader **reader, uint8_t *base, size_t chunk,
		  unsigned int slots, struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	pthread_attr_t attr;
	sigset_t all;
	sigset_t old;
	int ret;

	*reader = NULL;
	if (!r || slots > SLOTS_MAX) {
		free(r);
		return error_set(err, -ENOMEM, "out of memory");
	}
	r->base = base;
	r->chunk = chunk;
	r->slots = slots;
	sem_init(&r->work, 0, 0);
	sem_init(&r->idle, 0, 0);
	sem_init(&r->empty, 0, 0);
	sem_init(&r->filled, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* Signals are for the thread that prints. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&r->thread, &attr, reader_main, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (ret) {
		free(r);
		return error_set(err, -ret, "cannot start a reader thread: %s",
				 strerror(ret));
	}
	*reader = r;
	return 0;
}

void reader_destroy(struct reader *reader)
{
	if (!reader)
		return;
	reader_stop(reader);
	reader->quit = true;
	sem_post(&reader->work);
	pthread_join(reader->thread, NULL);
	sem_destroy(&reader->work);
	sem_destroy(&reader->idle);
	sem_destroy(&reader->empty);
	sem_destroy(&reader->filled);
	free(reader);
}

uint64_t reader_runq_ns(const struct reader *reader)
{
	return reader->runq_ns;
}

void reader_start(struct reader *reader, struct source *source,
		  unsigned int first)
{
	/* Both are left over from a message that was given up. */
	while (!sem_trywait(&reader->empty))
		;
	while (!sem_trywait(&reader->filled))
		;
	reader->source = source;
	reader->first = first;
	reader->next = first;
	reader->busy = true;
	atomic_store(&reader->stop, false);
	for (unsigned int i = first; i < reader->slots; i++)
		sem_post(&reader->empty);
	sem_post(&reader->work);
}

int reader_next(struct reader *reader, unsigned int *slot, size_t *len,
		bool *eof)
{
	const struct slot *s = &reader->slot[reader->next];

	while (sem_wait(&reader->filled))
		if (interrupted())
			return -EINTR;
	*slot = reader->next;
	*len = s->len;
	*eof = s->eof;
	reader->next = (reader->next + 1) % reader->slots;
	return s->ret;
}

void reader_release(struct reader *reader)
{
	sem_post(&reader->empty);
}

void reader_stop(struct reader *reader)
{
	if (!reader->busy)
		return;
	atomic_store(&reader->stop, true);
	sem_post(&reader->empty);
	wait_for(&reader->idle);
	reader->busy = false;
}
