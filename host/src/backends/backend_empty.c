/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backend `empty` does nothing: a case of it costs what measuring costs. `pkcs11` does nothing
 * here, either: only the workload of that name computes by it, and loads it.
 */

#include "backend.h"

/* Opens a session without state: any pointer but NULL is one. */
static int empty_open(struct session **session, const struct backend *self, enum backend_use use,
		      struct error *err)
{
	static char nothing;

	(void)self;
	(void)use;
	(void)err;
	*session = (struct session *)&nothing;
	return 0;
}

static void empty_close(struct session *session)
{
	(void)session;
}

/* Repeats nothing, in the loop that other backends have around their work. */
static int empty_nop(struct session *session, uint32_t calls, struct error *err)
{
	(void)session;
	(void)err;

	for (uint32_t i = 0; i < calls; i++)
		__asm__ volatile("" : : : "memory");
	return 0;
}

#define NO_WORK                                                               \
	.probe = probe_always, .uses = 1u << USE_DIGESTS, .open = empty_open, \
	.close = empty_close, .buffer_alloc = buffer_alloc_plain, .buffer_free = buffer_free_plain

const struct backend backend_empty = {
	.name = "empty",
	.title = "nothing: measuring itself",
	.summary = "nothing: what measuring itself costs",
	.local = true,
	NO_WORK,
	.nop = empty_nop,
};

const struct backend backend_pkcs11 = {
	.name = "pkcs11",
	.title = "PKCS #11",
	.summary = "a PKCS #11 module: OP-TEE's libckteec, or --pkcs11-module",
	NO_WORK,
};
