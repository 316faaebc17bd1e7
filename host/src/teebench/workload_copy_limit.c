/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy-limit/memcpy/c/BYTES: the C library's memcpy(), which shows how fast data can be moved at
 * all; plots draw it as a limit.
 */

#include "workload.h"

static const char *const names[] = { "memcpy", NULL };

struct copy {
	struct buffer from, to;
};

static int copy_prepare(struct bench_case *c, struct error *err)
{
	struct copy *s = c->state;
	size_t bytes = (size_t)c->bytes;
	int ret = buffer_alloc(NULL, NULL, bytes, &s->from, err);

	if (!ret)
		ret = buffer_alloc(NULL, NULL, bytes, &s->to, err);
	if (ret)
		return ret;
	pool_message(s->from.data, bytes);
	memset(s->to.data, 0, bytes);
	c->result = s->to.data;
	c->want = s->from.data;
	c->want_bytes = bytes;
	return 0;
}

static int copy_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	const struct copy *s = c->state;

	for (uint32_t i = 0; i < loops; i++) {
		for (uint32_t k = 0; k < repeat; k++) {
			memcpy(s->to.data, s->from.data, s->from.size);
			/* Keeps the compiler from removing a copy that the next one repeats. */
			__asm__ volatile("" : : : "memory");
		}
	}
	return 0;
}

static void copy_teardown(struct bench_case *c)
{
	struct copy *s = c->state;

	buffer_free(NULL, NULL, &s->from);
	buffer_free(NULL, NULL, &s->to);
}

const struct workload workload_copy_limit = {
	.name = "copy-limit",
	.summary = "memcpy(): as fast as data move",
	.parameters = "BYTES",
	.names = names,
	.backend = "c",
	.least = 1,
	.most = 1 << 28,
	.repeats = true,
	.state_size = sizeof(struct copy),
	.prepare = copy_prepare,
	.run = copy_run,
	.teardown = copy_teardown,
};
