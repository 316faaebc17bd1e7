/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a run, one JSON object a line. docs/ describes them. */
#ifndef RECORDS_H
#define RECORDS_H

#include "measure.h"
#include "settings.h"
#include "sink.h"
#include "trace.h"

struct kernel_driver;
struct masks;
struct ta_counter;
struct watched;
struct watched_idle;

/* Each returns what sink_record() does. */
struct records {
	struct sink *sink;
	struct json json;
};

int record_machine(struct records *r, const struct bench_settings *settings,
		   const struct ta_counter *counter, struct error *err);
/* Opening's parts, of a backend: "context", "session". */
int record_opening(struct records *r, const struct backend *backend,
		   const char *what, uint64_t ns, struct error *err);
/* The first call of a case. */
int record_first_call(struct records *r, const struct bench_case *c,
		      const struct measured *m, struct error *err);

/* What was found out about a case before its samples. */
struct case_facts {
	const uint32_t *loops; /* of each repeat */
	uint64_t min_ns, call_ns;
	bool in_ta;                    /* a TA computes */
	bool ta_counter;               /* and its clock runs along */
	const char *why_none;          /* this TA's does not, or NULL */
	const struct watched *watched; /* NULL: nobody watched */
	const struct watched_idle *idle;
	const struct masks *masks; /* NULL: nobody compared */
	/* Of the kernel, that computes it; NULL: not known, or none does. */
	const struct kernel_driver *driver;
	const char *no_driver; /* why not; NULL: none does */
};
int record_case(struct records *r, const struct bench_case *c,
		const struct case_facts *facts, struct error *err);
int record_skip(struct records *r, const struct bench_case *c,
		const struct error *why, struct error *err);
int record_fail(struct records *r, const struct bench_case *c,
		const struct error *why, struct error *err);
int record_sample(struct records *r, const struct bench_case *c, uint64_t seq,
		  uint32_t repeat, uint32_t loops, const struct measured *m,
		  struct error *err);
/* The same calls by the TA's clock; follows the sample. */
int record_ta_sample(struct records *r, const struct bench_case *c,
		     uint64_t seq, uint32_t repeat, uint32_t loops,
		     const struct measured *m, struct error *err);

/* One call more, with tracing on. There is one leg at least. */
int record_legs(struct records *r, const struct bench_case *c, uint64_t seq,
		uint32_t repeat, uint64_t ns, const struct trace_legs *legs,
		struct error *err);
/* Why there are none of a case, though they were asked for. */
int record_no_legs(struct records *r, const struct bench_case *c,
		   uint32_t repeat, const struct error *why, struct error *err);

struct end_facts {
	bool complete;
	const char *reason;
	unsigned cases, skipped, failed;
	uint64_t samples, ta_samples, thrown_away, duration_ns;
};
int record_end(struct records *r, const struct end_facts *facts,
	       struct error *err);

#endif
