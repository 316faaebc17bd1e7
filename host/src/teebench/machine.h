/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts of this machine. What cannot be had is null, and "reasons" says
 * why.
 */
#pragma once

#include <stdbool.h>

#include "error.h"
#include "json.h"
#include "ta_counter.h"

/*
 * Adds the facts to an object that is open. counter: as it was found. health:
 * those besides that only doctors ask, for asking loads modules of the kernel.
 */
void machine_put(struct json *j, const struct ta_counter *counter, bool health);

/*
 * Adds "after": those that a run itself may have changed. Null is for the
 * reason that the machine record gave.
 */
void machine_put_after(struct json *j);

/* Prints the record (--machine). */
int machine_print(struct error *err);
