/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "clock.h"
#include "json.h"
#include "marker.h"
#include "memory.h"
#include "stop.h"
#include "tee_client.h"

/* OP-TEE's lib/libutee/include/pta_stats.h */
static const TEEC_UUID stats_ta = { 0xd96a5b40,
				    0xe2c7,
				    0xb1af,
				    { 0x87, 0x94, 0x10, 0x02, 0xa5, 0xd5, 0xc6, 0x1b } };
enum { STATS_ALLOCATIONS = 1 };

enum { NAME_BYTES = 32 };

/* struct pta_stats_alloc behind its name and, since OP-TEE 4.6, a sum of 64 bits. */
struct pool_facts {
	uint32_t now, most, size, refused, largest_refused, used_then;
};

enum {
	POOLS_MAX = 8,      /* OP-TEE numbers its pools from 1 */
	ANSWER_BYTES = 512, /* room for one struct pta_stats_alloc */
};

struct look {
	struct tee_session *tee; /* NULL: there is no pseudo TA */
	TEEC_SharedMemory *answer;
	char unknown[224]; /* why there is none */
	struct json j;
	uint32_t before[POOLS_MAX]; /* bytes in use at the step before */
	bool failed;
};

static void look_open(struct look *l)
{
	struct error why = { 0 };

	if (!tee_session_open(&l->tee, &stats_ta, "OP-TEE's statistics", &why) &&
	    !tee_shm_alloc(l->tee, ANSWER_BYTES, TEEC_MEM_OUTPUT, &l->answer, &why))
		return;
	snprintf(l->unknown, sizeof(l->unknown), "%s",
		 why.skip && !strcmp(why.skip, "no-ta") ?
			 "this OP-TEE has no statistics of its memory: CFG_WITH_STATS=n" :
			 why.what);
	tee_session_close(l->tee);
	l->tee = NULL;
}

static void look_close(struct look *l)
{
	if (l->tee)
		tee_shm_free(l->tee, l->answer);
	tee_session_close(l->tee);
	json_free(&l->j);
}

/* Asks for pool `id`; `reset` makes the bytes in use the most so far, and forgets refusals. */
static bool ask(struct look *l, unsigned id, bool reset, struct pool_facts *facts)
{
	const char *at = (const char *)l->answer->buffer + NAME_BYTES;
	TEEC_Operation op = { 0 };

	memset(l->answer->buffer, 0, ANSWER_BYTES);
	tee_set_value(&op, 0, id, reset);
	tee_set_memref(&op, 1, TEEC_MEMREF_PARTIAL_OUTPUT, l->answer, 0, ANSWER_BYTES);
	if (tee_invoke(l->tee, STATS_ALLOCATIONS, &op, "ask for statistics", NULL))
		return false;
	if (op.params[1].memref.size < NAME_BYTES + sizeof(*facts))
		return false;
	if (op.params[1].memref.size >= NAME_BYTES + sizeof(uint64_t) + sizeof(*facts))
		at += sizeof(uint64_t);
	memcpy(facts, at, sizeof(*facts));
	return facts->size;
}

static void put_pools(struct look *l)
{
	struct json *j = &l->j;

	json_array(j, "pools");
	for (unsigned id = 1; l->tee && id < POOLS_MAX; id++) {
		struct pool_facts facts, ignored;

		if (!ask(l, id, false, &facts))
			continue;
		/* After a reset some pools have 0 as their most until they give something away. */
		if (facts.most < facts.now)
			facts.most = facts.now;
		if (facts.most < l->before[id])
			facts.most = l->before[id];
		l->before[id] = facts.now;
		json_object(j, NULL);
		/* The last answer is still there. */
		json_bytes(j, "name", l->answer->buffer, strnlen(l->answer->buffer, NAME_BYTES));
		json_u64(j, "now", facts.now);
		json_u64(j, "most", facts.most);
		json_u64(j, "size", facts.size);
		json_u64(j, "refused", facts.refused);
		json_u64(j, "largest_refused", facts.largest_refused);
		json_object_end(j);
		ask(l, id, true, &ignored);
	}
	json_array_end(j);
}

static void step_begin(struct look *l, const char *about, const char *step)
{
	json_reset(&l->j);
	json_object(&l->j, NULL);
	json_string(&l->j, "about", about);
	json_string(&l->j, "step", step);
}

