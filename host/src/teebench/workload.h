/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A workload: a kind of operation that cases measure.
 *
 * To add a workload, write a file that defines a `const struct workload`, and a line in workloads[]
 * (workloads.c). A workload knows nothing of clocks, loops or records; the measuring core knows
 * nothing of workloads. The syntax of its keys is data: the members up to `workplace`, which
 * case_parse() and --list read.
 *
 * The order of calls: case_parse() for all cases first. Then, for each case, prepare(), one run()
 * that is recorded apart as the first call, and case_verify(). Then the samples, in which the cases
 * take turns: a run() with a case_check() after it. At the end, teardown().
 */
#pragma once

#include "measure.h"
#include "pool.h"

enum {
	CASE_KEY_MAX = 160,
	CASE_REPEATS_MAX = 16,
	CASE_PARTS_MAX = 4,
};

/* One of the parts into which slashes divide a case's parameters. */
struct case_part {
	int word;        /* index among the part's alternatives; -1: a number */
	uint64_t number; /* the number; 0 for a word */
};

/* Options of a case. A case line may set them; the program's options are the defaults. */
struct case_options {
	uint32_t samples; /* number of samples, for each repeat */
	uint64_t min_ns;  /* shortest time of a sample */
	uint32_t loops;   /* calls in a sample; 0: calibrated */
	uint32_t repeats[CASE_REPEATS_MAX];
	unsigned n_repeats;
};

/* A case: its key "workload/algorithm/backend/parameters" and what belongs to it. */
struct bench_case {
	char key[CASE_KEY_MAX];
	char *parts;                /* copy of the key, cut at its first three slashes */
	const char *workload_name;  /* these four point into `parts` */
	const char *algorithm_name; /* "none" if there is no algorithm */
	const char *backend_name;
	const char *parameters;
	unsigned line; /* its line in the case file; 0: an argument */
	struct case_options options;
	/* The value of the workload's own option, or NULL. */
	char *own;

	const struct workload *workload;
	/* case_parse() sets these, as far as the workload uses them. */
	const struct algorithm *algorithm;
	const struct asym_algorithm *asym;
	int name; /* index of the algorithm in the workload's `names` */
	const struct backend *backend;
	struct case_part part[CASE_PARTS_MAX];
	int64_t bytes; /* length of one operation; -1: it has none */
	/*
	 * Most calls in a sample; 0: no limit. parse() sets it if ready() must make something for
	 * each call, or if a call takes long.
	 */
	uint32_t loops_max;
	struct pool *pool; /* set by case_parse() or case_prepare() */
	/* case_prepare() opens the workplace that the workload uses, and allocates its state. */
	struct workplace *workplace;
	void *state;
	uint32_t loops; /* calls of the next or last run(); case_ready() sets it */
	/*
	 * The place where run() leaves its result (NULL: workplace->out), and the expected result.
	 * prepare() or verify() sets them, case_check() compares them. If want_bytes is 0, check()
	 * alone tells whether the result is right.
	 */
	void *result;
	const void *want;
	size_t want_bytes;
	/* Name of the backend that computed the same result, or NULL; verify() sets it. */
	const char *checked_by;
};

struct json;

struct workload {
	const char *name;
	const char *summary; /* one line for --list */

	/*
	 * The algorithms of its keys: one of `names` (NULL-terminated; a first one in capitals
	 * stands for any name); or a row of the algorithm table with a class of `classes` (bits
	 * 1u << ALG_…); or, if `asym`, one of asym.h's table.
	 */
	const char *const *names;
	unsigned classes;
	bool asym;

	/* The only backend of its keys; NULL: any backend; "": parse() checks the name. */
	const char *backend;

	/*
	 * The syntax of its parameters, such as "enc|dec/BYTES". Words in small letters stand for
	 * themselves. Names in capitals stand for the words that `terms` lists for them, or else
	 * for numbers from `least` to `most`. BYTES sets the case's `bytes`.
	 */
	const char *parameters;
	struct {
		const char *name;
		const char *const *words; /* NULL-terminated */
	} terms[2];
	uint64_t least, most;
	bool blocks; /* BYTES must be a multiple of the algorithm's block, not 0 */

	/* The use of the workplace that case_prepare() opens, with room for BYTES and workplace_room. */
	enum workplace_use workplace;
	size_t workplace_room;

	/* Name of an option of case lines that only this workload has, or NULL. */
	const char *option;

	/* Whether one call can do several operations: run()'s `repeat` may be more than 1. */
	bool repeats;
	/* Whether its operations draw random bytes, which a TEE's source may give slowly. */
	bool draws;

