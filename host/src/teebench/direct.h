/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls through the kernel's own interface, without libteec: an empty call to the digest TA, and
 * the same call with one parameter too many, which the TEE's core refuses before it looks for a TA.
 * The difference between their times is the TA's share. Where the TEE doesn't accept teemark's TAs,
 * the session is with a pseudo TA of the TEE instead: the one that lists devices, which every
 * OP-TEE since 3.6 has. The pseudo TA refuses a command that it doesn't know.
 */
#pragma once

#include <tee_client_api.h>

#include "error.h"

struct direct;

/* UUID of OP-TEE's device.pta (pta_device.h there), and a number that none of its commands has. */
extern const TEEC_UUID pseudo_ta;
enum { PSEUDO_NO_COMMAND = 0x7ea };
#define PSEUDO_ANSWER \
	0xFFFF0009 /* TEE_ERROR_NOT_IMPLEMENTED; libteec's headers have no name for it */

enum direct_kind {
	DIRECT_EMPTY,   /* an empty call to the digest TA */
	DIRECT_REFUSED, /* a call that the TEE's core refuses, in a session with any TA */
	DIRECT_PSEUDO,  /* a call to the pseudo TA, which refuses it */
};

/*
 * Opens a session with the pseudo TA if `pseudo`, otherwise with the digest TA. err->skip is one of
 * tee_device_open()'s, or `no-pseudo-ta`.
 */
int direct_open(struct direct **direct, bool pseudo, struct error *err);
/* Closes the session; does nothing with NULL. */
void direct_close(struct direct *direct);

/*
 * Makes `times` calls. If a DIRECT_REFUSED call succeeds, or anything but the TEE's core refuses
 * it, the case is skipped as `not-refused`: this TEE or its driver handles the call differently.
 */
int direct_call(struct direct *direct, enum direct_kind kind, uint32_t times, struct error *err);
