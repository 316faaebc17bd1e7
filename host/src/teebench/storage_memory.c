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
	struct object o;
	uint8_t *made[ARRAYS_MAX]; /* NULL: deleted, or never created */
};

static int forget(struct object *o, struct error *err)
{
	struct arrays *a = (struct arrays *)o;

	(void)err;
	for (size_t i = 0; i < ARRAYS_MAX; i++) {
		free(a->made[i]);
		a->made[i] = NULL;
	}
	return 0;
}

static int create(struct arrays *a, uint32_t i, struct error *err)
{
	a->made[i] = malloc(a->o.bytes);
	if (!a->made[i])
		return error_memory(err);
	memcpy(a->made[i], a->o.data, a->o.bytes);
	return 0;
}

static int make(struct object *o, uint32_t count, struct error *err)
{
	int ret = forget(o, err);

	for (uint32_t i = 0; !ret && i < count; i++)
		ret = create((struct arrays *)o, i, err);
	return ret;
}

static int read_back(struct object *o, uint32_t i, size_t *len, struct error *err)
{
	(void)err;
	memcpy(o->back, ((struct arrays *)o)->made[i], o->bytes);
	*len = o->bytes;
	return 0;
}

static int is_there(struct object *o, uint32_t i, struct error *err)
{
	(void)err;
	return ((struct arrays *)o)->made[i] ? 0 : -ENOENT;
}

/* Copies; the compiler must not leave out a copy that nobody seems to read. */
static void copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" : : "r"(to) : "memory");
}

static int once(void *state, uint32_t i, struct error *err)
{
	struct arrays *a = state;

	if (a->o.op == STORAGE_CREATE)
		return create(a, i, err);
	if (a->o.op == STORAGE_WRITE) {
		copy(a->made[0], a->o.data, a->o.bytes);
	} else if (a->o.op == STORAGE_DELETE) {
		free(a->made[i]);
		a->made[i] = NULL;
	} else {
		copy(a->o.back, a->made[0], a->o.bytes);
	}
	return 0;
}

static void memory_teardown(void *state)
{
	struct arrays *a = state;

	forget(&a->o, NULL);
	storage_end(&a->o);
}

static int memory_prepare(struct bench_case *c, struct error *err)
{
	int ret;

	if (c->name == STORAGE_OPEN || c->name == STORAGE_RENAME || c->name == STORAGE_TRUNCATE)
		return error_skip(err, -EOPNOTSUPP, "no-step",
				  "an array in memory has no name to open or change, and keeps its "
				  "size");
	ret = storage_begin(c, err);
	return ret ? ret : create(c->state, 0, err);
}

static const struct workload memory_workload = {
	.state_size = sizeof(struct arrays),
	.prepare = memory_prepare,
	.ready = storage_ready,
	.once = once,
	.verify = storage_check,
	.check = storage_check,
	.teardown = memory_teardown,
};

const struct store storage_memory = {
	.name = "memory",
	.title = "array in memory",
	.made_max = ARRAYS_MAX,
	.workload = &memory_workload,
	.forget = forget,
	.make = make,
	.read_back = read_back,
	.is_there = is_there,
};
