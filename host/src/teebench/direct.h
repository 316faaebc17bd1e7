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

/* A session of its own. err->skip: those of tee_device_open(). */
int direct_open(struct direct **direct, struct error *err);
/* NULL is allowed. */
void direct_close(struct direct *direct);

/*
 * So many calls. A refused one that succeeds, or that another than the TEE's core
 * refuses for its parameters, is a skip `not-refused`: the TEE or its driver is
 * another.
 */
int direct_call(struct direct *direct, bool refused, uint32_t times, struct error *err);

#endif
