/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage.h"

const char *const storage_ops[] = {
	[STORAGE_CREATE] = "create", [STORAGE_OPEN] = "open",
	[STORAGE_READ] = "read",     [STORAGE_WRITE] = "write",
	[STORAGE_RENAME] = "rename", [STORAGE_TRUNCATE] = "truncate",
	[STORAGE_DELETE] = "delete", [STORAGE_OPEN_READ_CLOSE] = "open-read-close",
	[STORAGE_OPS] = NULL,
};

int storage_begin(struct bench_case *c, struct error *err)
{
	const struct store *const *store = stores;
	struct object *o = c->state;
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	while (strcmp((*store)->name, c->backend_name))
		store++;
	o->c = c;
	o->store = *store;
	o->op = (enum storage_op)c->name;
	o->bytes = (size_t)c->bytes;
	/* The name is made of the key: what a killed run leaves the next one removes. */
	for (const char *p = c->key; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3u;
	snprintf(o->name, sizeof(o->name), "teemark-%016llx", (unsigned long long)hash);
	o->data = malloc(o->bytes);
	/* The TEE reads an object to shared memory. */
	o->back = o->store->secure ? NULL : calloc(1, o->bytes);
	if (!o->data || (!o->back && !o->store->secure))
		return error_memory(err);
	pool_message(o->data, o->bytes);
	return 0;
}

void storage_end(struct object *o)
{
	free(o->data);
	if (o->store && !o->store->secure)
		free(o->back);
}

int storage_ready(void *state, uint32_t loops, struct error *err)
{
	struct object *o = state;
	const struct store *store = o->store;
	int ret;

	o->loops = loops;
	switch (o->op) {
	case STORAGE_CREATE:
		return store->forget(o, err);
	case STORAGE_OPEN:
	case STORAGE_OPEN_READ_CLOSE:
		return store->shut ? store->shut(o, err) : 0;
	case STORAGE_TRUNCATE:
	case STORAGE_DELETE:
		return store->make(o, loops, err);
	case STORAGE_READ:
	case STORAGE_WRITE:
	case STORAGE_RENAME:
	case STORAGE_OPS:
		break;
	}
	ret = store->hold ? store->hold(o, err) : 0;
	/* Others than before, so that not writing is seen. */
	for (size_t i = 0; o->op == STORAGE_WRITE && i < o->bytes; i++)
		o->data[i] ^= 0xff;
	return ret;
}

/* Returns -EBADMSG: the sentence says what is wrong with what the operation stored. */
static int wrong(struct error *err, const struct object *o, const char *what)
{
	return error_set(err, -EBADMSG, "%s an object of %zu bytes: %s", storage_ops[o->op],
			 o->bytes, what);
}

/* Checks that object i holds the first len of our bytes, and no more. */
static int holds(struct object *o, uint32_t i, size_t len, struct error *err)
{
	size_t got = 0;
	int ret;

	memset(o->back, 0, o->bytes);
	ret = o->store->read_back(o, i, &got, err);
	if (!ret && got != len)
		ret = wrong(err, o, "its size is another");
	if (!ret && memcmp(o->back, o->data, len))
		ret = wrong(err, o, "it does not hold what was stored");
	return ret;
}

int storage_check(void *state, struct error *err)
{
	struct object *o = state;
	bool many = o->op == STORAGE_CREATE || o->op == STORAGE_TRUNCATE;
	size_t len = o->op == STORAGE_TRUNCATE ? o->bytes / 2 : o->bytes;
	int ret = 0;

	if (o->op == STORAGE_READ || o->op == STORAGE_OPEN_READ_CLOSE) {
		/* The timed call has read this. */
		if (memcmp(o->back, o->data, o->bytes))
			ret = wrong(err, o, "other bytes than were stored");
		memset(o->back, 0, o->bytes);
	} else if (o->op == STORAGE_DELETE) {
		for (uint32_t i = 0; !ret && i < o->loops; i++)
			if (o->store->is_there(o, i, NULL) != -ENOENT)
				ret = wrong(err, o, "it is still there");
	} else {
		for (uint32_t i = 0; !ret && i < (many ? o->loops : 1); i++)
			ret = holds(o, i, len, err);
	}
	return ret;
}
