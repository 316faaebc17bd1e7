/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --report shows where the time went. Every figure has a unit, a source and a resolution; a figure
 * that can't be measured has a reason instead. The report is kept in memory until the work is done:
 * text goes to standard error; JSON goes to standard output, in place of the digest lines.
 */
#pragma once

#include "run.h"

enum report_kind {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_NONE,
};

/* Names for --report: "text", "json"; NULL ends the list. */
extern const char *const report_kinds[];

struct report;

/*
 * Starts the report's clock, and enables in `run` the recording that the report needs. *report is
 * NULL if no report was asked for.
 */
int report_begin(struct report **report, enum report_kind kind, struct run_settings *run,
		 struct error *err);
/* Adds a file. `verdict` is "OK", "FAILED", …; NULL if digests are computed, not checked. */
void report_file(struct report *report, const struct message *m, const char *verdict);
/*
 * Ends the measuring of `run`, which must stay until the report is written. Then measures in the
 * session (NULL: there is none); these extra measurements count in no total.
 */
void report_measure(struct report *report, const struct run *run, struct hash_session *session);
/*
 * Writes the report, once the sessions are closed. Returns 0, -EINTR when told to stop, or -errno.
 */
int report_write(struct report *report, struct error *err);
/* Frees the report, written or not. report_file() and report_free() accept NULL. */
void report_free(struct report *report);
