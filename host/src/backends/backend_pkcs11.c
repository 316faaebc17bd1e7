/* SPDX-License-Identifier: BSD-2-Clause */
/* `pkcs11`: only the workload pkcs11 computes by it, which loads the module. */
#include "backend.h"

extern const struct backend backend_pkcs11;

static int pkcs11_open(struct session **session, struct error *err)
{
	(void)err;
	*session = NULL;
	return 0;
}

static void pkcs11_close(struct session *session)
{
	(void)session;
}

const struct backend backend_pkcs11 = {
	.name = "pkcs11",
	.title = "PKCS #11",
	.summary = "a PKCS #11 module: OP-TEE's libckteec, or --pkcs11-module",
	.probe = probe_always,
	.open = pkcs11_open,
	.close = pkcs11_close,
	.buffer_alloc = buffer_alloc_plain,
	.buffer_free = buffer_free_plain,
};
