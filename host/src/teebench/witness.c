/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "facts.h"
#include "witness.h"

enum {
	IDLE_NS = 20000000,
	STRETCH_NS = 20000000,
	STRETCH_MAX_NS = 1000000000,
	CALLS_MIN = 8,
	CALLS_MAX = 4096,
	INTERRUPTS_MAX = 1 << 20, /* bytes of /proc/interrupts */
};

static char *read_interrupts(void)
{
	return read_whole("/proc/interrupts", INTERRUPTS_MAX);
}

void witness_idle(struct idle_evidence *idle)
{
	struct timespec ts = { .tv_nsec = IDLE_NS };
	uint64_t begin;

	if (idle->looked)
		return;
	idle->looked = true;
	idle->before = read_interrupts();
	begin = clock_now_ns();
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	idle->ns = clock_now_ns() - begin;
	idle->after = read_interrupts();
	if (!idle->before || !idle->after)
		snprintf(idle->reason, sizeof(idle->reason), "%s", cannot_read("/proc/interrupts"));
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

/* Watches a stretch of w->calls calls. */
static int look(const struct measure *m, const struct measure_target *target, uint32_t repeat,
		struct evidence *w, struct error *err)
{
	struct measure plain = *m;
	int64_t others = watch_others_ns("/proc");
	int ret;

	plain.align_ns = 0;
	witness_free(w);
	w->before = read_interrupts();
	ret = measure_once(&plain, target, w->calls, repeat, &w->measured, err);
	w->after = read_interrupts();
	/* A process that ended meanwhile is missing from the second sum, which may be smaller. */
	w->others_ns = others < 0 ? -1 : watch_others_ns("/proc") - others;
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
	ret = look(m, target, repeat, w, err);
	/*
	 * If the load was high when call_ns was measured, calls may be faster now: more are made.
	 */
	while (!ret && w->measured.ns < STRETCH_NS / 4 && w->calls <= max / 8 &&
	       w->calls <= CALLS_MAX / 8) {
		w->calls *= 8;
		ret = look(m, target, repeat, w, err);
	}
	return ret;
}

/* Writes the lines of /proc/interrupts that have changed, each as it was and as it is. */
static void put_changes(struct json *j, const char *name, const char *before, const char *after)
{
	json_array(j, name);
	while (*before && *after) {
		size_t was = strcspn(before, "\n"), is = strcspn(after, "\n");

		if (was != is || memcmp(before, after, is)) {
			json_array(j, NULL);
			json_bytes(j, NULL, before, was);
			json_bytes(j, NULL, after, is);
			json_array_end(j);
		}
		before += was + (before[was] == '\n');
		after += is + (after[is] == '\n');
	}
	json_array_end(j);
}

void witness_put(struct json *j, const struct evidence *w, const struct idle_evidence *idle)
{
	if (!w->before || !w->after) {
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
	put_changes(j, "raised", w->before, w->after);
	put_changes(j, "idle_raised", idle->before, idle->after);
	json_object_end(j);
}

void witness_free(struct evidence *w)
{
	free(w->before);
	free(w->after);
	w->before = w->after = NULL;
}
