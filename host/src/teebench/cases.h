/* SPDX-License-Identifier: BSD-2-Clause */
/* Case lines: "KEY [option=value]…", '#' to the end of a line is a comment. */
#pragma once

#include <stdio.h>

#include "workload.h"

struct cases {
	struct bench_case *list;
	size_t count, room;
	const char *name; /* of the stream that its lines are from */
};

/* Adds the case of a line (or argument: line 0); an empty line adds nothing. */
int cases_add_line(struct cases *cases, const char *text, unsigned line,
		   const struct case_options *defaults, struct error *err);
/* Adds the cases of all lines of a stream; err names the line. */
int cases_read(struct cases *cases, FILE *stream, const char *name,
	       const struct case_options *defaults, struct error *err);
/*
 * Makes of a case of "afalg:*" one of each driver that the kernel has for its algorithm; where
 * there is none it stays, to be skipped with the reason. Is called before case_parse().
 */
int cases_expand(struct cases *cases, struct error *err);
void cases_free(struct cases *cases);

/* Reads a list such as "1,2,4,8": ascending, distinct, not 0. */
int parse_repeats(const char *text, struct case_options *options, struct error *err);
/* Reads an option of a case line ("samples=30"), also for the command line. */
int parse_option(const char *name, const char *value, struct case_options *options,
		 struct error *err);
