// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <math.h>

#include "figures.h"

static const char client[] = "client clock, CLOCK_MONOTONIC_RAW";
static const char rusage[] = "getrusage(), all threads";
static const char exact[] = "1";

uint64_t figures_parts(const struct findings *f, struct part *parts,
		       unsigned int *count)
{
	const struct file_stats *sum = &f->totals.sum;
	uint64_t whole = f->startup_ns + f->jobs.work_ns;
	int64_t rest = (int64_t)whole;
	const struct part all[] = {
		{ "startup", "before the first job", (int64_t)f->startup_ns },
		{ "open_session", "library, session, TA load, buffers",
		  (int64_t)f->jobs.engine.open_ns },
		{ "open_files", "opening files", (int64_t)sum->open_ns },
		{ "setup", "larger buffer, new session",
		  (int64_t)sum->setup_ns },
		{ "read", "reading, in the thread that hashes",
		  (int64_t)sum->inline_ns },
		{ "wait", "waiting for the reader thread",
		  (int64_t)sum->wait_ns },
		{ "calls", "calls that hash", (int64_t)sum->call_ns },
		{ "between", "between files: lists, output, waiting for work",
		  (int64_t)f->jobs.idle_ns },
	};
	unsigned int n = sizeof(all) / sizeof(all[0]);

	for (unsigned int i = 0; i < n; i++) {
		parts[i] = all[i];
		rest -= all[i].ns;
	}
	parts[n] = (struct part){ "unexplained", "unexplained rest", rest };
	*count = n + 1;
	return whole;
}

bool figures_counted(const struct findings *f)
{
	return f->counter.clock != TA_CLOCK_OFF && !f->jobs.engine.uncounted;
}

double figures_compute_ns(const struct findings *f)
{
	if (!f->has_tee)
		return (double)f->totals.sum.call_ns;
	if (figures_counted(f))
		return (double)f->jobs.engine.inside_ns;
	if (!f->inside.has_slope)
		return -1;
	return f->inside.digest_ns / (double)f->inside.bytes *
	       (double)f->totals.sum.bytes;
}

static void count(struct metrics *m, enum metric_group group, const char *key,
		  const char *title, uint64_t value, const char *source)
{
	metric_count(m, group, key, title, "count", value, source, exact);
}

static const char *ns_resolution(struct metrics *m, const struct findings *f)
{
	return metrics_note(m, "%" PRIu64 " ns", f->clock.resolution_ns);
}

static void fill_page_cache(struct metrics *m, const struct findings *f)
{
	const struct totals *t = &f->totals;
	const char *title = "cached before it was read";
	const char *key = "page_cache_before";

	if (!t->files_asked) {
		metric_null(m, GROUP_HOST, key, title, "percent",
			    t->pages_reason ? t->pages_reason :
					      "no file was opened");
		return;
	}
	if (!t->pages) {
		metric_null(m, GROUP_HOST, key, title, "percent",
			    "the files have no pages");
		return;
	}
	metric_value(m, GROUP_HOST, key, title, "percent",
		     100.0 * (double)t->pages_cached / (double)t->pages,
		     metrics_note(m,
				  "%s(), %" PRIu64 " of %" PRIu64
				  " pages, %" PRIu64 " of %" PRIu64 " files",
				  t->pages_source, t->pages_cached, t->pages,
				  t->files_asked, t->files),
		     "1 page");
}

static void fill_runq(struct metrics *m, const struct findings *f)
{
	uint64_t ns = f->jobs.runq_ns + f->jobs.reader_runq_ns;

	if (f->cost.usage.runq_ns < 0 ||
	    (f->jobs.workers > 1 && !f->jobs.runq_known)) {
		metric_null(m, GROUP_HOST, "run_queue_wait",
			    "ready, but another ran", "ns",
			    "this kernel has no schedstat "
			    "(CONFIG_SCHED_INFO)");
		return;
	}
	ns += (uint64_t)f->cost.usage.runq_ns;
	metric_count(m, GROUP_HOST, "run_queue_wait", "ready, but another ran",
		     "ns", ns, "/proc/thread-self/schedstat, all threads",
		     "1 ns");
}

