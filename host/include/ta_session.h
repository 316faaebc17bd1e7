/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions with this project's Trusted Applications. */
#pragma once

#include "tee_client.h"

struct ta_name {
	TEEC_UUID uuid;
	const char *name; /* name in messages: "bench TA" */
	/* Command that writes the TA's version to [0].a and another figure to [0].b. */
	uint32_t info_command;
	uint32_t abi;
};

extern const struct ta_name ta_digest_name, ta_bench_name;

/*
 * Opens a session and checks the TA's version: -EPROTO with err->skip "ta-version" if it differs.
 * Sets *more to the info command's [0].b. *tee is NULL after a failure.
 */
int ta_session_open(const struct ta_name *ta, struct tee_session **tee, uint32_t *more,
		    struct error *err);
