/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `empty`: does nothing, to find what measuring itself costs. teebench's own,
 * for it computes nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "backend.h"

struct session {
	char nothing;
};

static int empty_probe(struct error *err)
{
	(void)err;
	return 0;
}

static int empty_open(struct session **session, struct error *err)
{
	*session = calloc(1, sizeof(**session));
	return *session ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static void empty_close(struct session *session)
{
	free(session);
}

static int empty_supports(struct session *session, const struct algorithm *alg,
			  struct error *err)
{
	(void)session;
	return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
			  "backend empty does nothing, so it has no %s",
			  alg->title);
}

/* The same loop as around the work of a backend that does some. */
static int empty_nop(struct session *session, uint32_t calls, struct error *err)
{
	(void)session;
	(void)err;

	for (uint32_t i = 0; i < calls; i++)
		__asm__ volatile("" : : : "memory");
	return 0;
}

extern const struct backend backend_empty;

const struct backend backend_empty = {
	.name = "empty",
	.summary = "nothing: what measuring itself costs",
	.probe = empty_probe,
	.open = empty_open,
	.close = empty_close,
	.supports = empty_supports,
	.buffer_alloc = buffer_alloc_plain,
	.buffer_free = buffer_free_plain,
	.nop = empty_nop,
};