static void fill_host(struct metrics *m, const struct findings *f)
{
	const struct usage *usage = &f->cost.usage;
	const struct file_stats *sum = &f->totals.sum;
	const char *ns = ns_resolution(m, f);

	metric_count(m, GROUP_HOST, "total_time", "total time", "ns",
		     f->cost.total_ns, client, ns);
	metric_count(m, GROUP_HOST, "file_read_time", "time in read()", "ns",
		     sum->read_ns,
		     "client clock around read(), whichever thread", ns);
	metric_count(m, GROUP_HOST, "cpu_time", "CPU time", "ns",
		     f->cost.cpu_ns,
		     "CLOCK_PROCESS_CPUTIME_ID; time in the TEE counts, as "
		     "system time",
		     "1 ns");
	metric_count(m, GROUP_HOST, "user_time", "of it in user mode", "ns",
		     (uint64_t)usage->user_us * 1000, rusage,
		     "1 us; some kernels split by timer tick");
	metric_count(m, GROUP_HOST, "system_time",
		     "of it in the kernel and the TEE", "ns",
		     (uint64_t)usage->sys_us * 1000, rusage,
		     "1 us; some kernels split by timer tick");
	fill_runq(m, f);
	count(m, GROUP_HOST, "context_switches", "context switches",
	      (uint64_t)(usage->nvcsw + usage->nivcsw), rusage);
	count(m, GROUP_HOST, "voluntary_context_switches",
	      "of them voluntary (it waited)", (uint64_t)usage->nvcsw, rusage);
	count(m, GROUP_HOST, "involuntary_context_switches",
	      "of them involuntary", (uint64_t)usage->nivcsw, rusage);
	if (f->cost.peak_bytes < 0)
		metric_null(m, GROUP_HOST, "peak_memory",
			    "peak resident memory", "bytes",
			    "/proc/self/status has no VmHWM");
	else
		metric_count(m, GROUP_HOST, "peak_memory",
			     "peak resident memory", "bytes",
			     (uint64_t)f->cost.peak_bytes,
			     "VmHWM of /proc/self/status", "1 page");
	metric_count(m, GROUP_HOST, "buffer_memory",
		     "of it buffers, all sessions", "bytes",
		     f->jobs.engine.buffer_bytes,
		     metrics_note(m, "%u slots of %zu bytes a session",
				  f->jobs.engine.slots, f->jobs.engine.chunk),
		     "1 byte");
	fill_page_cache(m, f);
	count(m, GROUP_HOST, "reads", "calls of read()", sum->reads, "counted");
}

static void peak(struct metrics *m, const char *key, const char *title,
		 int64_t bytes, int64_t size, const char *reason,
		 const char *source)
{
	if (bytes < 0)
		metric_null(m, GROUP_TEE, key, title, "bytes", reason);
	else
		metric_count(m, GROUP_TEE, key, title, "bytes", (uint64_t)bytes,
			     metrics_note(m, "%s; of %" PRId64, source, size),
			     "1 byte");
}

static void fill_facts(struct metrics *m, const struct findings *f)
{
	const struct session_facts *facts = &f->inside.facts;
	const char *reason = f->has_tee ? f->inside.reason :
					  "no Trusted Application is involved";

	if (!f->inside.has_facts) {
		metric_null(m, GROUP_TEE, "ta_heap_high_water",
			    "heap high-water", "bytes", reason);
		metric_null(m, GROUP_TEE, "ta_stack_high_water",
			    "stack high-water", "bytes", reason);
		return;
	}
	peak(m, "ta_heap_high_water", "heap high-water", facts->heap_peak,
	     facts->heap_size, facts->heap_reason,
	     "the heap statistics of the TA's library, first session");
	peak(m, "ta_stack_high_water", "stack high-water", facts->stack_peak,
	     facts->stack_size, facts->stack_reason,
	     "the TA's painted stack, first session");
}

