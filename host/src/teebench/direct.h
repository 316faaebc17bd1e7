/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An empty call to the digest TA by the kernel's own interface, without
 * libteec, and the same call with one parameter more than a call may have:
 * the TEE's core refuses that before it looks for a TA. What the one takes
 * more than the other is the TA's. A TEE that takes nobody's TAs has a session
 * with its own pseudo TA instead, which lists devices, and which every OP-TEE
 * since 3.6 has: it refuses a command that it doesn't know.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <tee_client_api.h>

#include "error.h"

struct direct;

/* device.pta of OP-TEE (pta_device.h there); no command of it has this number. */
extern const TEEC_UUID pseudo_ta;
enum { PSEUDO_NO_COMMAND = 0x7ea };
#define PSEUDO_ANSWER \
	0xFFFF0009 /* TEE_ERROR_NOT_IMPLEMENTED; libteec's headers have no name for it */

enum direct_kind {
	DIRECT_EMPTY,   /* to the digest TA */
	DIRECT_REFUSED, /* by the TEE's core; a session with either of them will do */
	DIRECT_PSEUDO,  /* to the pseudo TA */
};

/*
 * Opens a session of its own, with the pseudo TA or the digest TA. err->skip is one of
 * tee_device_open()'s, or `no-pseudo-ta`.
 */
int direct_open(struct direct **direct, bool pseudo, struct error *err);
/* Closes the session; does nothing with NULL. */
void direct_close(struct direct *direct);

/*
 * Makes `times` calls. If a call that is to be refused succeeds, or isn't refused by the TEE's core
 * for its parameters, the case is a skip `not-refused`: this TEE or its driver is another.
 */
int direct_call(struct direct *direct, enum direct_kind kind, uint32_t times, struct error *err);
