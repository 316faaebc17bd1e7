/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a run, one JSON object a line. docs/ describes them. */
#ifndef RECORDS_H
#define RECORDS_H

#include "bench.h"
#include "measure.h"

#define RECORDS_SCHEMA 1
#ifndef TEEMARK_VERSION
#define TEEMARK_VERSION "0.1.0"
#endif

/* Each returns what sink_record() does. */
struct records {
	struct sink *sink;
	struct json json;
};

int record_machine(struct records *r, const struct bench_settings *settings,
		   struct error *err);
/* Opening's parts, of a backend: "context", "session". */
int record_opening(struct records *r, const struct backend *backend,
		   const char *what, uint64_t ns, struct error *err);
/* The first call of a case. */
int record_first_call(struct records *r, const struct bench_case *c,
		      const struct measured *m, struct error *err);
int record_case(struct records *r, const struct bench_case *c,
		const uint32_t *loops, uint64_t min_ns, uint64_t call_ns,
		struct error *err);
int record_skip(struct records *r, const struct bench_case *c,
		const struct error *why, struct error *err);
int record_fail(struct records *r, const struct bench_case *c,
		const struct error *why, struct error *err);
int record_sample(struct records *r, const struct bench_case *c, uint64_t seq,
		  uint32_t repeat, uint32_t loops, const struct measured *m,
		  struct error *err);

struct end_facts {
	bool complete;
	const char *reason;
	unsigned cases, skipped, failed;
	uint64_t samples, thrown_away, duration_ns;
};
int record_end(struct records *r, const struct end_facts *facts,
	       struct error *err);

#endif