static void fill_switches(struct metrics *m, const struct findings *f)
{
	const struct trace_counts *s = &f->switches;
	const char *source = "tracepoint optee:optee_invoke_fn_end";
	const char *reason = s->reason;

	if (!f->has_tee)
		reason = "no call leaves the normal world";
	else if (s->known && s->lost)
		reason = metrics_note(m,
				      "%" PRIu64 " events found no room in "
				      "the trace buffer",
				      s->lost);
	if (!f->has_tee || !s->known || s->lost) {
		metric_null(m, GROUP_TEE, "world_switches",
			    "returns from the secure world", "count", reason);
		metric_null(m, GROUP_TEE, "rpc_count",
			    "requests of the TEE (RPC)", "count", reason);
		metric_null(m, GROUP_TEE, "secure_interruptions",
			    "interrupts taken while in the TEE", "count",
			    reason);
		return;
	}
	count(m, GROUP_TEE, "world_switches", "returns from the secure world",
	      s->returns, source);
	count(m, GROUP_TEE, "rpc_count", "requests of the TEE (RPC)",
	      s->alloc + s->free + s->command + s->other,
	      metrics_note(m,
			   "%s, TA load included: %" PRIu64
			   " commands, %" PRIu64 " memory wanted, %" PRIu64
			   " given back, %" PRIu64 " other",
			   source, s->command, s->alloc, s->free, s->other));
	count(m, GROUP_TEE, "secure_interruptions",
	      "interrupts taken while in the TEE", s->interrupts, source);
}

static void fill_tee(struct metrics *m, const struct findings *f)
{
	const struct file_stats *sum = &f->totals.sum;
	const char *ns = ns_resolution(m, f);
	double compute = figures_compute_ns(f);
	uint64_t work = f->jobs.work_ns;

	count(m, GROUP_TEE, "invoke_count",
	      f->has_tee ? "calls into the TEE for the files" :
			   "calls of the backend",
	      sum->calls, "counted; opening the session not included");
	count(m, GROUP_TEE, "hash_operations", "digests finished",
	      f->totals.files - f->totals.failed, "counted");
	metric_count(m, GROUP_TEE, "hashed_bytes", "bytes hashed", "bytes",
		     sum->bytes, "counted", "1 byte");
	if (!f->has_tee)
		metric_value(m, GROUP_TEE, "hash_compute_time",
			     "time computing", "ns", compute,
			     "client clock around the calls", ns);
	else if (figures_counted(f))
		metric_count(m, GROUP_TEE, "hash_compute_time",
			     "time in the TA", "ns", f->jobs.engine.inside_ns,
			     metrics_note(m,
					  "%s, read by the TA around its "
					  "commands",
					  ta_counter_name(f->counter.clock)),
			     metrics_note(m, "%.1f ns a command",
					  1e9 / f->counter.hz));
	else if (compute < 0)
		metric_null(m, GROUP_TEE, "hash_compute_time",
			    "time computing in the TA", "ns", f->inside.reason);
	else
		metric_value(m, GROUP_TEE, "hash_compute_time",
			     "time computing in the TA", "ns", compute,
			     metrics_note(m,
					  "estimate: slope of repeated "
					  "digests of %" PRIu64 " bytes "
					  "inside the TA after the work, "
					  "times the bytes; %s",
					  f->inside.bytes,
					  f->counter.clock == TA_CLOCK_OFF ?
						  f->counter.reason :
						  "a session that counted "
						  "itself was lost"),
			     "model, not a measurement");
	metric_count(m, GROUP_TEE, "tee_time",
		     f->has_tee ? "time in calls into the TEE" :
				  "time in calls of the backend",
		     "ns", sum->call_ns,
		     "client clock around each call, crossing included", ns);
	metric_count(m, GROUP_TEE, "ree_time", "time outside of calls", "ns",
		     work > sum->call_ns ? work - sum->call_ns : 0,
		     "workers' time less time in calls", ns);
	metric_null(m, GROUP_TEE, "tee_clock_delta", "by the TEE's own clocks",
		    "ns",
		    "TEE_GetSystemTime() ticks in ms and TEE_GetREETime() is "
		    "itself a request to the normal world: the client's clock "
		    "is better");
	fill_facts(m, f);
	fill_switches(m, f);
	metric_null(m, GROUP_TEE, "secure_storage_accesses",
		    "accesses to secure storage", "count",
		    "not counted: the digest TA opens no storage object");
}

static void once(struct metrics *m, const struct findings *f, const char *key,
		 const char *title, uint64_t ns)
{
	if (ns)
		metric_count(m, GROUP_FIRST, key, title, "ns", ns, client,
			     ns_resolution(m, f));
	else
		metric_null(m, GROUP_FIRST, key, title, "ns",
			    f->has_tee ? "the backend does not tell" :
					 "this backend has no such step");
}

