/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What calls and sessions take of the TEE's memory, by OP-TEE's statistics pseudo TA
 * (CFG_WITH_STATS=y): teebench --memory, --fit and --open-tas.
 *
 * Each line of standard output is a JSON object: `about` (a case's key, or a TA's UUID), `step`,
 * and `pools`, a list of the TEE's pools of memory with their bytes in use now and at most since
 * the step before. `pools` is empty, with a reason in `unknown`, where there is no pseudo TA.
 */
#pragma once

#include "cases.h"

/*
 * Runs each case by itself: steps `before`, `ready` (sessions, buffers and keys are there), `call`
 * (the first call), `again` (one call more), `after` (everything is closed). A case that can't run
 * has the step `failed` with the reason. Returns -errno, and -EIO if a case failed.
 */
int memory_of_cases(struct cases *cases, struct error *err);

/*
 * Opens sessions with each TA until one is refused, or `most` are open, and closes all: steps
 * `before`, `first`, `second`, `full` (with the number of sessions, and how the TEE refused the
 * next one) and `after`. Without a TA there is one step, `now`, and QEMU's plugin records accesses
 * to memory from this look to the next. Returns -EIO if a TA has no session at all, -EINVAL for a
 * wrong UUID.
 */
int memory_of_sessions(char **uuids, unsigned most, struct error *err);
