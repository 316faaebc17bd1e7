/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures of a report. Each figure is defined here and nowhere else. */
#pragma once

#include "clock.h"
#include "json.h"
#include "run.h"
#include "tracepoints.h"

/* Number of empty calls that are timed. */
enum { NOPS = 31 };

struct measurements {
	bool has_tee; /* calls enter the TEE */
	struct {
		uint64_t files, failed, oneshots, streams;
		struct file_stats all;
		uint64_t good_bytes, good_hash_ns; /* sums over files with a digest */
	} totals;
	const struct run *run;
	uint64_t total_ns, startup_ns; /* whole command; part before the first message */
	struct usage usage;
	uint64_t usage_ns; /* the time over which `usage` was counted: a little more than total_ns */
	struct usage after_opening; /* the part of it after the sessions were open */
	uint64_t after_opening_ns;
	int64_t peak_bytes; /* -1: not known */
	uint64_t nop_ns;    /* median of the empty calls after the work; 0: none */
	const char *why;    /* why `stack` and nop_ns are missing; NULL: they aren't */
	struct peak stack;  /* of the TA; valid if `why` is NULL */
	struct tracepoint_counts switches;
	struct error untraced; /* why `switches` is missing */
	struct clock_facts clock;
	struct ta_counter counter; /* of the TA, or the reason why there is none */
};

/* Where figures are written: to `text` or to `json`; the other is NULL. */
struct sheet {
	FILE *text;
	struct json *json;
	char tick[24]; /* resolution of the client's clock */
};

void figures_add_file(struct measurements *f, const struct message *m);
/* Writes the figures in groups, and the parts that add up to the workers' time. */
void figures_write(struct sheet *sheet, const struct measurements *f);
/* Prints a value with its unit, scaled for people: "1.234 ms", "12.3 MiB", … */
void print_value(FILE *out, const char *unit, double value);
