/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory: an object is a char array on the heap. Creating allocates and fills
 * it, reading copies it, deleting frees it; it has no name, and nothing of it
 * outlives the program. What the other storages are compared with.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage.h"

/* Arrays that are made beforehand for as many calls. */
enum { ARRAYS_MAX = 64 };

struct arrays {
	struct storage_job job;
	uint8_t *made[ARRAYS_MAX]; /* NULL: deleted, or never created */
	uint8_t *data, *back;
	uint32_t loops; /* of the last run */
};

static void delete_all(struct arrays *a)
{
	for (size_t i = 0; i < ARRAYS_MAX; i++) {
		free(a->made[i]);
		a->made[i] = NULL;
	}
}

static int create(struct arrays *a, uint32_t i, struct error *err)
{
	a->made[i] = malloc(a->job.bytes);
	if (!a->made[i])
		return error_set(err, -ENOMEM, "out of memory");
	memcpy(a->made[i], a->data, a->job.bytes);
	return 0;
}

static int memory_ready(void *state, uint32_t loops, struct error *err)
{
	struct arrays *a = state;
	int ret = 0;

	a->loops = loops;
	if (a->job.op == STORAGE_CREATE || a->job.op == STORAGE_DELETE)
		delete_all(a);
	if (a->job.op == STORAGE_DELETE)
		for (uint32_t i = 0; !ret && i < loops; i++)
			ret = create(a, i, err);
	/* Others than before, so that not writing is seen. */
	if (a->job.op == STORAGE_WRITE)
		for (size_t i = 0; i < a->job.bytes; i++)
			a->data[i] ^= 0xff;
	return ret;
}

/* The compiler must not leave out a copy that nobody seems to read. */
static void copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" : : "r"(to) : "memory");
}

static int memory_run(void *state, uint32_t loops, uint32_t repeat,
		      struct error *err)
{
	struct arrays *a = state;
	int ret = 0;

	(void)repeat;
	for (uint32_t i = 0; !ret && i < loops; i++) {
		if (a->job.op == STORAGE_CREATE) {
			ret = create(a, i, err);
		} else if (a->job.op == STORAGE_WRITE) {
			copy(a->made[0], a->data, a->job.bytes);
		} else if (a->job.op == STORAGE_DELETE) {
			free(a->made[i]);
			a->made[i] = NULL;
		} else {
			copy(a->back, a->made[0], a->job.bytes);
		}
	}
	return ret;
}

static int memory_check(void *state, struct error *err)
{
	struct arrays *a = state;
	uint32_t first = a->job.op == STORAGE_CREATE ? a->loops : 1;
	bool differs = false;

	if (a->job.op == STORAGE_DELETE) {
		for (size_t i = 0; i < ARRAYS_MAX; i++)
			differs |= a->made[i] != NULL;
		return differs ? storage_wrong(err, &a->job,
					       "it is still there") :
				 0;
	}
	if (a->job.op == STORAGE_CREATE || a->job.op == STORAGE_WRITE) {
		for (uint32_t i = 0; i < first; i++)
			differs |= memcmp(a->made[i], a->data, a->job.bytes);
		return differs ?
			       storage_wrong(err, &a->job,
					     "it does not hold what was stored") :
			       0;
	}
	differs = memcmp(a->back, a->data, a->job.bytes);
	memset(a->back, 0, a->job.bytes);
	return differs ? storage_wrong(err, &a->job,
				       "other bytes than were stored") :
			 0;
}

static void memory_teardown(void *state)
{
	struct arrays *a = state;

	delete_all(a);
	free(a->data);
	free(a->back);
}

static const char *memory_lacks(enum storage_op op)
{
	return op == STORAGE_OPEN || op == STORAGE_RENAME ||
			       op == STORAGE_TRUNCATE ?
		       "an array in memory has no name to open or change, and "
		       "keeps its size" :
		       NULL;
}

static int memory_prepare(struct bench_case *c, struct pool *pool,
			  struct error *err)
{
	struct arrays *a = c->state;
	const char *lacks;

	(void)pool;
	storage_job_of(c, &a->job);
	lacks = memory_lacks(a->job.op);
	if (lacks)
		return error_skip(err, -EOPNOTSUPP, "no-step", "%s", lacks);
	a->data = malloc(a->job.bytes);
	a->back = calloc(1, a->job.bytes);
	if (!a->data || !a->back)
		return error_set(err, -ENOMEM, "out of memory");
	pool_message(a->data, a->job.bytes);
	return create(a, 0, err);
}

static int memory_probe(struct pool *pool, struct error *err)
{
	(void)pool;
	(void)err;
	return 0;
}

static const struct workload memory_workload = {
	.name = "storage",
	.state_size = sizeof(struct arrays),
	.prepare = memory_prepare,
	.ready = memory_ready,
	.run = memory_run,
	.verify = memory_check,
	.check = memory_check,
	.teardown = memory_teardown,
};

extern const struct store storage_memory;

const struct store storage_memory = {
	.name = "memory",
	.title = "array in memory",
	.made_max = ARRAYS_MAX,
	.probe = memory_probe,
	.lacks = memory_lacks,
	.workload = &memory_workload,
};
