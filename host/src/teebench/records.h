/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a run, one JSON object a line; docs/run-format.md describes them. */
#pragma once

#include "cases.h"
#include "masks.h"
#include "sink.h"
#include "tracepoints.h"
#include "witness.h"

struct ta_counter;

/* The settings of a run, as they were asked for. */
struct bench_settings {
	struct case_options defaults;
	uint64_t seed;        /* of the samples' random order */
	uint64_t settle_ns;   /* wait before the first call */
	uint64_t align_ns;    /* as in struct measure */
	bool quiet_until_end; /* write nothing while measuring */
	bool ta_counter;      /* let TAs time their calls by a counter, if they may */
	bool evidence;        /* watch interrupts, compare masked calls: witness.h, masks.h */
	bool trace_events;    /* trace a few more calls of each case in the TEE */
};

/* The writer of a run's records. The functions below return what sink_record() returns. */
struct records {
	struct sink *sink;
	struct json json;
};

int record_machine(struct records *r, const struct bench_settings *settings,
		   const struct ta_counter *counter, struct error *err);
/* Records how long each step of opening a backend took: context, session, first invocation. */
int record_opening(struct records *r, const struct backend *backend, const struct tee_session *tee,
		   struct error *err);
/* Records the first call of a case. */
int record_first_call(struct records *r, const struct bench_case *c, const struct measured *m,
		      struct error *err);

/* The measuring core's findings about a case. */
struct case_plan {
	bool live; /* prepared, verified, and has not failed since */
	uint32_t loops[CASE_REPEATS_MAX];
	uint64_t call_ns; /* time of a call, by the first repeat */
	uint64_t min_ns;
	bool in_ta;              /* a TA computes the case */
	struct tee_session *ta;  /* TA that times the samples, too; NULL: none */
	struct evidence watched; /* only for backends that may use a device */
	struct masks masks;      /* times with the CPU's crypto instructions and without */
	struct tracepoint_counts rpcs;
	struct error rpcs_unknown; /* why they can't be known; no error if they are */
};

int record_case(struct records *r, const struct bench_case *c, const struct case_plan *plan,
		const struct idle_evidence *idle, struct error *err);
/* Records why a case is left out: a skip or a failure. */
int record_out(struct records *r, const struct bench_case *c, const struct error *why,
	       struct error *err);

/* The calls that one record is about: which case, and how many. */
struct calls {
	const struct bench_case *c;
	uint64_t seq;
	uint32_t repeat, loops;
};
/* Records a sample; by_ta: its time by the TA's counter, after the record of the sample itself. */
int record_sample(struct records *r, const struct calls *calls, const struct measured *m,
		  bool by_ta, struct error *err);
/*
 * Records a traced call of `ns` nanoseconds, with its legs in the secure world (one or more). If
 * `legs` is NULL, *why is the reason why the call couldn't be traced.
 */
int record_legs(struct records *r, const struct calls *calls, uint64_t ns,
		const struct tracepoint_legs *legs, const struct error *why, struct error *err);

struct end_facts {
	bool complete;
	const char *reason;
	unsigned cases, skipped, failed;
	uint64_t samples, ta_samples, thrown_away, duration_ns;
};
int record_end(struct records *r, const struct end_facts *facts, struct error *err);

/*
 * Prepares all cases, which must have been parsed, then takes their samples in a random order.
 * Returns 0 also if cases failed or were skipped (*end has their numbers) or a signal ended the
 * run; -errno if the records could not be written.
 */
int bench_run(const struct bench_settings *settings, struct cases *cases, struct pool *pool,
	      struct sink *sink, struct end_facts *end, struct error *err);
