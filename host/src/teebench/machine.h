/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts of this machine. A fact that can't be found out is null, and "reasons" says why. */
#pragma once

#include "json.h"
#include "ta_counter.h"

/*
 * Adds the facts to an open JSON object. `counter` is ta_counter_find()'s result. `health` adds the
 * facts of facts_health.c, which runs leave out, since collecting them loads kernel modules.
 */
void machine_put(struct json *j, const struct ta_counter *counter, bool health);

/*
 * Adds "after": the facts that a run itself may have changed. If one is null, the machine record
 * has the reason.
 */
void machine_put_after(struct json *j);

/* Prints the machine record, one JSON object (--machine). */
int machine_print(struct error *err);

/* Prints the workloads, and which backends this machine can run and why not the others (--list). */
void list_print(void);
