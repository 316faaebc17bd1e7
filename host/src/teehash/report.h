/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --report: where the time went. Every figure has a unit, a source and a
 * resolution; what can't be measured has a reason instead of a value. The
 * report is collected in memory, and written whole when the work is done.
 */
#ifndef TEEHASH_REPORT_H
#define TEEHASH_REPORT_H

#include "run.h"

enum report_kind {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_NONE,
};

/* "text", "json": those that can be asked for; NULL after the last. */
extern const char *const report_kinds[];

struct report_settings {
	enum report_kind kind;
	const char *file; /* NULL: text to stderr, JSON to stdout */
	bool timeline;    /* JSON only: of one file, in one session */
};

struct report;

/* The clock starts. *report is NULL if none was asked for. */
int report_begin(struct report **report, const struct report_settings *settings,
		 const struct backend *backend, struct error *err);
/* report_counter() to report_file(), and report_free(), accept NULL. */
/* To count the time inside the TA with; NULL if there is no such counter. */
const struct ta_counter *report_counter(const struct report *report);
/* To record the work with; NULL if that wasn't asked for. */
struct timeline *report_timeline(const struct report *report);
/* Returns true if the report takes the place of the lines on stdout. */
bool report_takes_stdout(const struct report *report);
/* verdict: "OK", "FAILED", …; NULL when not checking. */
void report_file(struct report *report, const struct message *m,
		 const char *verdict);
/*
 * The work is done. Asks the session, if there is one; these extra measurements
 * are in no total.
 */
void report_measure(struct report *report, struct hash_session *session,
		    const struct algorithm *alg);
/* The session is closed: asks the TEE's clocks, if there is a timeline. */
void report_closed(struct report *report, const struct run_settings *settings);
/* Writes it. 0, -EINTR when told to stop, or -errno with the reason. */
int report_write(struct report *report, const struct run *run,
		 struct error *err);
/* Frees; what was not written never is. */
void report_free(struct report *report);

#endif