static void step_end(struct look *l)
{
	put_pools(l);
	json_string_or_null(&l->j, "unknown", l->unknown);
	json_object_end(&l->j);
	l->failed = l->failed || l->j.failed;
	if (!l->j.failed)
		puts(l->j.text);
	fflush(stdout);
}

static void step(struct look *l, const char *about, const char *name)
{
	step_begin(l, about, name);
	step_end(l);
}

static void put_why(struct look *l, const struct error *why)
{
	json_u64(&l->j, "result", why->tee_result);
	json_string_or_null(&l->j, "code", error_tee_memory(why) ? "no-memory" : why->skip);
	json_string_or_null(&l->j, "reason", why->what);
	json_string_or_null(&l->j, "hint", why->hint);
}

static int calls_of(struct look *l, struct bench_case *c, struct pool *pool, struct error *why)
{
	const struct measure measure = { .now_ns = clock_now_ns, .stopped = stop_check };
	struct measured one;
	struct measure_target target;
	int ret = case_parse(c, pool, why);

	if (!ret)
		ret = case_prepare(c, pool, why);
	if (ret)
		return ret;
	step(l, c->key, "ready");
	target = case_target(c);
	ret = measure_once(&measure, &target, 1, c->options.repeats[0], &one, why);
	if (!ret)
		ret = case_verify(c, why);
	if (ret)
		return ret;
	step(l, c->key, "call");
	ret = measure_once(&measure, &target, 1, c->options.repeats[0], &one, why);
	if (!ret)
		ret = case_check(c, why);
	if (!ret)
		step(l, c->key, "again");
	return ret;
}

int memory_of_cases(struct cases *cases, struct error *err)
{
	struct look l = { 0 };
	int ret = 0;

	look_open(&l);
	MARKER_ARM();
	for (size_t i = 0; i < cases->count && !stop_asked(); i++) {
		struct bench_case *c = &cases->list[i];
		struct error why = { 0 };
		struct pool pool = { 0 };

		step(&l, c->key, "before");
		if (calls_of(&l, c, &pool, &why) && !stop_asked()) {
			ret = -EIO;
			step_begin(&l, c->key, "failed");
			put_why(&l, &why);
			step_end(&l);
		}
		case_teardown(c);
		pool_close(&pool);
		step(&l, c->key, "after");
	}
	MARKER_DISARM();
	if (l.failed)
		ret = error_memory(err);
	look_close(&l);
	return ret;
}

/* Opens up to `most` sessions with the TA; returns how many there are in *list, to be freed. */
static unsigned fill(struct look *l, const char *uuid, unsigned most, struct tee_session **list,
		     struct error *why)
{
	char name[48];
	TEEC_UUID parsed;
	unsigned n = 0;

	tee_uuid(uuid, &parsed);
	snprintf(name, sizeof(name), "TA %s", uuid);
	while (n < most && !stop_asked() && !tee_session_open(&list[n], &parsed, name, why)) {
		n++;
		if (n <= 2)
			step(l, uuid, n == 1 ? "first" : "second");
	}
	return n;
}

int memory_of_sessions(char **uuids, unsigned most, struct error *err)
{
	struct tee_session **list = calloc(most, sizeof(*list));
	struct look l = { 0 };
	TEEC_UUID parsed;
	int ret = 0;

	if (!list)
		return error_memory(err);
	for (size_t i = 0; !ret && uuids[i]; i++)
		if (!tee_uuid(uuids[i], &parsed))
			ret = error_set(err, -EINVAL, "'%s' is no UUID", uuids[i]);
	/* A pseudo TA answers without tee-supplicant; whether that does is then not waited for. */
	if (!ret && most > 1)
		look_open(&l);
	if (!uuids[0]) {
		MARKER_DISARM();
		step(&l, "the TEE", "now");
		MARKER_ARM();
	}
	for (size_t i = 0; ret != -EINVAL && uuids[i] && !stop_asked(); i++) {
		struct error why = { 0 };
		unsigned n;

		step(&l, uuids[i], "before");
		n = fill(&l, uuids[i], most, list, &why);
		step_begin(&l, uuids[i], n ? "full" : "failed");
		json_u64(&l.j, "sessions", n);
		put_why(&l, &why);
		step_end(&l);
		ret = n ? ret : -EIO;
		while (n)
			tee_session_close(list[--n]);
		step(&l, uuids[i], "after");
	}
	if (l.failed)
		ret = error_memory(err);
	look_close(&l);
	free(list);
	return ret;
}
