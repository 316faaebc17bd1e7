/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A workload: what is exercised.
 *
 * To add one: a file that defines a `const struct workload`, and a line in
 * workloads[] (workloads.c). It knows nothing of clocks, loops or records; the
 * measuring core knows nothing of it. What its keys may say is data: the
 * members up to `desk`, from which case_parse() and --list work.
 *
 * A case goes through: case_parse() for all cases first, then for each case
 * prepare(), one run() that is timed apart as the first call, case_verify(), and
 * then many run()s with a case_check() after each; teardown() at the end. Cases
 * take turns, sample by sample.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <teemark/algorithms.h>

#include "measure.h"
#include "pool.h"

enum {
	CASE_KEY_MAX = 160,
	CASE_REPEATS_MAX = 16,
	CASE_PARTS_MAX = 4,
};

/* A part of a case's parameters. */
struct case_part {
	int word;        /* index of the alternative; -1: a number */
	uint64_t number; /* 0: a word */
};

/* A case line may set these; the program's options give the rest. */
struct case_options {
	uint32_t samples; /* of each repeat */
	uint64_t min_ns;  /* shortest sample */
	uint32_t loops;   /* 0: found out */
	uint32_t repeats[CASE_REPEATS_MAX];
	unsigned n_repeats;
};

/* A case: its key "workload/algorithm/backend/parameters" and what belongs to it. */
struct bench_case {
	char key[CASE_KEY_MAX];
	char *parts;                /* the key, cut at the first slashes */
	const char *workload_name;  /* these four point into parts */
	const char *algorithm_name; /* "none" where there is none */
	const char *backend_name;
	const char *parameters;
	unsigned line; /* of the case file, 0: an argument */
	struct case_options options;
	/* The value of the workload's own option, or NULL. */
	char *own;

	const struct workload *workload;
	/* Set by case_parse(), where the workload has such a thing. */
	const struct algorithm *algorithm;
	const struct asym_algorithm *asym;
	int name; /* index of the algorithm among the workload's names */
	const struct backend *backend;
	struct case_part part[CASE_PARTS_MAX];
	int64_t bytes; /* of one operation; -1: has no such thing */
	/*
	 * No sample has more calls than this, where ready() must make something for each, or one
	 * takes long; parse() sets it. 0: as many as it takes.
	 */
	uint32_t loops_max;
	struct pool *pool; /* by case_parse() or case_prepare() */
	/* case_prepare() sets the workload's desk, and its own state. */
	struct desk *desk;
	void *state;
	uint32_t loops; /* calls of the run() to come, or of the last one; case_ready() sets it */
	/*
	 * The place where a run() leaves its result (NULL: desk->out), and what the result must be.
	 * prepare() or verify() sets them, case_check() compares them. 0 bytes: check() alone tells
	 * whether the result is right.
	 */
	void *result;
	const void *want;
	size_t want_bytes;
	/* Set by verify(): the backend that came to the same result, or NULL. */
	const char *checked_by;
};

struct json;

struct workload {
	const char *name;
	const char *summary; /* one line for --list */

	/*
	 * The ALGORITHM of its keys: one of `names` (NULL-terminated), which
	 * are `what` (NULL: others will do, too); or a row of the algorithm
	 * table with a class of `classes` (bits 1u << ALG_…); or one of
	 * asym.h's table.
	 */
	const char *const *names;
	const char *what;
	unsigned classes;
	bool asym;

	/* The only backend; NULL: any; "": parse() looks for it. */
	const char *backend;

	/*
	 * The syntax of its parameters, as in "enc|dec/BYTES": words in small
	 * letters, and numbers from `least` to `most`, of which BYTES becomes
	 * the case's. Other capitals stand for the words of `terms`.
	 */
	const char *parameters;
	struct {
		const char *name;
		const char *const *words; /* NULL-terminated */
	} terms[2];
	uint64_t least, most;
	bool blocks; /* BYTES is a multiple of the algorithm's blocks, not 0 */

	/* case_prepare() opens this desk: it has room for BYTES, or more. */
	enum desk_use desk;
	size_t desk_room;

	/* An option of a case line that only this workload has, or NULL. */
	const char *option;

	/* run()'s repeat may be more than 1. */
	bool repeats;
	/* Its bytes are random ones, which a TEE's source may give slowly. */
	bool draws;

	size_t state_size; /* bytes of c->state */

	/*
	 * Checks what else is to be checked of a key, or reserves in the pool; or NULL. Returns
	 * -errno with what is wrong: a usage error, nothing is measured then. Must not need the
	 * TEE.
	 */
	int (*parse)(struct bench_case *c, struct error *err);

