/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions with this project's Trusted Applications. */
#pragma once

#include "tee_client.h"

struct ta_name {
	TEEC_UUID uuid;
	const char *name; /* for messages: "bench TA" */
	/* The command that tells version (value a of [0]) and more (b). */
	uint32_t info_command;
	uint32_t abi;
};

extern const struct ta_name ta_digest_name, ta_bench_name;

/*
 * Opens a session and compares versions: -EPROTO and a skip `ta-version` if the TA speaks another
 * one. *more is what else the command tells. *tee is NULL after a failure.
 */
int ta_session_open(const struct ta_name *ta, struct tee_session **tee, uint32_t *more,
		    struct error *err);
