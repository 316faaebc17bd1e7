/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a run, one JSON object a line. docs/ describes them. */
#pragma once

#include "masks.h"
#include "sink.h"
#include "trace.h"
#include "watch.h"
#include "workload.h"

struct ta_counter;

/* The settings of a run, as they were asked for. */
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

/* The functions below return what sink_record() returns. */
struct records {
	struct sink *sink;
	struct json json;
};

int record_machine(struct records *r, const struct bench_settings *settings,
		   const struct ta_counter *counter, struct error *err);
/* Records what the parts of opening a backend took. */
int record_opening(struct records *r, const struct backend *backend, const struct tee_session *tee,
		   struct error *err);
/* Records the first call of a case. */
int record_first_call(struct records *r, const struct bench_case *c, const struct measured *m,
		      struct error *err);

/* The core has found this out about a case. */
struct case_plan {
	bool live; /* prepared, verified and not failed since */
	uint32_t loops[CASE_REPEATS_MAX];
	uint64_t call_ns; /* of the first repeat */
	uint64_t min_ns;
	bool in_ta;             /* a TA computes */
	struct tee_session *ta; /* whose clock runs along, or NULL */
	struct watched watched; /* of backends that may have a device work */
	struct masks masks;     /* with the CPU's instructions and without */
	struct trace_counts rpcs;
	struct error rpcs_unknown; /* why they can't be known; no error if they are */
};

int record_case(struct records *r, const struct bench_case *c, const struct case_plan *plan,
		const struct watched_idle *idle, struct error *err);
/* Records why a case is out: a skip or a failure. */
int record_out(struct records *r, const struct bench_case *c, const struct error *why,
	       struct error *err);

/* The calls of a case that a record is about. */
struct calls {
	const struct bench_case *c;
	uint64_t seq;
	uint32_t repeat, loops;
};
/* Records a sample; by_ta: the same calls by the TA's clock, after the sample. */
int record_sample(struct records *r, const struct calls *calls, const struct measured *m,
		  bool by_ta, struct error *err);
/*
 * Records one call more, with tracing on: it has a leg at least. If `legs` is NULL, `why` says why
 * there are none, though they were asked for.
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
