/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of teehash, as one value. Who owns a setting declares it. */
#pragma once

#include "output.h"
#include "report.h"
#include "run.h"

enum command_kind {
	COMMAND_HASH,
	COMMAND_CHECK,
	COMMAND_HELP,
	COMMAND_VERSION,
	COMMAND_LIST,
};

enum mark {
	MARK_NONE,
	MARK_BINARY,
	MARK_TEXT,
	MARK_TAG,
};

/* The parser sets enumerations by their offset, as an int. */
struct options {
	enum command_kind command;
	enum mark mark;         /* the last of --binary, --text and --tag */
	const char *check_only; /* an option that only --check takes */
	const struct algorithm *alg;
	bool alg_given;
	struct line_style style;
	/* of COMMAND_CHECK, as sha256sum's */
	bool ignore_missing;
	bool quiet;
	bool status;
	bool strict;
	bool warn;
	/* our own */
	struct run_settings run;
	struct report_settings report;

	char **names; /* of argv; "-" if none were given */
	size_t names_count;
};

extern const char options_help[];

/*
 * Returns 0, or -EINVAL with the reason, which is empty if getopt has printed it. The values point
 * into argv.
 */
int options_parse(struct options *opt, int argc, char **argv, struct error *err);
