/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parallel/SESSIONS/tee/THREADS: the time in which each of THREADS threads makes one call, all at
 * once. SESSIONS is how the threads share sessions, and what they call:
 *
 *   own     each thread has a session and an instance of a TA
 *   single  each thread has a session with a TA that has one instance for all
 *   shared  all threads use one session
 *
 * alone stands for empty calls; own-digest and so on for 64 digests of nothing (SHA-256) a call,
 * own-storage and so on for opening, reading and closing an object of 256 bytes. open and
 * single-open open and close a session with such a TA; single-open while another one is open.
 *
 * The threads wait for each other before and after a sample, not between their calls. What differs
 * between two of the keys is what threads wait for: an instance, a session, a CPU.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>
#include <teemark/ta_size.h>

#include "known_answer.h"
#include "tee_client.h"
#include "workload.h"

enum sharing { OWN, SINGLE, SHARED, SHARINGS };
enum work { EMPTY, DIGEST, STORAGE, OPEN };
/* In the order of SHARINGS * work + sharing. */
static const char *const sessions[] = {
	"own",           "single",      "shared",         "own-digest",     "single-digest",
	"shared-digest", "own-storage", "single-storage", "shared-storage", "open",
	"single-open",   NULL,
};

enum { THREADS_MAX = 32, SINGLE_KIB = 32, DIGESTS = 64, NAME_BYTES = 32, OBJECT_BYTES = 256 };

/* The commands of EMPTY (of both TAs), DIGEST and STORAGE. */
static const uint32_t commands[] = { TA_DIGEST_CMD_NOP, TA_BENCH_CMD_DIGEST_PART,
				     TA_BENCH_CMD_STORAGE_FETCH };
_Static_assert((int)TA_DIGEST_CMD_NOP == (int)TA_SIZE_CMD_NOP, "one number for both TAs");

struct parallel;

struct caller {
	struct parallel *all;
	pthread_t thread;
	struct tee_session *tee; /* NULL: it uses the first caller's */
	TEEC_SharedMemory *shm;  /* NAME_BYTES for its object's name, then the call's result */
	bool stored;             /* its object exists */
	TEEC_Operation op;
	struct error error; /* of its calls in the last run */
	uint32_t calls;     /* that succeeded in the last run */
};

struct parallel {
	struct caller callers[THREADS_MAX];
	unsigned count, started;
	enum sharing sharing;
	enum work work;
	TEEC_UUID uuid;
	uint8_t want[OBJECT_BYTES];
	size_t want_bytes;
	pthread_barrier_t begin, end;
	bool leave;
	uint32_t loops;
};

static struct tee_session *session_of(struct caller *c)
{
	return c->tee ? c->tee : c->all->callers[0].tee;
}

static int call_once(struct caller *c, struct error *err)
{
	struct parallel *all = c->all;
	struct tee_session *other;
	int ret;

	if (all->work != OPEN)
		return tee_invoke(session_of(c), commands[all->work], &c->op, "call the TA", err);
	ret = tee_session_open(&other, &all->uuid, "the TA", err);
	tee_session_close(other);
	return ret;
}

static void *call(void *arg)
{
	struct caller *c = arg;
	struct parallel *all = c->all;

	for (;;) {
		pthread_barrier_wait(&all->begin);
		if (all->leave)
			return NULL;
		c->error = (struct error){ 0 };
		for (c->calls = 0; c->calls < all->loops; c->calls++)
			if (call_once(c, &c->error))
				break;
		pthread_barrier_wait(&all->end);
	}
}

/* Makes the caller's object, in place of the old one if there is one, and leaves it open. */
static int make_object(struct caller *c, struct error *err)
{
	TEEC_Operation op = { 0 };

	tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_INPUT, c->shm, 0, NAME_BYTES);
	tee_set_memref(&op, 1, TEEC_MEMREF_PARTIAL_INPUT, c->shm, NAME_BYTES, OBJECT_BYTES);
	tee_set_value(&op, 2, TA_BENCH_STORAGE_REE_FS, 0);
	return tee_invoke(session_of(c), TA_BENCH_CMD_STORAGE_CREATE, &op, "store an object", err);
}

