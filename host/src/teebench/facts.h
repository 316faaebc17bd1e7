/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts of the machine. To add one: a line in the collector it belongs to (facts_*.c), or a
 * collector of its own and a line in machine.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

struct ta_counter;

struct facts {
	struct json *json;   /* numbers and others that are always known go to it by themselves */
	struct json reasons; /* "GROUP.NAME": why there is no such fact, which is null then */
	const char *group;   /* that is collected now */
	const struct ta_counter *ta_counter;
};

/* Writes a string. "" and NULL are no facts: `why_not` says why then. */
void fact_string(struct facts *f, const char *name, const char *value, const char *why_not);
/* Writes each of the lines as a string of a list. No lines: null for that reason, or (NULL) []. */
void fact_list(struct facts *f, const char *name, const char *lines, const char *why_not);
void fact_unknown(struct facts *f, const char *name, const char *why);

/*
 * Returns where a file of /proc, /sys, /boot or /lib is read: below the folder that TEEBENCH_ROOT
 * names, which tests set, or there. The buffer is its own.
 */
const char *facts_path(const char *path);

/*
 * Return a small file's first line, or all of it, without blanks at the end; NULL if it can't be
 * read. The caller frees the text.
 */
char *read_line(const char *path);
char *read_whole(const char *path, size_t max);
/* Reads a file with one number; returns false if there is none. */
bool read_number(const char *path, int64_t *value);
/* Returns "cannot read PATH: reason" for errno, in a buffer of its own. */
const char *cannot_read(const char *path);

/* A text that grows; .text is NULL while it is empty. */
struct lines {
	char *text;
	size_t len;
};
void lines_add(struct lines *lines, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes a file's first line; if there is none, why_not, or (NULL) that it can't be read. */
void fact_file(struct facts *f, const char *name, const char *path, const char *why_not);
/* Writes the lines as fact_list() does, and frees them. */
void fact_lines(struct facts *f, const char *name, struct lines *lines, const char *why_not);
/*
 * Copies the value of the first line "NAME: VALUE" or "NAME=VALUE"; returns false if there is none,
 * or no text (NULL).
 */
bool line_value(const char *text, const char *name, char *value, size_t size);
/* Returns whether one of the words, which a NULL ends, is in the text. */
bool has_word(const char *text, const char *const *words);

void facts_of_cpu(struct facts *f);
void facts_of_clock(struct facts *f);
void facts_of_board(struct facts *f);
void facts_of_memory(struct facts *f);
void facts_of_kernel(struct facts *f);
void facts_of_tee(struct facts *f);
void facts_of_ta_counter(struct facts *f); /* writes what f->ta_counter holds */
void facts_of_crypto(struct facts *f);
void facts_of_health(struct facts *f);

/* A run itself may change these (clocks, heat, load): they are recorded at its end, too. */
void facts_of_cpu_now(struct facts *f);
void facts_of_load(struct facts *f);
