/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A workload: what is exercised.
 *
 * To add one: a file that defines a `const struct workload`, and a line in
 * workloads[] (workloads.c). It knows nothing of clocks, loops or records; the
 * measuring core knows nothing of it.
 *
 * A case goes through: parse() for all cases first, then for each case
 * prepare(), one run() that is timed apart as the first call, verify(), and
 * then many run()s with a check() after each; teardown() at the end. Cases
 * take turns, sample by sample.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <teemark/algorithms.h>

#include "backend.h"
#include "error.h"
#include "measure.h"

enum {
	CASE_KEY_MAX = 160,
	CASE_REPEATS_MAX = 16,
};

/* What a case line may set; the program's options give the rest. */
struct case_options {
	uint32_t samples; /* of each repeat */
	uint64_t min_ns;  /* shortest sample */
	uint32_t loops;   /* 0: found out */
	uint32_t repeats[CASE_REPEATS_MAX];
	unsigned n_repeats;
};

/* "workload/algorithm/backend/parameters" and what belongs to it. */
struct bench_case {
	char key[CASE_KEY_MAX];
	char *parts;                /* the key, cut at the first slashes */
	const char *workload_name;  /* these four point into parts */
	const char *algorithm_name; /* "none" where there is none */
	const char *backend_name;
	const char *parameters;
	unsigned line; /* of the case file, 0: an argument */
	struct case_options options;
	/* What the workload's own option says, or NULL. */
	char *own;

	const struct workload *workload;
	const struct algorithm *algorithm; /* set by parse(), or NULL */
	const struct asym_algorithm *asym; /* set by parse(), or NULL */
	const struct backend *backend;     /* set by parse(), or NULL */
	int64_t bytes; /* of one operation; -1: has no such thing */
	/*
	 * Most calls in a sample, where ready() must make something for each,
	 * or one takes long; set by parse(), 0: as many as it takes.
	 */
	uint32_t loops_max;
	void *state; /* the workload's own: case_prepare() */
};

struct json;
struct tee_session;
struct pool;    /* sessions and buffers that cases share: pool.h */
struct listing; /* what --list collects: listing.h */

struct workload {
	const char *name;
	const char *summary;    /* one line for --list */
	const char *parameters; /* their syntax, for --list: "BYTES" */

	/* An option of a case line that only this workload has, or NULL. */
	const char *option;

	/* run()'s repeat may be more than 1. */
	bool repeats;
	/* Its bytes are random ones, which a TEE's source may give slowly. */
	bool draws;

	size_t state_size; /* bytes of c->state */

	/*
	 * Checks the key's parts, fills algorithm, backend and bytes, and
	 * reserves in the pool. 0, or -errno with what is wrong: a usage
	 * error, nothing is measured then. Must not need the TEE.
	 */
	int (*parse)(struct bench_case *c, struct pool *pool,
		     struct error *err);

	/*
	 * Fills c->state, all zeros. -errno with err->skip set: this machine
	 * cannot run the case; without: it failed. Should leave the path that
	 * run() takes cold where it can, since the first run() is recorded
	 * apart.
	 */
	int (*prepare)(struct bench_case *c, struct pool *pool,
		       struct error *err);

	/*
	 * Before every run(), untimed: makes what that run() uses up, or
	 * takes back a session that another case used since. Or NULL.
	 */
	int (*ready)(void *state, uint32_t loops, struct error *err);

	/*
	 * The thing itself, `loops` calls of `repeat` operations each.
	 * Nothing but that: no I/O, no allocation.
	 */
	int (*run)(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err);

	/*
	 * Is the result right, against an answer known from elsewhere? Comes
	 * after the first run(), before anything is recorded.
	 */
	int (*verify)(void *state, struct error *err);

	/* Is what the last run() left right? After every sample; or NULL. */
	int (*check)(void *state, struct error *err);

	/*
	 * The session in which a TA computes, whose clock runs along in the
	 * samples where there is one; NULL: no TA does. Asked after verify();
	 * the session stays until teardown(). Or NULL.
	 */
	struct tee_session *(*ta)(const void *state);

	/* Adds fields of its own to the case's record; or NULL. */
	void (*facts)(const void *state, struct json *json);

	/* Frees what the state holds, also after a prepare() that failed; or NULL. */
	void (*teardown)(void *state);

	/*
	 * What it can run here and what not, with reasons; or, instead, names
	 * (NULL-terminated) that backend tee has, if it is there.
	 */
	const char *const *names;
	void (*list)(struct listing *listing, struct pool *pool);
};

/* Helpers for parse(); each -EINVAL with the sentence. */
/* c->algorithm, of one of two classes: "NAME" is not WHAT; and c->backend. */
int case_need_algorithm(struct bench_case *c, enum alg_class class,
			enum alg_class or_class, const char *what,
			struct error *err);
int case_need_backend(struct bench_case *c, struct error *err);
/* Of workloads that are about the TEE itself. */
int case_need_tee(struct bench_case *c, struct error *err);
int case_need_no_parameters(const struct bench_case *c, struct error *err);
/* bytes is a multiple of the cipher's blocks, and not 0. */
int case_need_blocks(const struct bench_case *c, uint64_t bytes,
		     struct error *err);
/* A decimal number without sign, leading zeros or suffix, at most max. */
int case_number(const char *text, const char *what, uint64_t max,
		uint64_t *value, struct error *err);
/* c->bytes, from that text. */
int case_bytes(struct bench_case *c, const char *text, uint64_t max,
	       struct error *err);
/*
 * The index of text in a NULL-terminated list, or -EINVAL: "TEXT" is not WHAT,
 * with all that are.
 */
int case_choice(const char *text, const char *const *names, const char *what,
		struct error *err);

/* Does a TA compute it? By the key alone: nothing is opened yet. */
bool case_in_ta(const struct bench_case *c);
/* Does it call the TEE? That, or its storage. */
bool case_calls_tee(const struct bench_case *c);

/* Makes c->state and prepares it; ends and frees it, if there is one. */
int case_prepare(struct bench_case *c, struct pool *pool, struct error *err);
void case_teardown(struct bench_case *c);
/* What is measured of a case that is prepared. */
struct measure_target case_target(const struct bench_case *c);

#endif