static void fill_first(struct metrics *m, const struct findings *f)
{
	const struct engine_stats *e = &f->jobs.engine;

	once(m, f, "context_open", "connecting to the TEE", e->context_ns);
	once(m, f, "session_open", "opening a session: TA load", e->session_ns);
	once(m, f, "first_invoke", "first call", e->first_call_ns);
	once(m, f, "buffer_alloc", "allocating the buffers", e->buffer_ns);
	once(m, f, "open_all", "all of opening", e->open_ns);
	once(m, f, "close", "closing, not in the total", f->jobs.close_ns);
	count(m, GROUP_FIRST, "sessions", "sessions opened", e->sessions,
	      "counted");
}

static void fill_derived(struct metrics *m, const struct findings *f)
{
	const struct file_stats *sum = &f->totals.sum;
	double compute = figures_compute_ns(f);
	double total = (double)f->cost.total_ns;
	double calls = (double)sum->calls;
	double reader = (double)(sum->read_ns - sum->inline_ns);
	double overlap = reader - (double)sum->wait_ns;
	double shorter = fmin((double)sum->read_ns, (double)sum->call_ns);

	metric_value(m, GROUP_DERIVED, "hash_rate", "first byte read to digest",
		     "bytes/s", (double)sum->bytes / (double)sum->hash_ns * 1e9,
		     "bytes by the time from the first read() to the digest",
		     "as its parts");
	metric_value(m, GROUP_DERIVED, "time_per_operation",
		     "total time per digest", "ns",
		     total / (double)(f->totals.files - f->totals.failed),
		     "total time by digests finished", "as its parts");
	metric_value(m, GROUP_DERIVED, "latency_per_call",
		     "mean time of a call", "ns", (double)sum->call_ns / calls,
		     "time in calls by calls, hashing included",
		     "as its parts");
	if (f->inside.has_nop)
		metric_count(m, GROUP_DERIVED, "empty_call", "an empty call",
			     "ns", f->inside.nop_ns,
			     "client clock, median of 31 after the work",
			     ns_resolution(m, f));
	else
		metric_null(m, GROUP_DERIVED, "empty_call", "an empty call",
			    "ns", f->inside.reason);
	if (f->has_tee && compute >= 0 && compute <= (double)sum->call_ns)
		metric_value(m, GROUP_DERIVED, "overhead_per_call",
			     "of a call not computing", "ns",
			     ((double)sum->call_ns - compute) / calls,
			     "time in calls less computing, by calls",
			     figures_counted(f) ? "as its parts" :
						  "model, not a measurement");
	else
		metric_null(m, GROUP_DERIVED, "overhead_per_call",
			    "of a call not computing", "ns",
			    f->has_tee && compute >= 0 ?
				    "the estimate of computing exceeds the "
				    "time in calls: too noisy" :
				    f->inside.reason);
	metric_value(m, GROUP_DERIVED, "cpu_utilization", "CPU utilisation",
		     "percent", 100 * (double)f->cost.cpu_ns / total,
		     "CPU time by total time; 100 % is one CPU",
		     "as its parts");
	if (compute < 0)
		metric_null(m, GROUP_DERIVED, "io_to_compute_ratio",
			    "reading to computing", "ratio", f->inside.reason);
	else
		metric_value(m, GROUP_DERIVED, "io_to_compute_ratio",
			     "reading to computing", "ratio",
			     (double)sum->read_ns / compute,
			     "time in read() by time computing",
			     "as its parts");
	if (f->jobs.engine.slots < 2)
		metric_null(m, GROUP_DERIVED, "overlap",
			    "read while a call was under way", "percent",
			    "no reader thread: what the kernel reads ahead "
			    "meanwhile shows as short reads");
	else if (f->totals.streams == 0)
		metric_null(m, GROUP_DERIVED, "overlap",
			    "read while a call was under way", "percent",
			    "every file went in one call");
	else
		metric_value(m, GROUP_DERIVED, "overlap",
			     "read while a call was under way", "percent",
			     100 * fmax(overlap, 0) / shorter,
			     "reader thread's time less waiting for it, by "
			     "the shorter of reading and calls",
			     "as its parts");
}

void figures_fill(struct metrics *metrics, const struct findings *f)
{
	metrics->count = 0;
	metrics->notes_count = 0;
	fill_host(metrics, f);
	fill_tee(metrics, f);
	fill_first(metrics, f);
	fill_derived(metrics, f);
}
