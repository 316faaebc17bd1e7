/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --report: where the time went. Every figure has a unit, a source and a
 * resolution; what can't be measured has a reason instead of a value. The
 * report is collected in memory, and written when the work is done: text to
 * standard error, JSON to standard output in place of the lines.
 */
#pragma once

#include "run.h"

enum report_kind {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_NONE,
};

/* The reports that can be asked for: "text", "json"; NULL ends them. */
extern const char *const report_kinds[];

struct report_settings {
	enum report_kind kind;
	bool timeline; /* JSON only: of one file, in one session */
};

struct report;

/*
 * Starts the report's clock, and switches on in `run` what the report needs recorded. *report is
 * NULL if no report was asked for.
 */
int report_begin(struct report **report, const struct report_settings *settings,
		 struct run_settings *run, struct error *err);
/* Adds a file. `verdict` is "OK", "FAILED", …; NULL when not checking. */
void report_file(struct report *report, const struct message *m, const char *verdict);
/*
 * The work is done. Asks the session, if there is one; these extra measurements
 * are in no total.
 */
void report_measure(struct report *report, struct hash_session *session);
/*
 * Writes the report, once the sessions are closed. Returns 0, -EINTR when told to stop, or -errno.
 */
int report_write(struct report *report, const struct run *run, struct error *err);
/* Frees the report, written or not. report_file() and this do nothing with NULL. */
void report_free(struct report *report);