	size_t state_size; /* size of c->state in bytes */

	/*
	 * Checks a key beyond its syntax, and reserves buffers in the pool; or NULL. Returns -errno
	 * for a usage error, after which nothing is measured. Must not need the TEE.
	 */
	int (*parse)(struct bench_case *c, struct error *err);

	/*
	 * Fills c->state, which is all zeros. Returns 0 or -errno: with err->skip set, this machine
	 * cannot run the case; otherwise the case failed. It should leave the path of run() cold if
	 * it can, since the first run() is recorded apart.
	 */
	int (*prepare)(struct bench_case *c, struct error *err);

	/*
	 * Prepares every run(), untimed: makes the objects that the next c->loops calls use up, or
	 * restores the session if another case has used it since. Or NULL.
	 */
	int (*ready)(struct bench_case *c, struct error *err);

	/*
	 * The timed operation. A workload has one of these functions: run() makes `loops` calls of
	 * `repeat` operations each; once() makes one call, and the core repeats it. They do nothing
	 * else: no I/O, no allocation.
	 */
	int (*run)(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err);
	int (*once)(struct bench_case *c, struct error *err);

	/*
	 * Compares the first run()'s result with an answer known from elsewhere, before anything is
	 * recorded. NULL: case_check() is enough, since the answer is known beforehand.
	 */
	int (*verify)(struct bench_case *c, struct error *err);

	/* Ends what run() left open, and checks its effects besides c->result; or NULL. */
	int (*check)(struct bench_case *c, struct error *err);

	/* Whether the samples are timed by the TA, too, if the workplace is a session with one. */
	bool ta_clock;
	/* Whether the record names the backend that checked the result (c->checked_by). */
	bool refereed;
	/* Calls in which the TEE's RPCs to the normal world are counted; 0: none are counted. */
	uint32_t rpc_calls;

	/* Adds the workload's own fields to the case's record; or NULL. */
	void (*facts)(const struct bench_case *c, struct json *json);

	/* Frees the contents of c->state, also after a prepare() that failed; or NULL. */
	void (*teardown)(struct bench_case *c);
};

/* All workloads in the order of --list; NULL ends them. */
extern const struct workload *const workloads[];
const struct workload *workload_by_name(const char *name);

/* Parses a decimal number up to `max`, without sign or leading zeros; messages call it `what`. */
int case_number(const char *text, const char *what, uint64_t max, uint64_t *value,
		struct error *err);
/* Returns the index of `text` in `names`, which NULL ends, or -EINVAL with a list of the names. */
int case_choice(const char *text, const char *const *names, struct error *err);
/* Returns -EINVAL, with a message about a mistake in a case line. */
#define case_wrong(err, ...) error_set(err, -EINVAL, __VA_ARGS__)
/* Returns -EBADMSG for a wrong result; the message `sentence` must be a string literal. */
#define case_wrong_result(err, sentence, ...)                                                  \
	error_set(err, -EBADMSG,                                                               \
		  sentence "\nthe timing of a wrong result means nothing; the backend or its " \
			   "installation is broken",                                           \
		  ##__VA_ARGS__)

/*
 * Parses the case's key; to be called for all cases before anything is measured. Returns -EINVAL if
 * the key is wrong, or asks for more work than one call into a TA may do.
 */
int case_parse(struct bench_case *c, struct pool *pool, struct error *err);

/* Returns whether a TA computes the case, which must have been parsed. */
bool case_in_ta(const struct bench_case *c);
/* Returns whether the case calls the TEE, to compute or to store. */
bool case_calls_tee(const struct bench_case *c);

/* Opens c->workplace, allocates c->state and prepares the case; case_teardown() frees both. */
int case_prepare(struct bench_case *c, struct pool *pool, struct error *err);
void case_teardown(struct bench_case *c);
/*
 * The measuring core calls these for a prepared case. case_ready() also overwrites an earlier
 * run's result, so that a run() that writes nothing is noticed.
 */
int case_ready(struct bench_case *c, uint32_t loops, struct error *err);
int case_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err);
struct measure_target case_target(struct bench_case *c);
/* Check the result of the first run(), and of each sample's run(). */
int case_verify(struct bench_case *c, struct error *err);
int case_check(struct bench_case *c, struct error *err);
/* Returns 0 if the bytes are equal, -EBADMSG otherwise; messages call the result `what`. */
int case_compare(const char *what, const void *result, const void *want, size_t bytes,
		 struct error *err);
