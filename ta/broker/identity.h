/* SPDX-License-Identifier: BSD-2-Clause */
/* The enrolment key: a key pair on P-256 that never leaves the TEE. */
#ifndef IDENTITY_H
#define IDENTITY_H

#include "broker.h"

/* Gives the public half, X and Y; makes the key pair if there is none. */
TEE_Result identity_public(uint8_t point[TZ_POINT_BYTES]);

/*
 * Unwraps the key of that client (ta_broker.h says how it was wrapped).
 * TEE_ERROR_MAC_INVALID: for another client or another TA. A point that isn't
 * on the curve ends the instance: OP-TEE panics.
 */
TEE_Result identity_unwrap(const struct gcm_class *class, const struct text *id,
			   const uint8_t wrapped[TZ_WRAPPED_BYTES],
			   uint8_t key[TZ_KEY_BYTES]);

#endif
