/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts of the machine. To add a fact, write a line in the collector of its group (facts_*.c), or
 * write a new collector and a line in machine.c.
 */
#pragma once

#include "json.h"

struct ta_counter;

struct facts {
	struct json *json; /* the output; facts that are always known are written to it directly */
	struct json reasons; /* "GROUP.NAME": why that fact is null */
	const char *group;   /* the group that is being collected */
	const struct ta_counter *ta_counter;
};

/* Writes a string fact; for NULL or "" it writes null, with the reason `why_not`. */
void fact_string(struct facts *f, const char *name, const char *value, const char *why_not);
/* Writes the lines as a list. Without any: null with the reason `why_not`, or [] if it is NULL. */
void fact_list(struct facts *f, const char *name, const char *lines, const char *why_not);
void fact_unknown(struct facts *f, const char *name, const char *why);

/*
 * Return a file's first line (read_line) or up to `max` bytes (read_whole), without blanks at the
 * end; NULL if the file can't be read. The caller frees the text.
 */
char *read_line(const char *path);
char *read_whole(const char *path, size_t max);
/* Returns up to `max` bytes of a shell command's output, likewise; NULL if it can't be run. */
char *read_output(const char *command, size_t max);
/* Reads a file that holds one number; returns false if it can't be read or holds anything else. */
bool read_number(const char *path, int64_t *value);
/* Returns "cannot read PATH: reason" for errno; the next call overwrites the text. */
const char *cannot_read(const char *path);

/* A text that grows by lines; .text is NULL while there are none. */
struct lines {
	char *text;
};
void lines_add(struct lines *lines, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes the lines as fact_list() does, and frees them. */
void fact_lines(struct facts *f, const char *name, struct lines *lines, const char *why_not);
/*
 * Copies the value of the first line "NAME: VALUE" or "NAME=VALUE". Returns false if there is no
 * such line, or `text` is NULL.
 */
bool line_value(const char *text, const char *name, char *value, size_t size);

void facts_of_cpu(struct facts *f);
void facts_of_clock(struct facts *f);
void facts_of_board(struct facts *f);
void facts_of_memory(struct facts *f);
void facts_of_kernel(struct facts *f);
void facts_of_tee(struct facts *f);
void facts_of_ta_counter(struct facts *f); /* writes the facts of f->ta_counter */
void facts_of_crypto(struct facts *f);
void facts_of_health(struct facts *f);

/* Facts that a run may change (CPU clock, temperature, load): they are recorded at its end, too. */
void facts_of_cpu_now(struct facts *f);
void facts_of_load(struct facts *f);
