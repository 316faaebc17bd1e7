/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader.h"
#include "stop.h"
#include "usage.h"

static void *reader_main(void *arg)
{
	struct reader *r = arg;
	bool over = false;

	for (unsigned int i = 1; !over; i = (i + 1) % READER_SLOTS) {
		while (sem_wait(&r->empty) && errno == EINTR)
			;
		if (atomic_load(&r->source->given_up))
			break;
		source_fill(r->source, r->base + i * r->slot_bytes, r->slot_bytes, &r->slot[i].len,
			    &r->slot[i].eof, &r->slot[i].err);
		over = r->slot[i].err.code || r->slot[i].eof;
		sem_post(&r->filled);
	}
	r->runq_ns = usage_thread_runq_ns();
	return NULL;
}

int reader_start(struct reader *r, struct source *source, uint8_t *base, size_t slot_bytes,
		 struct error *err)
{
	int ret;

	*r = (struct reader){ .source = source, .base = base, .slot_bytes = slot_bytes, .next = 1 };
	sem_init(&r->empty, 0, READER_SLOTS - 1);
	sem_init(&r->filled, 0, 0);
	ret = thread_start(&r->thread, reader_main, r);
	return ret ? error_set(err, -ret, "cannot start a reader thread: %s", strerror(ret)) : 0;
}

int reader_next(struct reader *r, unsigned int *slot, size_t *len, bool *eof, struct error *err)
{
	sem_post(&r->empty);
	while (sem_wait(&r->filled))
		if (stop_asked())
			return error_set(err, -EINTR, "interrupted");
	*slot = r->next;
	*len = r->slot[*slot].len;
	*eof = r->slot[*slot].eof;
	r->next = (r->next + 1) % READER_SLOTS;
	if (r->slot[*slot].err.code)
		*err = r->slot[*slot].err;
	return r->slot[*slot].err.code;
}

void reader_stop(struct reader *r)
{
	atomic_store(&r->source->given_up, true);
	sem_post(&r->empty);
	pthread_join(r->thread, NULL);
	sem_destroy(&r->empty);
	sem_destroy(&r->filled);
}
