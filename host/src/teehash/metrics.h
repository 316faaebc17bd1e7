/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The figures of a report as rows: what is printed as text and as JSON is the
 * same table.
 */
#ifndef TEEHASH_METRICS_H
#define TEEHASH_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "json.h"

enum metric_group {
	GROUP_HOST,
	GROUP_TEE,
	GROUP_FIRST,
	GROUP_DERIVED,
	GROUP_COUNT,
};

struct metric {
	enum metric_group group;
	const char *key;
	const char *title;
	const char *unit; /* "ns", "bytes", "count", "percent", … */
	bool known;
	double value;
	const char *source; /* how it was measured, or why it is null */
	const char *resolution;
};

#define METRICS_MAX 64

struct metrics {
	enum metric_group group; /* that rows are added to */
	struct metric rows[METRICS_MAX];
	unsigned int count;
	char notes[METRICS_MAX][384]; /* texts made up for one run */
	unsigned int notes_count;
};

/* What is not finite becomes null: there was nothing to divide by. */
void metric_add(struct metrics *metrics, const char *key, const char *title,
		const char *unit, double value, const char *source,
		const char *resolution);
void metric_null(struct metrics *metrics, const char *key, const char *title,
		 const char *unit, const char *reason);
/* A text that lives as long as the metrics. */
const char *metrics_note(struct metrics *metrics, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void metrics_print(FILE *out, const struct metrics *metrics);
/* One object a group, in it one object a row. */
void metrics_json(struct json *json, const struct metrics *metrics);
/* "1.234 ms", "12.3 MiB", …: for people */
void print_value(FILE *out, const char *unit, double value);

#endif
