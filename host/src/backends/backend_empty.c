/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backend `empty` does nothing, so its cases show the overhead of measuring. `pkcs11` does
 * nothing here, either: the workload of that name loads the PKCS #11 library and computes with it.
 */

#include "backend.h"

/* Makes `calls` empty rounds of the loop in which other backends do their work. */
static int empty_nop(struct session *session, uint32_t calls, struct error *err)
{
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
