/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backend `empty` does nothing: a case of it costs what measuring costs. `pkcs11` does nothing
 * here, either: only the workload of that name computes by it, and loads it.
 */

#include "backend.h"

/* Repeats nothing, in the loop that other backends have around their work. */
static int empty_nop(struct session *session, uint32_t calls, struct error *err)
{
	(void)session;
	(void)err;

	for (uint32_t i = 0; i < calls; i++)
		__asm__ volatile("" : : : "memory");
	return 0;
}

const struct backend backend_empty = {
	.name = "empty",
	.title = "nothing: measuring itself",
	.summary = "nothing: what measuring itself costs",
	.local = true,
	.uses = 1u << USE_DIGESTS,
	.session_bytes = 1,
	.nop = empty_nop,
};

const struct backend backend_pkcs11 = {
	.name = "pkcs11",
	.title = "PKCS #11",
	.summary = "a PKCS #11 module: OP-TEE's libckteec, or --pkcs11-module",
	.uses = 1u << USE_DIGESTS,
	.session_bytes = 1,
};
