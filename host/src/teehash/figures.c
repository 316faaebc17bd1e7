/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#include "figures.h"

static const char rusage[] = "getrusage(), all threads";
static const char as_parts[] = "as its parts";

static void add_stats(struct file_stats *sum, const struct file_stats *s)
{
	sum->bytes += s->bytes;
	sum->open_ns += s->open_ns;
	sum->read_ns += s->read_ns;
	sum->inline_ns += s->inline_ns;
	sum->wait_ns += s->wait_ns;
	sum->call_ns += s->call_ns;
	sum->setup_ns += s->setup_ns;
	sum->reads += s->reads;
	sum->calls += s->calls;
}

void figures_add_file(struct measurements *f, const struct message *m)
{
	f->totals.files++;
	add_stats(&f->totals.all, &m->stats);
	if (m->ret) {
		f->totals.failed++;
	} else {
		f->totals.good_bytes += m->stats.bytes;
		f->totals.good_hash_ns += m->stats.hash_ns;
		f->totals.oneshots += m->stats.way == way_oneshot;
		f->totals.streams += m->stats.way == way_stream;
	}
}

void print_value(FILE *out, const char *unit, double value)
{
	static const struct {
		const char *unit;
		double least, divisor;
		int digits;
		const char *shown;
	} rows[] = {
		{ "ns", 1e9, 1e9, 3, " s" },
		{ "ns", 1e6, 1e6, 3, " ms" },
		{ "ns", -HUGE_VAL, 1e3, 3, " us" },
		{ "bytes", 1 << 20, 1 << 20, 1, " MiB" },
		{ "bytes", 1 << 10, 1 << 10, 1, " KiB" },
		{ "bytes", -HUGE_VAL, 1, 0, " bytes" },
		{ "bytes/s", -HUGE_VAL, 1 << 20, 2, " MiB/s" },
		{ "percent", -HUGE_VAL, 1, 2, " %" },
		{ "ratio", -HUGE_VAL, 1, 4, "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].unit, unit) && value >= rows[i].least) {
			fprintf(out, "%.*f%s", rows[i].digits, value / rows[i].divisor,
				rows[i].shown);
			return;
		}
	fprintf(out, "%.0f", value); /* the unit is a count */
}

/* Writes a figure or, if there is none, the reason `why`; an infinite value has a reason, too. */
__attribute__((format(printf, 8, 9))) static void
figure(struct sheet *s, const char *key, const char *title, const char *unit, double value,
       const char *why, const char *resolution, const char *source, ...)
{
	char text[384];
	va_list args;

	va_start(args, source);
	vsnprintf(text, sizeof(text), source, args);
	va_end(args);
	if (why && !*why)
		why = "unknown";
	else if (!why && !isfinite(value))
		why = "nothing to divide by";
	if (s->text) {
		fprintf(s->text, "  %-34s ", title);
		if (why) {
			fprintf(s->text, "not measured  [%s]\n", why);
		} else {
			print_value(s->text, unit, value);
			fprintf(s->text, "  [%s; %s]\n", text, resolution);
		}
		return;
	}
	json_object(s->json, key);
	if (!why && value == floor(value))
		json_u64(s->json, "value", (uint64_t)value);
	else
		json_double(s->json, "value", why ? NAN : value);
	json_string(s->json, "unit", unit);
	json_string_or_null(s->json, "source", why ? NULL : text);
	json_string_or_null(s->json, "resolution", why ? NULL : resolution);
	json_string_or_null(s->json, "reason", why);
	json_object_end(s->json);
}

/* Writes a count, whose resolution is 1. */
static void count(struct sheet *s, const char *key, const char *title, uint64_t value,
		  const char *source)
{
	figure(s, key, title, "count", (double)value, NULL, "1", "%s", source);
}

static void group(struct sheet *s, const char *key, const char *title)
{
	if (s->text)
		fprintf(s->text, "\n%s\n", title);
	else
		json_object(s->json, key);
}

static void group_end(struct sheet *s)
{
	if (s->json)
		json_object_end(s->json);
}

/* Returns true if the TA's counter measured the time inside, in all sessions. */
static bool counted(const struct measurements *f)
{
	return f->counter.clock != TA_CLOCK_OFF && !f->run->stats.sessions.uncounted;
}

/* Returns how many ns of the time in calls were spent computing; NAN if that wasn't counted. */
static double compute_ns(const struct measurements *f)
{
	if (!f->has_tee)
		return (double)f->totals.all.call_ns;
	return counted(f) ? (double)f->run->stats.sessions.inside_ns : NAN;
}

/* Returns why the time inside the TA is missing; NULL if it isn't. */
static const char *not_counted(const struct measurements *f)
{
	if (!f->has_tee || counted(f))
		return NULL;
	return f->counter.clock == TA_CLOCK_OFF ? f->counter.reason :
						  "a session that counted itself was lost";
}

static double cpu_ns(const struct usage *usage)
{
	return 1000.0 * (double)(usage->user_us + usage->sys_us);
}

static void count_switches(struct sheet *s, const struct usage *usage)
{
	count(s, "context_switches", "context switches", (uint64_t)(usage->nvcsw + usage->nivcsw),
	      rusage);
	count(s, "voluntary_context_switches", "of them voluntary (it waited)",
	      (uint64_t)usage->nvcsw, rusage);
	count(s, "involuntary_context_switches", "of them involuntary", (uint64_t)usage->nivcsw,
	      rusage);
}

static void write_host(struct sheet *s, const struct measurements *f)
{
	const struct session_stats *sessions = &f->run->stats.sessions;
	const struct usage *usage = &f->usage;
	const struct file_stats *all = &f->totals.all;

	group(s, "host", "Normal world");
	figure(s, "total_time", "total time", "ns", (double)f->total_ns, NULL, s->tick,
	       "client clock, CLOCK_MONOTONIC_RAW");
	figure(s, "file_read_time", "time in read()", "ns", (double)all->read_ns, NULL, s->tick,
	       "client clock around read(), whichever thread");
	figure(s, "cpu_time", "CPU time", "ns", cpu_ns(usage), NULL, "1 us",
	       "%s; time in the TEE counts, as system time", rusage);
	figure(s, "run_queue_wait", "ready, but another ran", "ns",
	       (double)usage->runq_ns + (double)f->run->stats.runq_ns +
		       (double)sessions->reader_runq_ns,
	       usage->runq_ns < 0 || f->run->stats.runq_ns < 0 ?
		       "this kernel has no schedstat (CONFIG_SCHED_INFO)" :
		       NULL,
	       "1 ns", "/proc/thread-self/schedstat, all threads");
	count_switches(s, usage);
	figure(s, "peak_memory", "peak resident memory", "bytes", (double)f->peak_bytes,
	       f->peak_bytes < 0 ? "/proc/self/status has no VmHWM" : NULL, "1 page",
	       "VmHWM of /proc/self/status");
	figure(s, "buffer_memory", "of it buffers, all sessions", "bytes",
	       (double)sessions->buffer_bytes, NULL, "1 byte", "%u slots of %zu bytes a session",
	       sessions->slots, f->run->stats.chunk);
	figure(s, "disk_read", "read from the disk, not a cache", "bytes",
	       (double)usage->disk_bytes, NULL, "512 bytes", "%s", rusage);
	count(s, "reads", "calls of read()", all->reads, "counted");
	group_end(s);
}

/* Writes what the process used while it read and hashed: opening, which loads a TA, isn't in it. */
static void write_hashing(struct sheet *s, const struct measurements *f)
{
	const struct usage *usage = &f->after_opening;

	group(s, "hashing", "After opening, until the last digest");
	figure(s, "elapsed_time", "time", "ns", (double)f->after_opening_ns, NULL, s->tick,
	       "client clock, CLOCK_MONOTONIC_RAW");
	figure(s, "cpu_time", "CPU time", "ns", cpu_ns(usage), NULL, "1 us", "%s", rusage);
	figure(s, "cpu_utilization", "CPU utilisation", "percent",
	       100 * cpu_ns(usage) / (double)f->after_opening_ns, NULL, as_parts,
	       "CPU time by time; 100 %% is one CPU");
	count_switches(s, usage);
	group_end(s);
}

static void write_switches(struct sheet *s, const struct measurements *f)
{
	static const char source[] = "tracepoint optee:optee_invoke_fn_end";
	const struct tracepoint_counts *c = &f->switches;
	const char *why = !f->has_tee      ? "no call leaves the normal world" :
			  f->untraced.code ? f->untraced.what :
					     NULL;

	figure(s, "world_switches", "returns from the secure world", "count", (double)c->returns,
	       why, "1", source);
	figure(s, "rpc_count", "requests of the TEE (RPC)", "count", (double)tracepoints_rpcs(c),
	       why, "1",
	       "%s, TA load included: %" PRIu64 " commands, %" PRIu64 " memory wanted, %" PRIu64
	       " given back, %" PRIu64 " other",
	       source, c->command, c->alloc, c->free, c->other);
	figure(s, "secure_interruptions", "interrupts taken while in the TEE", "count",
	       (double)c->interrupts, why, "1", source);
}

static void write_compute(struct sheet *s, const struct measurements *f)
{
	char step[32];

	snprintf(step, sizeof(step), "%.1f ns a command", 1e9 / f->counter.hz);
	if (f->has_tee)
		figure(s, "hash_compute_time", "time in the TA", "ns", compute_ns(f),
		       not_counted(f), step, "%s, read by the TA around its commands",
		       ta_counter_name(f->counter.clock));
	else
		figure(s, "hash_compute_time", "time computing", "ns", compute_ns(f), NULL, s->tick,
		       "client clock around the calls");
}

static void write_tee(struct sheet *s, const struct measurements *f)
{
	const struct file_stats *all = &f->totals.all;
	uint64_t work = f->run->stats.work_ns;

	group(s, "tee", "TEE");
	count(s, "invoke_count",
	      f->has_tee ? "calls into the TEE for the files" : "calls of the backend", all->calls,
	      "counted; opening the session not included");
	count(s, "hash_operations", "digests finished", f->totals.files - f->totals.failed,
	      "counted");
	figure(s, "hashed_bytes", "bytes of these", "bytes", (double)f->totals.good_bytes, NULL,
	       "1 byte", "counted");
	write_compute(s, f);
	figure(s, "tee_time",
	       f->has_tee ? "time in calls into the TEE" : "time in calls of the backend", "ns",
	       (double)all->call_ns, NULL, s->tick,
	       "client clock around each call, crossing included");
	figure(s, "ree_time", "time outside of calls", "ns",
	       work > all->call_ns ? (double)(work - all->call_ns) : 0, NULL, s->tick,
	       "workers' time less time in calls");
	figure(s, "ta_stack_high_water", "stack high-water", "bytes", (double)f->stack.bytes,
	       !f->has_tee         ? "no Trusted Application is involved" :
	       f->why              ? f->why :
	       f->stack.bytes >= 0 ? NULL :
				     f->stack.reason,
	       "1 byte", "the TA's painted stack, first session; of %" PRId64, f->stack.of);
	write_switches(s, f);
	count(s, "secure_storage_accesses", "accesses to secure storage", 0,
	      "by its code: the digest TA opens no storage object");
	group_end(s);
}

static void write_first(struct sheet *s, const struct measurements *f)
{
	const struct session_stats *of = &f->run->stats.sessions;
	const struct {
		const char *key, *title;
		uint64_t ns;
	} rows[] = {
		{ "context_open", "connecting to the TEE", of->context_ns },
		{ "session_open", "opening a session: TA load", of->session_ns },
		{ "first_invoke", "first call", of->first_call_ns },
		{ "buffer_alloc", "allocating the buffers", of->buffer_ns },
		{ "open_all", "all of opening", of->open_ns },
		{ "close", "closing, not in the total", f->run->stats.close_ns },
	};

	group(s, "first", "First use (once a session)");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		figure(s, rows[i].key, rows[i].title, "ns", (double)rows[i].ns,
		       rows[i].ns ? NULL :
		       f->has_tee ? "the backend does not tell" :
				    "this backend has no such step",
		       s->tick, "client clock, CLOCK_MONOTONIC_RAW");
	count(s, "sessions", "sessions opened", of->sessions, "counted");
	group_end(s);
}

static void write_derived(struct sheet *s, const struct measurements *f)
{
	const struct file_stats *all = &f->totals.all;
	double calls = (double)all->call_ns, compute = compute_ns(f);

	group(s, "derived", "Derived");
	figure(s, "hash_rate", "first byte read to digest", "bytes/s",
	       (double)f->totals.good_bytes / (double)f->totals.good_hash_ns * 1e9, NULL, as_parts,
	       "bytes by the time from the first read() to the digest");
	figure(s, "latency_per_call", "mean time of a call", "ns", calls / (double)all->calls, NULL,
	       as_parts, "time in calls by calls, hashing included");
	figure(s, "empty_call", "an empty call", "ns", (double)f->nop_ns,
	       f->nop_ns ? NULL :
	       f->why    ? f->why :
			   "not a call into another world",
	       s->tick, "client clock, median of %d after the work", NOPS);
	figure(s, "overhead_per_call", "of a call not computing", "ns",
	       (calls - compute) / (double)all->calls,
	       f->has_tee ? not_counted(f) : "not a call into another world", as_parts,
	       "time in calls less computing, by calls");
	figure(s, "cpu_utilization", "CPU utilisation", "percent",
	       100 * cpu_ns(&f->usage) / (double)f->usage_ns, NULL, as_parts,
	       "CPU time by the time over which it was counted; 100 %% is one CPU%s",
	       f->run->stats.sessions.slots > 1 ? ", and the reader thread may use another" : "");
	figure(s, "io_to_compute_ratio", "reading to computing", "ratio",
	       (double)all->read_ns / compute, not_counted(f), as_parts,
	       "time in read() by time computing");
	group_end(s);
}

static void write_part(struct sheet *s, const char *key, const char *title, int64_t ns,
		       uint64_t whole)
{
	if (s->text) {
		fprintf(s->text, "  %-48s %12.3f ms %6.2f %%\n", title, (double)ns / 1e6,
			whole ? 100.0 * (double)ns / (double)whole : 0.0);
		return;
	}
	json_object(s->json, NULL);
	json_string(s->json, "part", key);
	json_string(s->json, "what", title);
	json_i64(s->json, "ns", ns);
	json_object_end(s->json);
}

/* Writes the parts of the workers' total time, and last the rest that no part explains. */
static void write_parts(struct sheet *s, const struct measurements *f)
{
	const struct file_stats *all = &f->totals.all;
	const struct {
		const char *key, *title;
		uint64_t ns;
	} parts[] = {
		{ "startup", "before the first file", f->startup_ns },
		{ "open_session", "library, session, TA load, buffers",
		  f->run->stats.sessions.open_ns },
		{ "open_files", "opening files", all->open_ns },
		{ "setup", "larger buffer, new session", all->setup_ns },
		{ "read", "reading, in the thread that hashes", all->inline_ns },
		{ "wait", "waiting for the reader thread", all->wait_ns },
		{ "between", "between files: lists, output, waiting for work",
		  f->run->stats.idle_ns },
		{ "calls", "calls that hash", all->call_ns },
	};
	uint64_t whole = f->startup_ns + f->run->stats.work_ns;
	int64_t rest = (int64_t)whole;
	double compute = compute_ns(f);

	if (s->text) {
		fputs("\nWhere the time went (sum over the workers)\n", s->text);
	} else {
		json_object(s->json, "breakdown");
		json_string(s->json, "of", "the workers' time, summed");
		json_u64(s->json, "total_ns", whole);
		json_array(s->json, "parts");
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		write_part(s, parts[i].key, parts[i].title, (int64_t)parts[i].ns, whole);
		rest -= (int64_t)parts[i].ns;
	}
	if (s->text && f->has_tee && !isnan(compute))
		fprintf(s->text, "  %-48s %12.3f ms%s\n", "  of them in the TA", compute / 1e6,
			counted(f) ? "" : " (estimate)");
	write_part(s, "unexplained", "unexplained rest", rest, whole);
	if (s->text) {
		write_part(s, "", "sum", (int64_t)whole, whole);
	} else {
		json_array_end(s->json);
		json_object_end(s->json);
	}
}

void figures_write(struct sheet *s, const struct measurements *f)
{
	snprintf(s->tick, sizeof(s->tick), "%" PRIu64 " ns", f->clock.resolution_ns);
	write_parts(s, f);
	write_host(s, f);
	write_hashing(s, f);
	write_tee(s, f);
	write_first(s, f);
	write_derived(s, f);
}
