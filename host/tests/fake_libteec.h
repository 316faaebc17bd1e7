/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include <tee_client_api.h>

struct fake_libteec {
	/* to be returned */
	uint32_t initialize, open, invoke, allocate, origin;
	volatile int hang; /* TEEC_OpenSession() does not return meanwhile */
	atomic_uint opens; /* how often it has let go of its caller */
	/* who answers calls, NULL: nobody but `invoke` */
	TEEC_Result (*answer)(uint32_t command, TEEC_Operation *operation);
	/* open now */
	int contexts, sessions;
};