	/*
	 * Fills c->state, all zeros. -errno with err->skip set: this machine
	 * cannot run the case; without: it failed. Should leave the path that
	 * run() takes cold where it can, since the first run() is recorded
	 * apart.
	 */
	int (*prepare)(struct bench_case *c, struct error *err);
	/*
	 * Says for --list, in the place of prepare(), whether this machine can run it, and stores
	 * nothing anywhere: no TA is loaded that the backend doesn't need, for OP-TEE stores the
	 * version of each. NULL: prepare() stores nothing.
	 */
	int (*probe)(struct bench_case *c, struct error *err);

	/*
	 * Runs untimed before every run(): makes what its c->loops calls use up, or takes back a
	 * session that another case has used since. Or NULL.
	 */
	int (*ready)(struct bench_case *c, struct error *err);

	/*
	 * The thing itself: run() makes `loops` calls of `repeat` operations each,
	 * once() makes a call, and the core repeats it. A workload has one
	 * of the two. They do nothing but that: no I/O, no allocation.
	 */
	int (*run)(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err);
	int (*once)(struct bench_case *c, struct error *err);

	/*
	 * Compares the result with an answer known from elsewhere. Comes after the first run(),
	 * before anything is recorded. NULL: case_check() is enough, as the answer is known from the
	 * beginning.
	 */
	int (*verify)(struct bench_case *c, struct error *err);

	/* Ends what the last run() began, and checks what it left besides c->result; or NULL. */
	int (*check)(struct bench_case *c, struct error *err);

	/* Where the desk is a session with a TA, the TA's clock runs along in the samples. */
	bool ta_clock;
	/* The record says which backend checked the result (c->checked_by). */
	bool refereed;
	/* Calls in which the TEE's calls back are counted for the record; 0: they aren't counted. */
	uint32_t rpc_calls;

	/* Adds fields of its own to the case's record; or NULL. */
	void (*facts)(const struct bench_case *c, struct json *json);

	/* Frees what the state holds, also after a prepare() that failed; or NULL. */
	void (*teardown)(struct bench_case *c);
};

/* Reads a decimal number without sign, leading zeros or suffix, at most max. */
int case_number(const char *text, const char *what, uint64_t max, uint64_t *value,
		struct error *err);
/*
 * Returns the index of text in a NULL-terminated list, or -EINVAL: "TEXT" is not WHAT, with all
 * that are.
 */
int case_choice(const char *text, const char *const *names, const char *what, struct error *err);
/* A mistake in a case line: -EINVAL with the sentence. */
#define case_wrong(err, ...) error_set(err, -EINVAL, __VA_ARGS__)
/* A result that isn't the known one: -EBADMSG with the sentence, which is a literal. */
#define case_wrong_result(err, sentence, ...)                                                  \
	error_set(err, -EBADMSG,                                                               \
		  sentence "\nthe timing of a wrong result means nothing; the backend or its " \
			   "installation is broken",                                           \
		  ##__VA_ARGS__)

/*
 * Returns -EINVAL if the key is wrong, or asks for more work than one call into a TA may do. Is
 * called for all cases before anything is measured.
 */
int case_parse(struct bench_case *c, struct pool *pool, struct error *err);

/* Returns whether a TA computes it, once it is parsed. */
bool case_in_ta(const struct bench_case *c);
/* Returns whether it calls the TEE, to compute or to store. */
bool case_calls_tee(const struct bench_case *c);

/* A probe() that asks no more than whether the backend is there, which the caller knows. */
int case_probe_backend(struct bench_case *c, struct error *err);

/* Opens c->desk, makes c->state and prepares it, or probes; ends and frees it. */
int case_prepare(struct bench_case *c, struct pool *pool, struct error *err);
int case_probe(struct bench_case *c, struct pool *pool, struct error *err);
void case_teardown(struct bench_case *c);
/* The measuring core calls these for a prepared case. */
int case_ready(struct bench_case *c, uint32_t loops, struct error *err);
int case_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err);
struct measure_target case_target(struct bench_case *c);
/*
 * Checks the result of the first run(), and of each that was a sample. What was compared is wiped,
 * so that a run that writes nothing can't pass by the one before.
 */
int case_verify(struct bench_case *c, struct error *err);
int case_check(struct bench_case *c, struct error *err);
/* Returns 0 if both are alike; `what` names the result in the message. */
int case_compare(const char *what, const void *result, const void *want, size_t bytes,
		 struct error *err);
