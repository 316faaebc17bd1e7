/* SPDX-License-Identifier: BSD-2-Clause */
/* A case line is "KEY [option=value]…"; a comment begins with # and ends with the line. */
#pragma once

#include "workload.h"

struct cases {
	struct bench_case *list;
	size_t count, room;
	const char *name; /* name of the stream that the cases were read from */
};

/* Adds the case that `text` describes, if any. `line` is its number; 0: a command-line argument. */
int cases_add_line(struct cases *cases, const char *text, unsigned line,
		   const struct case_options *defaults, struct error *err);
/* Adds the cases of all lines of a stream; an error's message names the line. */
int cases_read(struct cases *cases, FILE *stream, const char *name,
	       const struct case_options *defaults, struct error *err);
/*
 * Replaces each case of backend "afalg:*" by one case for each of the kernel's drivers for its
 * algorithm. Without drivers the case stays, to be skipped later. Must precede case_parse().
 */
int cases_expand(struct cases *cases, struct error *err);
void cases_free(struct cases *cases);

/* Parses an option of a case line ("samples=30"), or the same option of the command line. */
int parse_option(const char *name, const char *value, struct case_options *options,
		 struct error *err);
