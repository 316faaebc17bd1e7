// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two semaphores count the slots that are free and those that are filled, so
 * that a side which need not wait makes no system call; and sem_wait() returns
 * when a signal arrives, which a condition variable doesn't.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "stop.h"
#include "thread.h"
#include "usage.h"

struct slot {
	size_t len;
	bool eof;
	int ret;
};

struct reader {
	pthread_t thread;
	sem_t work; /* a message is waiting; or none ever, if quit */
	sem_t idle; /* the message is done with */
	sem_t empty;
	sem_t filled;
	bool quit;
	struct source *source;
	uint8_t *base;
	size_t chunk;
	unsigned int next; /* slot that the user takes next */
	struct slot slot[READER_SLOTS];
	int64_t runq_ns;
};

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

static void read_message(struct reader *r)
{
	unsigned int i = 1;

	for (;;) {
		struct slot *slot = &r->slot[i];

		wait_for(&r->empty);
		if (atomic_load(&r->source->given_up))
			return;
		slot->ret = source_fill(r->source, r->base + i * r->chunk,
					r->chunk, &slot->len, &slot->eof);
		sem_post(&r->filled);
		if (slot->ret || slot->eof)
			return;
		i = (i + 1) % READER_SLOTS;
	}
}

static void *reader_main(void *arg)
{
	struct reader *r = arg;

	for (;;) {
		wait_for(&r->work);
		if (r->quit)
			break;
		read_message(r);
		sem_post(&r->idle);
	}
	r->runq_ns = usage_thread_runq_ns();
	return NULL;
}

int reader_create(struct reader **reader, uint8_t *base, size_t chunk,
		  struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int ret;

	*reader = NULL;
	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->base = base;
	r->chunk = chunk;
	sem_init(&r->work, 0, 0);
	sem_init(&r->idle, 0, 0);
	sem_init(&r->empty, 0, 0);
	sem_init(&r->filled, 0, 0);
	ret = thread_start(&r->thread, reader_main, r);
	if (ret) {
		free(r);
		return error_set(err, -ret, "cannot start a reader thread: %s",
				 strerror(ret));
	}
	*reader = r;
	return 0;
}

uint64_t reader_destroy(struct reader *reader)
{
	int64_t runq_ns;

	if (!reader)
		return 0;
	reader->quit = true;
	sem_post(&reader->work);
	pthread_join(reader->thread, NULL);
	sem_destroy(&reader->work);
	sem_destroy(&reader->idle);
	sem_destroy(&reader->empty);
	sem_destroy(&reader->filled);
	runq_ns = reader->runq_ns;
	free(reader);
	return runq_ns > 0 ? (uint64_t)runq_ns : 0;
}

void reader_start(struct reader *reader, struct source *source)
{
	/* Both may be left over from a message that was given up. */
	while (!sem_trywait(&reader->empty))
		;
	while (!sem_trywait(&reader->filled))
		;
	reader->source = source;
	reader->next = 1;
	for (unsigned int i = 1; i < READER_SLOTS; i++)
		sem_post(&reader->empty);
	sem_post(&reader->work);
}

int reader_next(struct reader *reader, unsigned int *slot, size_t *len,
		bool *eof)
{
	const struct slot *s = &reader->slot[reader->next];

	sem_post(&reader->empty);
	while (sem_wait(&reader->filled))
		if (stop_asked())
			return -EINTR;
	*slot = reader->next;
	*len = s->len;
	*eof = s->eof;
	reader->next = (reader->next + 1) % READER_SLOTS;
	return s->ret;
}

void reader_stop(struct reader *reader)
{
	atomic_store(&reader->source->given_up, true);
	sem_post(&reader->empty);
	wait_for(&reader->idle);
}
