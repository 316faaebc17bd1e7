/* SPDX-License-Identifier: BSD-2-Clause */
/* A report as text and as JSON: what it looks like, not what it says. */
#ifndef TEEHASH_REPORT_FORM_H
#define TEEHASH_REPORT_FORM_H

#include "figures.h"

/* For each file, then once for the whole. */
void text_file(FILE *out, const struct message *m, const char *verdict);
void text_end(FILE *out, const struct findings *f, const struct metrics *m);

/* One document: begin, files, end. */
void json_begin(struct json *j);
void json_file(struct json *j, const struct message *m, const char *verdict);
/* timeline: NULL if there is none. */
void json_end(struct json *j, const struct findings *f, const struct metrics *m,
	      const struct timeline *timeline);

#endif
