/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Store memory, the baseline for the other stores: an object is a char array on the heap. Creating
 * allocates and fills it, reading copies it, deleting frees it. The array has no name, and doesn't
 * outlive the program.
 */
#include <stdlib.h>

#include "storage.h"

static int forget(struct bench_case *c, uint32_t i, struct error *err)
{
	struct object *o = c->state;

	free(o->arrays[i]);
	o->arrays[i] = NULL;
	return 0;
}

static int allocate(struct object *o, uint32_t i, struct error *err)
{
	o->arrays[i] = malloc(o->bytes);
	if (!o->arrays[i])
		return error_memory(err);
	memcpy(o->arrays[i], o->data, o->bytes);
	return 0;
}

static int create(struct bench_case *c, uint32_t i, struct error *err)
{
	forget(c, i, err);
	return allocate(c->state, i, err);
}

static int read_back(struct bench_case *c, uint32_t i, size_t *len, struct error *err)
{
	struct object *o = c->state;

	if (!o->arrays[i])
		return -ENOENT;
	memcpy(o->back, o->arrays[i], o->bytes);
	*len = o->bytes;
	return 0;
}

/* Copies bytes; the asm keeps the compiler from removing a copy that nothing reads. */
static void copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" : : "r"(to) : "memory");
}

static int once(struct bench_case *c, uint32_t i, struct error *err)
{
	struct object *o = c->state;

	if (o->op == STORAGE_CREATE)
		return allocate(o, i, err);
	if (o->op == STORAGE_DELETE)
		return forget(c, i, err);
	if (o->op == STORAGE_WRITE)
		copy(o->arrays[0], o->data, o->bytes);
	else
		copy(o->back, o->arrays[0], o->bytes);
	return 0;
}

static int memory_open(struct bench_case *c, struct error *err)
{
	struct object *o = c->state;

	if (o->op == STORAGE_OPEN || o->op == STORAGE_RENAME || o->op == STORAGE_TRUNCATE)
		return error_skip(err, -EOPNOTSUPP, "no-step",
				  "an array in memory has no name to open or change, and keeps its "
				  "size");
	o->made = 1;
	return allocate(o, 0, err);
}

const struct store storage_memory = {
	.name = "memory",
	.title = "array in memory",
	.made_max = OBJECTS_MAX,
	.open = memory_open,
	.once = once,
	.create = create,
	.forget = forget,
	.read_back = read_back,
};
