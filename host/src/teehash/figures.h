/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures of a report: the meaning of each is defined here and nowhere else. */
#pragma once

#include "clock.h"
#include "json.h"
#include "run.h"
#include "trace.h"
#include "usage.h"

/* Empty calls that are timed. */
enum { NOPS = 31 };

struct findings {
	bool has_tee; /* calls go into another world */
	struct {
		uint64_t files, failed, oneshots, streams;
		uint64_t asked; /* for their pages, with an answer */
		struct file_stats all;
		uint64_t good_bytes, good_hash_ns; /* of those that got a digest */
	} totals;
	const struct run *run;
	uint64_t total_ns, startup_ns; /* the latter before the first message */
	struct usage usage;
	int64_t peak_bytes;         /* -1: not known */
	uint64_t nop_ns;            /* an empty call after the work, median; 0: none */
	const char *why;            /* no session was asked for it, and the facts */
	struct session_facts facts; /* without `why` */
	struct trace_counts switches;
	struct error untraced; /* why the switches are not known */
	struct clock_facts clock;
	struct ta_counter counter; /* of a TA; with its reason if none */
};

/* Figures go to one of the two; the other is NULL. */
struct sheet {
	FILE *text;
	struct json *json;
	char tick[24]; /* resolution of the client's clock */
};

void figures_add_file(struct findings *f, const struct message *m);
/* Groups of figures, then the parts that add up to the workers' time. */
void figures_write(struct sheet *sheet, const struct findings *f);
/* Prints a value for people: "1.234 ms", "12.3 MiB", … */
void print_value(FILE *out, const char *unit, double value);
