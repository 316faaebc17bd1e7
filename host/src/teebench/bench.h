/* SPDX-License-Identifier: BSD-2-Clause */
/* A run prepares all cases, then takes their samples in a random order. */
#pragma once

#include "cases.h"
#include "records.h"

/*
 * Runs the cases, which must have been parsed. Returns 0 also if cases failed or were skipped (*end
 * has their numbers) or a signal ended the run; -errno if the records could not be written.
 */
int bench_run(const struct bench_settings *settings, struct cases *cases, struct pool *pool,
	      struct sink *sink, struct end_facts *end, struct error *err);
