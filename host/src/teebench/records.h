/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a run, one JSON object a line. docs/ describes them. */
#ifndef RECORDS_H
#define RECORDS_H

#include "masks.h"
#include "sink.h"
#include "trace.h"
#include "watch.h"
#include "workload.h"

struct ta_counter;

/* How to measure, as it was asked for. */
struct bench_settings {
	struct case_options defaults;
	uint64_t seed;        /* of the order */
	uint64_t settle_ns;   /* wait before the first call */
	uint64_t align_ns;    /* struct measure .align_ns */
	bool quiet_until_end; /* write nothing while measuring */
	bool ta_counter;      /* where a TA may read one, let it run along */
	bool watch;           /* find out who does the work: watch.h, masks.h */
	bool trace_events;    /* trace some calls more of each case in the TEE */
};

/* Each returns what sink_record() does. */
struct records {
	struct sink *sink;
	struct json json;
};

int record_machine(struct records *r, const struct bench_settings *settings,
		   const struct ta_counter *counter, struct error *err);
/* Opening's parts, of a backend: "context", "session". */
int record_opening(struct records *r, const struct backend *backend, const char *what, uint64_t ns,
		   struct error *err);
/* The first call of a case. */
int record_first_call(struct records *r, const struct bench_case *c, const struct measured *m,
		      struct error *err);

/* What was found out about a case. */
struct case_plan {
	bool live; /* prepared, verified and not failed since */
	uint32_t loops[CASE_REPEATS_MAX];
	uint64_t call_ns; /* of the first repeat */
	uint64_t min_ns;
	bool in_ta;             /* a TA computes */
	struct tee_session *ta; /* whose clock runs along, or NULL */
	struct watched watched; /* of backends that may have a device work */
	struct masks masks;     /* with the CPU's instructions and without */
};

int record_case(struct records *r, const struct bench_case *c, const struct case_plan *plan,
		const struct watched_idle *idle, struct error *err);
/* Why a case is out: a skip or a failure. */
int record_out(struct records *r, const struct bench_case *c, const struct error *why,
	       struct error *err);

/* Which of a case's calls these are. */
struct calls {
	const struct bench_case *c;
	uint64_t seq;
	uint32_t repeat, loops;
};
/* by_ta: the same calls by the TA's clock; it follows the sample. */
int record_sample(struct records *r, const struct calls *calls, const struct measured *m,
		  bool by_ta, struct error *err);
/*
 * One call more, with tracing on: there is one leg at least. Or legs is NULL,
 * and why says why there are none, though they were asked for.
 */
int record_legs(struct records *r, const struct calls *calls, uint64_t ns,
		const struct trace_legs *legs, const struct error *why, struct error *err);

struct end_facts {
	bool complete;
	const char *reason;
	unsigned cases, skipped, failed;
	uint64_t samples, ta_samples, thrown_away, duration_ns;
};
int record_end(struct records *r, const struct end_facts *facts, struct error *err);

#endif
