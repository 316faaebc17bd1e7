/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the TEE's own clocks say that a message takes: it is hashed once more, in
 * a session of its own, between two questions for TEE_GetSystemTime() and
 * TEE_GetREETime(). Both tick in ms.
 */
#ifndef TEEHASH_TEE_CLOCKS_H
#define TEEHASH_TEE_CLOCKS_H

#include "stream.h"

struct tee_clocks {
	bool known;
	char reason[240];   /* why not */
	uint32_t system_ms; /* TEE_GetSystemTime() */
	uint32_t ree_ms;    /* TEE_GetREETime() */
};

void tee_clocks_measure(struct tee_clocks *clocks,
			const struct session_settings *session,
			const struct stream_settings *stream, const char *name,
			const struct algorithm *alg);

#endif
