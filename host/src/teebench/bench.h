/* SPDX-License-Identifier: BSD-2-Clause */
/* A run prepares all cases, then takes their samples in a random order. */
#pragma once

#include "cases.h"
#include "records.h"

/*
 * Parses no more: cases are checked already. 0 also when cases failed or were
 * skipped (*end tells), or a signal came; -errno when the run could not be written.
 */
int bench_run(const struct bench_settings *settings, struct cases *cases, struct pool *pool,
	      struct sink *sink, struct end_facts *end, struct error *err);
