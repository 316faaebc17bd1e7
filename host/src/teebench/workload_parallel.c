/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parallel/SESSIONS/tee/THREADS: the time in which each of THREADS threads makes one call, all at
 * once. A call is an empty one, but for `open`:
 *
 *   own     each thread has a session and an instance of the digest TA
 *   shared  all threads use one session with the digest TA
 *   single  each thread has a session with a TA that has one instance for all (ta/size)
 *   open    each thread opens and closes a session with the digest TA
 *
 * The threads wait for each other before and after a sample, not between their calls. What differs
 * between two of the keys is what threads wait for: an instance, a session, a CPU.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <teemark/ta_digest.h>
#include <teemark/ta_size.h>

#include "tee_client.h"
#include "workload.h"

enum { OWN, SHARED, SINGLE, OPEN };
static const char *const sessions[] = { "own", "shared", "single", "open", NULL };

enum { THREADS_MAX = 32, SINGLE_KIB = 32 };

struct parallel;

struct caller {
	struct parallel *all;
	pthread_t thread;
	struct tee_session *tee; /* NULL: it uses the first caller's */
	struct error error;      /* of its calls in the last run */
	uint32_t calls;          /* that succeeded in the last run */
};

struct parallel {
	struct caller callers[THREADS_MAX];
	unsigned count, started;
	int kind;
	TEEC_UUID uuid;
	uint32_t nop;
	pthread_barrier_t begin, end;
	bool leave;
	uint32_t loops;
};

static int call_once(struct parallel *all, struct tee_session *tee, struct error *err)
{
	TEEC_Operation op = { 0 };
	struct tee_session *other;
	int ret;

	if (all->kind != OPEN)
		return tee_invoke(tee, all->nop, &op, "make an empty call", err);
	ret = tee_session_open(&other, &all->uuid, "the digest TA", err);
	tee_session_close(other);
	return ret;
}

static void *call(void *arg)
{
	struct caller *c = arg;
	struct parallel *all = c->all;
	struct tee_session *tee = c->tee ? c->tee : all->callers[0].tee;

	for (;;) {
		pthread_barrier_wait(&all->begin);
		if (all->leave)
			return NULL;
		c->error = (struct error){ 0 };
		for (c->calls = 0; c->calls < all->loops; c->calls++)
			if (call_once(all, tee, &c->error))
				break;
		pthread_barrier_wait(&all->end);
	}
}

/* Opens the callers' sessions: one for each, or only the first one's. */
static int open_sessions(struct parallel *all, struct error *err)
{
	bool each = all->kind == OWN || all->kind == SINGLE;
	int ret = 0;

	for (unsigned i = 0; !ret && i < (each ? all->count : 1); i++)
		ret = tee_session_open(&all->callers[i].tee, &all->uuid, "the TA", err);
	return ret;
}

static int parallel_prepare(struct bench_case *c, struct error *err)
{
	static const TEEC_UUID digest = TA_DIGEST_UUID, single = TA_SIZE_UUID(SINGLE_KIB);
	struct parallel *all = c->state;
	int ret;

	all->kind = c->name;
	all->count = (unsigned)c->part[0].number;
	all->uuid = all->kind == SINGLE ? single : digest;
	all->nop = all->kind == SINGLE ? (uint32_t)TA_SIZE_CMD_NOP : (uint32_t)TA_DIGEST_CMD_NOP;
	ret = open_sessions(all, err);
	if (ret)
		return ret;
	if (pthread_barrier_init(&all->begin, NULL, all->count + 1) ||
	    pthread_barrier_init(&all->end, NULL, all->count + 1))
		return error_memory(err);
	for (; all->started < all->count; all->started++) {
		struct caller *caller = &all->callers[all->started];

		caller->all = all;
		ret = pthread_create(&caller->thread, NULL, call, caller);
		if (ret)
			return error_set(err, -ret, "cannot start %u threads", all->count);
	}
	return 0;
}

static int parallel_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	struct parallel *all = c->state;

	(void)repeat;
	all->loops = loops;
	pthread_barrier_wait(&all->begin);
	pthread_barrier_wait(&all->end);
	for (unsigned i = 0; i < all->count; i++) {
		if (!all->callers[i].error.code)
			continue;
		if (err)
			*err = all->callers[i].error;
		return all->callers[i].error.code;
	}
	return 0;
}

static int parallel_check(struct bench_case *c, struct error *err)
{
	struct parallel *all = c->state;

	for (unsigned i = 0; i < all->count; i++)
		if (all->callers[i].calls != all->loops)
			return case_wrong_result(err, "thread %u made %u of %u calls", i,
						 all->callers[i].calls, all->loops);
	return 0;
}

static void parallel_teardown(struct bench_case *c)
{
	struct parallel *all = c->state;

	/* If a thread is missing, no barrier opens: the others are ended where they wait. */
	all->leave = true;
	if (all->started && all->started == all->count)
		pthread_barrier_wait(&all->begin);
	for (unsigned i = 0; i < all->started; i++) {
		if (all->started < all->count)
			pthread_cancel(all->callers[i].thread);
		pthread_join(all->callers[i].thread, NULL);
	}
	for (unsigned i = 0; i < all->count; i++)
		tee_session_close(all->callers[i].tee);
}

const struct workload workload_parallel = {
	.name = "parallel",
	.summary = "calls by several threads at once",
	.parameters = "THREADS",
	.names = sessions,
	.what = "a way to share sessions",
	.backend = "tee",
	.least = 1,
	.most = THREADS_MAX,
	.state_size = sizeof(struct parallel),
	.prepare = parallel_prepare,
	.probe = case_probe_backend,
	.run = parallel_run,
	.check = parallel_check,
	.teardown = parallel_teardown,
};
