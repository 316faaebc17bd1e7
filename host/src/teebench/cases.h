/* SPDX-License-Identifier: BSD-2-Clause */
/* Case lines: "KEY [option=value]…", '#' to the end of a line is a comment. */
#ifndef CASES_H
#define CASES_H

#include <stdio.h>

#include "workload.h"

struct cases {
	struct bench_case *list;
	size_t count, room;
	const char *name; /* of the stream that its lines are from */
};

/* One line (or argument, line 0). An empty one adds nothing. */
int cases_add_line(struct cases *cases, const char *text, unsigned line,
		   const struct case_options *defaults, struct error *err);
/* All lines of a stream; err names the line. */
int cases_read(struct cases *cases, FILE *stream, const char *name,
	       const struct case_options *defaults, struct error *err);
/*
 * A case of "afalg:*" becomes one of each driver that the kernel has for its
 * algorithm; it stays where there is none, to be skipped with the reason.
 * Before case_parse().
 */
int cases_expand(struct cases *cases, struct error *err);
void cases_free(struct cases *cases);

/* "1,2,4,8": ascending, distinct, not 0. */
int parse_repeats(const char *text, struct case_options *options, struct error *err);
/* One option of a case line ("samples=30"), also for the command line. */
int parse_option(const char *name, const char *value, struct case_options *options,
		 struct error *err);

#endif
