/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --report: where the time went. Every figure has a unit, a source and a
 * resolution; what can't be measured has a reason instead of a value.
 */
#ifndef TEEHASH_REPORT_H
#define TEEHASH_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "jobs.h"
#include "options.h"

struct report;

/* NULL in *report and 0 if none was asked for. */
int report_begin(struct report **report, const struct options *opt,
		 struct error *err);
/* To count the time inside the TA with; NULL if there is no such counter. */
const struct ta_counter *report_counter(const struct report *report);
/* Do digest lines go to stdout, or only into the report? */
bool report_takes_stdout(const struct report *report);
/* verdict: "OK", "FAILED", …; NULL when not checking. */
void report_job(struct report *report, const struct job *job,
		const char *verdict);
/* Asks the session; extra measurements that are in no total. */
void report_after(struct report *report, struct engine *engine);
/*
 * complete: all was done. Writes, closes and frees; -errno when the report
 * could not be written.
 */
int report_end(struct report *report, const struct jobs_stats *stats,
	       bool complete, struct error *err);

#endif
