/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the TEE's own clocks say that a message takes: it is hashed once more, in
 * a session of its own, between two questions for TEE_GetSystemTime() and
 * TEE_GetREETime(). Both tick in ms.
 */
#ifndef TEEHASH_TEE_CLOCKS_H
#define TEEHASH_TEE_CLOCKS_H

#include "run.h"

struct tee_clock {
	bool known;
	char reason[240]; /* why not */
	uint32_t ms;      /* that went by; 0: less than a tick */
};

struct tee_clocks {
	struct tee_clock ree;    /* TEE_GetREETime() */
	struct tee_clock system; /* TEE_GetSystemTime() */
};

/* hashed: the message, as it was hashed before with these settings. */
void tee_clocks_measure(struct tee_clocks *clocks,
			const struct run_settings *settings,
			const struct message *hashed);

#endif
