/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "json.h"
#include "witness.h"

enum {
	IDLE_NS = 20000000,
	STRETCH_NS = 20000000,
	STRETCH_MAX_NS = 1000000000,
	CALLS_MIN = 8,
	CALLS_MAX = 4096,
};

/* Replaces each count in `now` by its rise since `before`, and drops lines that didn't rise. */
static void rose(const struct interrupts *before, struct interrupts *now)
{
	size_t n = 0;

	for (size_t i = 0; i < now->count; i++) {
		struct interrupt_line line = now->list[i];

		line.count = interrupts_since(before, &line);
		if (line.count)
			now->list[n++] = line;
	}
	now->count = n;
}

void witness_idle(struct idle_evidence *idle)
{
	struct timespec ts = { .tv_nsec = IDLE_NS };
	struct interrupts before;
	struct error err = { 0 };
	uint64_t begin;

	if (idle->looked)
		return;
	idle->looked = true;
	if (!interrupts_read(&before, &err)) {
		begin = clock_now_ns();
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
		idle->ns = clock_now_ns() - begin;
		if (!interrupts_read(&idle->raised, &err))
			rose(&before, &idle->raised);
		interrupts_free(&before);
	}
	if (err.code)
		snprintf(idle->reason, sizeof(idle->reason), "%.159s", err.what);
}

/* Returns whether an interrupt line rises with the calls, beyond its rate on the idle machine. */
static bool shows_something(const struct evidence *w, const struct idle_evidence *idle)
{
	for (size_t i = 0; i < w->raised.count; i++) {
		const struct interrupt_line *line = &w->raised.list[i];
		double resting = (double)interrupts_count(&idle->raised, line->line);

		if (idle->ns)
			resting *= (double)w->measured.ns / (double)idle->ns;
		if ((double)line->count > 4 * resting + w->calls / 8.0)
			return true;
	}
	return false;
}

int64_t watch_others_ns(const char *folder)
{
	DIR *proc = opendir(folder);
	struct dirent *entry;
	long long ns, sum = 0;
	char path[300];

	while (proc && (entry = readdir(proc))) {
		FILE *file;

		if (!isdigit((unsigned char)entry->d_name[0]) || atoi(entry->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "%s/%s/schedstat", folder, entry->d_name);
		file = fopen(path, "re");
		if (file && fscanf(file, "%lld", &ns) == 1)
			sum += ns;
		if (file)
			fclose(file);
	}
	if (proc)
		closedir(proc);
	/* A kernel that doesn't count CPU time may show 0 for each process. */
	return sum > 0 ? sum : -1;
}

/* Watches a stretch of w->calls calls; with_others: also the CPU time of all other processes. */
static int look(const struct measure *m, const struct measure_target *target, uint32_t repeat,
		bool with_others, struct evidence *w, struct error *err)
{
	struct measure plain = *m;
	struct interrupts before;
	int64_t others = with_others ? watch_others_ns("/proc") : -1;
	int ret;

	plain.align_ns = 0;
	w->known = false;
	w->others_ns = -1;
	witness_free(w);
	if (interrupts_read(&before, NULL))
		return 0;
	ret = measure_once(&plain, target, w->calls, repeat, &w->measured, err);
	if (!ret && !interrupts_read(&w->raised, NULL)) {
		rose(&before, &w->raised);
		w->known = true;
	}
	interrupts_free(&before);
	/* A process that ended meanwhile is missing from the second sum, which may be smaller. */
	if (others >= 0)
		w->others_ns = watch_others_ns("/proc") - others;
	if (w->others_ns < 0)
		w->others_ns = -1;
	return ret;
}

static uint32_t calls_in(uint64_t ns, uint64_t call_ns)
{
	return !call_ns || ns / call_ns > CALLS_MAX ? CALLS_MAX : (uint32_t)(ns / call_ns);
}

static uint32_t choose_calls(uint64_t call_ns, uint32_t max)
{
	uint32_t calls = calls_in(STRETCH_NS, call_ns);
	uint32_t most = calls_in(STRETCH_MAX_NS, call_ns);

	if (calls < CALLS_MIN)
		calls = CALLS_MIN < most ? CALLS_MIN : most;
	if (calls > max)
		calls = max;
	return calls ? calls : 1;
}

int witness_calls(const struct measure *m, const struct measure_target *target, uint32_t repeat,
		  uint64_t call_ns, const struct idle_evidence *idle, struct evidence *w,
		  struct error *err)
{
	uint32_t max = measure_loops_max(target);
	int ret;

	*w = (struct evidence){ .calls = choose_calls(call_ns, max), .others_ns = -1 };
	if (idle->reason[0])
		return 0;
	ret = look(m, target, repeat, false, w, err);
	/*
	 * If the load was high when call_ns was measured, calls may be faster now: more are made.
	 */
	while (!ret && w->measured.ns < STRETCH_NS / 4 && w->calls <= max / 8 &&
	       w->calls <= CALLS_MAX / 8) {
		w->calls *= 8;
		ret = look(m, target, repeat, false, w, err);
	}
	if (!ret && w->known && shows_something(w, idle))
		ret = look(m, target, repeat, true, w, err);
	return ret;
}

void witness_put(struct json *j, const struct evidence *w, const struct idle_evidence *idle)
{
	if (!w->known) {
		json_null(j, "watched");
		json_string(j, "watched_reason",
			    idle->reason[0] ? idle->reason : "cannot read /proc/interrupts");
		return;
	}
	json_object(j, "watched");
	json_u64(j, "calls", w->calls);
	json_u64(j, "ns", w->measured.ns);
	json_i64(j, "user_us", w->measured.usage.user_us);
	json_i64(j, "sys_us", w->measured.usage.sys_us);
	json_i64_or_null(j, "others_ns", w->others_ns);
	json_u64(j, "idle_ns", idle->ns);
	json_array(j, "interrupts");
	for (size_t i = 0; i < w->raised.count; i++) {
		const struct interrupt_line *line = &w->raised.list[i];

		json_object(j, NULL);
		json_string(j, "line", line->line);
		json_string(j, "name", line->name);
		json_u64(j, "count", line->count);
		json_u64(j, "idle", interrupts_count(&idle->raised, line->line));
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void witness_free(struct evidence *w)
{
	interrupts_free(&w->raised);
}
