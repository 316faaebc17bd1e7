/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An empty call to the digest TA by the kernel's own interface, without
 * libteec, and the same call with one parameter more than a call may have:
 * the TEE's core refuses that before it looks for a TA. What the one takes
 * more than the other is the TA's.
 */
#ifndef DIRECT_H
#define DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

struct direct;

/* Opens a session of its own. err->skip is one of tee_device_open()'s. */
int direct_open(struct direct **direct, struct error *err);
/* Accepts NULL. */
void direct_close(struct direct *direct);

/*
 * Makes so many calls. If a call that is to be refused succeeds, or isn't refused by the TEE's core
 * for its parameters, the case is a skip `not-refused`: this TEE or its driver is another.
 */
int direct_call(struct direct *direct, bool refused, uint32_t times, struct error *err);

#endif
