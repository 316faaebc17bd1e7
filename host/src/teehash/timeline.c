/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "timeline.h"

void timeline_begin(struct timeline *t)
{
	t->tid = (uint32_t)syscall(SYS_gettid);
	if (switches_begin(&t->switches, &t->why))
		return;
	t->begin_ns = clock_now_ns();
}

void timeline_add(struct timeline *t, const char *step, uint64_t begin_ns, uint64_t end_ns)
{
	if (!t || !t->switches)
		return;
	if (t->count == TIMELINE_STRETCHES) {
		if (!t->full_ns)
			t->full_ns = begin_ns;
		return;
	}
	t->stretches[t->count++] = (struct stretch){ step, { begin_ns, end_ns } };
}

void timeline_end(struct timeline *t)
{
	if (!t->switches)
		return;
	t->end_ns = clock_now_ns();
	switches_end(t->switches, &t->events, &t->why);
	t->switches = NULL;
}

void timeline_free(struct timeline *t)
{
	timeline_end(t);
	free(t->events.list);
}

/* Writes times in nanoseconds since the timeline began. */
static void put_times(struct json *json, const struct timeline *t, const uint64_t *ns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_u64(json, NULL, ns[i] > t->begin_ns ? ns[i] - t->begin_ns : 0);
}

static void put_steps(struct json *json, const struct timeline *t)
{
	json_array(json, "steps");
	for (size_t i = 0; i < t->count; i++) {
		json_array(json, NULL);
		json_string(json, NULL, t->stretches[i].step);
		put_times(json, t, t->stretches[i].ns, 2);
		json_array_end(json);
	}
	json_array_end(json);
}

static void put_switches(struct json *json, const struct timeline *t)
{
	const struct switch_event *e = t->events.list;

	json_array(json, "switches");
	for (size_t i = 0; i < t->events.count && e->ns <= t->end_ns; i++, e++) {
		json_array(json, NULL);
		put_times(json, t, &e->ns, 1);
		json_u64(json, NULL, e->tid);
		json_u64(json, NULL, e->cpu);
		json_string(json, NULL, e->kind);
		json_array_end(json);
	}
	json_array_end(json);
}

void timeline_json(struct json *json, const struct timeline *t)
{
	uint64_t until = t->events.whole_until_ns;

	if (t->full_ns && until > t->full_ns)
		until = t->full_ns;
	if (until > t->end_ns)
		until = t->end_ns;
	json_object(json, "timeline");
	json_string_or_null(json, "reason", t->events.list ? NULL : t->why.what);
	json_string_or_null(json, "hint", t->events.list ? NULL : t->why.hint);
	if (t->events.list) {
		json_string(json, "source",
			    "PERF_RECORD_SWITCH of perf_event_open(), all "
			    "threads; steps by the client's clock");
		json_u64(json, "ns", t->end_ns - t->begin_ns);
		json_u64(json, "whole_until_ns", until > t->begin_ns ? until - t->begin_ns : 0);
		json_u64(json, "thread", t->tid);
		put_steps(json, t);
		put_switches(json, t);
	}
	json_object_end(json);
}