/* Makes a caller's memory and its call's parameters; for STORAGE its object, too. */
static int make_operation(struct caller *c, struct error *err)
{
	struct parallel *all = c->all;
	int ret = 0;

	if (all->work != DIGEST && all->work != STORAGE)
		return 0;
	ret = tee_shm_alloc(session_of(c), NAME_BYTES + OBJECT_BYTES,
			    TEEC_MEM_INPUT | TEEC_MEM_OUTPUT, &c->shm, err);
	if (ret)
		return ret;
	if (all->work == DIGEST) {
		tee_set_value(&c->op, 0, algorithm_by_name("sha256")->id, TA_BENCH_DIGEST_FINISH);
		tee_set_value(&c->op, 1, DIGESTS, 0);
		tee_set_memref(&c->op, 2, TEEC_MEMREF_PARTIAL_OUTPUT, c->shm, NAME_BYTES,
			       all->want_bytes);
		return 0;
	}
	/* A name that no other case uses: the cases of a run take turns. */
	snprintf(c->shm->buffer, NAME_BYTES, "teemark-parallel-%d-%u-%u", all->sharing, all->count,
		 (unsigned)(c - all->callers));
	memcpy((uint8_t *)c->shm->buffer + NAME_BYTES, all->want, OBJECT_BYTES);
	ret = make_object(c, err);
	c->stored = !ret;
	tee_set_memref(&c->op, 0, TEEC_MEMREF_PARTIAL_INPUT, c->shm, 0, NAME_BYTES);
	tee_set_memref(&c->op, 1, TEEC_MEMREF_PARTIAL_OUTPUT, c->shm, NAME_BYTES, OBJECT_BYTES);
	tee_set_value(&c->op, 2, TA_BENCH_STORAGE_REE_FS, 0);
	return ret;
}

static int parallel_prepare(struct bench_case *c, struct error *err)
{
	static const uint8_t nothing[1];
	static const TEEC_UUID tas[][SHARED] = {
		{ TA_DIGEST_UUID, TA_SIZE_UUID(SINGLE_KIB) },
		{ TA_BENCH_UUID, TA_BENCH_SINGLE_UUID },
	};
	struct parallel *all = c->state;
	bool each;
	int ret = 0;

	all->sharing = (enum sharing)(c->name % SHARINGS);
	all->work = (enum work)(c->name / SHARINGS);
	all->count = (unsigned)c->part[0].number;
	all->uuid = tas[all->work == DIGEST || all->work == STORAGE][all->sharing == SINGLE];
	each = all->sharing != SHARED && all->work != OPEN;
	if (all->work == STORAGE) {
		all->want_bytes = OBJECT_BYTES;
		pool_message(all->want, OBJECT_BYTES);
	} else if (all->work == DIGEST) {
		const struct algorithm *sha256 = algorithm_by_name("sha256");

		all->want_bytes = sha256->out_bytes;
		ret = known_answer_digest(c->pool, c->backend, sha256, nothing, 0, all->want, NULL,
					  err);
	}
	for (unsigned i = 0; !ret && i < all->count; i++) {
		all->callers[i].all = all;
		if (!i || each)
			ret = tee_session_open(&all->callers[i].tee, &all->uuid, "the TA", err);
		if (!ret)
			ret = make_operation(&all->callers[i], err);
	}
	if (ret)
		return ret;
	if (pthread_barrier_init(&all->begin, NULL, all->count + 1) ||
	    pthread_barrier_init(&all->end, NULL, all->count + 1))
		return error_memory(err);
	for (; all->started < all->count; all->started++) {
		struct caller *caller = &all->callers[all->started];

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
	int ret = 0;

	for (unsigned i = 0; !ret && i < all->count; i++) {
		struct caller *caller = &all->callers[i];
		uint8_t *result = caller->shm ? (uint8_t *)caller->shm->buffer + NAME_BYTES : NULL;

		if (caller->calls != all->loops)
			return case_wrong_result(err, "thread %u made %u of %u calls", i,
						 caller->calls, all->loops);
		if (result) {
			ret = case_compare("thread's result", result, all->want, all->want_bytes,
					   err);
			memset(result, 0, all->want_bytes); /* the next run has to write it */
		}
	}
	return ret;
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
	for (unsigned i = all->count; i--;) { /* the first caller's session is the others' */
		struct caller *caller = &all->callers[i];

		if (caller->stored && !make_object(caller, NULL))
			tee_invoke(session_of(caller), TA_BENCH_CMD_STORAGE_DELETE,
				   &(TEEC_Operation){ 0 }, "delete an object", NULL);
		if (caller->shm)
			tee_shm_free(session_of(caller), caller->shm);
		tee_session_close(caller->tee);
	}
}

const struct workload workload_parallel = {
	.name = "parallel",
	.summary = "calls by several threads at once",
	.parameters = "THREADS",
	.names = sessions,
	.backend = "tee",
	.least = 1,
	.most = THREADS_MAX,
	.state_size = sizeof(struct parallel),
	.prepare = parallel_prepare,
	.run = parallel_run,
	.check = parallel_check,
	.teardown = parallel_teardown,
};
