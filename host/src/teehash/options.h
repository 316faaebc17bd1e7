/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of teehash, parsed into one struct. */
#pragma once

#include "output.h"
#include "report.h"

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

/* The parser stores enumerations by offset, as an int. */
struct options {
	enum command_kind command;
	enum mark mark;         /* the last of --binary, --text and --tag */
	const char *check_only; /* name of an option given that needs --check; or NULL */
	const struct algorithm *alg;
	bool alg_given;
	struct line_style style;
	/* for COMMAND_CHECK, as in sha256sum */
	bool ignore_missing;
	bool quiet;
	bool status;
	bool strict;
	bool warn;
	/* options that sha256sum lacks */
	struct run_settings run;
	enum report_kind report;

	char **names; /* points into argv; "-" if no file was given */
	size_t names_count;
};

extern const char options_help[];

/*
 * Returns 0, or -EINVAL with the reason; the reason is empty if getopt_long() printed it. Strings
 * in *opt point into argv.
 */
int options_parse(struct options *opt, int argc, char **argv, struct error *err);
