// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <math.h>

#include "figures.h"

static const char client[] = "client clock, CLOCK_MONOTONIC_RAW";
static const char rusage[] = "getrusage(), all threads";
static const char ticks[] = "1 us; some kernels split by timer tick";
static const char as_parts[] = "as its parts";
static const char is_model[] = "model, not a measurement";

static void add_stats(struct file_stats *sum, const struct file_stats *s)
{
	sum->bytes += s->bytes;
	sum->open_ns += s->open_ns;
	sum->read_ns += s->read_ns;
	sum->inline_ns += s->inline_ns;
	sum->wait_ns += s->wait_ns;
	sum->call_ns += s->call_ns;
	sum->setup_ns += s->setup_ns;
	sum->hash_ns += s->hash_ns;
	sum->reads += s->reads;
	sum->calls += s->calls;
}

void figures_add_file(struct totals *t, const struct message *m)
{
	const struct page_cache *cache = &m->stats.cache;
	struct page_cache *sum = &t->all.cache;

	t->files++;
	add_stats(&t->all, &m->stats);
	if (m->ret) {
		t->failed++;
	} else {
		add_stats(&t->good, &m->stats);
		t->oneshots += m->stats.way == WAY_ONESHOT;
		t->streams += m->stats.way == WAY_STREAM;
	}
	if (cache->pages >= 0) {
		t->files_asked++;
		sum->pages += cache->pages;
		sum->cached += cache->cached;
		sum->source = cache->source;
	} else if (cache->reason) {
		sum->reason = cache->reason;
	}
}

uint64_t figures_parts(const struct findings *f, struct part parts[PARTS_COUNT])
{
	const struct file_stats *all = &f->totals.all;
	uint64_t whole = f->startup_ns + f->run.pool.work_ns;
	const struct part known[PARTS_COUNT - 1] = {
		{ "startup", "before the first file", (int64_t)f->startup_ns },
		{ "open_session", "library, session, TA load, buffers",
		  (int64_t)f->run.sessions.open_ns },
		{ "open_files", "opening files", (int64_t)all->open_ns },
		{ "setup", "larger buffer, new session",
		  (int64_t)all->setup_ns },
		{ "read", "reading, in the thread that hashes",
		  (int64_t)all->inline_ns },
		{ "wait", "waiting for the reader thread",
		  (int64_t)all->wait_ns },
		{ "calls", "calls that hash", (int64_t)all->call_ns },
		{ "between", "between files: lists, output, waiting for work",
		  (int64_t)f->run.pool.idle_ns },
	};
	int64_t rest = (int64_t)whole;

	for (unsigned int i = 0; i < PARTS_COUNT - 1; i++) {
		parts[i] = known[i];
		rest -= known[i].ns;
	}
	parts[PARTS_COUNT - 1] =
		(struct part){ "unexplained", "unexplained rest", rest };
	return whole;
}

bool figures_counted(const struct findings *f)
{
	return f->counter.clock != TA_CLOCK_OFF && !f->run.sessions.uncounted;
}

double figures_compute_ns(const struct findings *f)
{
	if (!f->has_tee)
		return (double)f->totals.all.call_ns;
	if (figures_counted(f))
		return (double)f->run.sessions.inside_ns;
	if (!f->inside.has_slope)
		return -1;
	return f->inside.digest_ns / (double)f->inside.bytes *
	       (double)f->totals.all.bytes;
}

/* What is counted is exact. */
static void count(struct metrics *m, const char *key, const char *title,
		  uint64_t value, const char *source)
{
	metric_add(m, key, title, "count", (double)value, source, "1");
}

static const char *ns_resolution(struct metrics *m, const struct findings *f)
{
	return metrics_note(m, "%" PRIu64 " ns", f->clock.resolution_ns);
}

static void fill_page_cache(struct metrics *m, const struct totals *t)
{
	const struct page_cache *cache = &t->all.cache;
	const char *title = "cached before it was read";
	const char *key = "page_cache_before";

	if (cache->pages)
		metric_add(m, key, title, "percent",
			   100.0 * (double)cache->cached / (double)cache->pages,
			   metrics_note(m,
					"%s(), %" PRId64 " of %" PRId64
					" pages, %" PRIu64 " of %" PRIu64
					" files",
					cache->source, cache->cached,
					cache->pages, t->files_asked, t->files),
			   "1 page");
	else
		metric_null(m, key, title, "percent",
			    t->files_asked ? "the files have no pages" :
			    cache->reason  ? cache->reason :
					     "no file was opened");
}

static void fill_runq(struct metrics *m, const struct findings *f)
{
	const char *title = "ready, but another ran";
	int64_t main_ns = f->cost.usage.runq_ns;
	int64_t pool_ns = f->run.pool.runq_ns;

	if (main_ns < 0 || pool_ns < 0)
		metric_null(m, "run_queue_wait", title, "ns",
			    "this kernel has no schedstat "
			    "(CONFIG_SCHED_INFO)");
	else
		metric_add(m, "run_queue_wait", title, "ns",
			   (double)main_ns + (double)pool_ns +
				   (double)f->run.sessions.reader_runq_ns,
			   "/proc/thread-self/schedstat, all threads", "1 ns");
}

static double cpu_ns(const struct findings *f)
{
	return 1000.0 * (double)(f->cost.usage.user_us + f->cost.usage.sys_us);
}

static void fill_host(struct metrics *m, const struct findings *f)
{
	const struct session_stats *sessions = &f->run.sessions;
	const struct usage *usage = &f->cost.usage;
	const struct file_stats *all = &f->totals.all;
	const char *ns = ns_resolution(m, f);

	m->group = GROUP_HOST;
	metric_add(m, "total_time", "total time", "ns",
		   (double)f->cost.total_ns, client, ns);
	metric_add(m, "file_read_time", "time in read()", "ns",
		   (double)all->read_ns,
		   "client clock around read(), whichever thread", ns);
	metric_add(m, "cpu_time", "CPU time", "ns", cpu_ns(f),
		   "getrusage(), all threads; time in the TEE counts, as "
		   "system time",
		   "1 us");
	metric_add(m, "user_time", "of it in user mode", "ns",
		   (double)usage->user_us * 1000, rusage, ticks);
	metric_add(m, "system_time", "of it in the kernel and the TEE", "ns",
		   (double)usage->sys_us * 1000, rusage, ticks);
	fill_runq(m, f);
	count(m, "context_switches", "context switches",
	      (uint64_t)(usage->nvcsw + usage->nivcsw), rusage);
	count(m, "voluntary_context_switches", "of them voluntary (it waited)",
	      (uint64_t)usage->nvcsw, rusage);
	count(m, "involuntary_context_switches", "of them involuntary",
	      (uint64_t)usage->nivcsw, rusage);
	if (f->cost.peak_bytes < 0)
		metric_null(m, "peak_memory", "peak resident memory", "bytes",
			    "/proc/self/status has no VmHWM");
	else
		metric_add(m, "peak_memory", "peak resident memory", "bytes",
			   (double)f->cost.peak_bytes,
			   "VmHWM of /proc/self/status", "1 page");
	metric_add(m, "buffer_memory", "of it buffers, all sessions", "bytes",
		   (double)sessions->buffer_bytes,
		   metrics_note(m, "%u slots of %zu bytes a session",
				sessions->slots, sessions->chunk),
		   "1 byte");
	fill_page_cache(m, &f->totals);
	count(m, "reads", "calls of read()", all->reads, "counted");
}

static void fill_peak(struct metrics *m, const struct findings *f,
		      const char *key, const char *title, int64_t peak,
		      int64_t size, const char *reason, const char *source)
{
	if (!f->has_tee)
		reason = "no Trusted Application is involved";
	else if (!f->inside.has_facts)
		reason = f->inside.reason;
	if (f->inside.has_facts && peak >= 0)
		metric_add(m, key, title, "bytes", (double)peak,
			   metrics_note(m, "%s; of %" PRId64, source, size),
			   "1 byte");
	else
		metric_null(m, key, title, "bytes", reason);
}

static void fill_switch(struct metrics *m, const struct findings *f,
			const char *key, const char *title, uint64_t value,
			const char *source)
{
	const struct trace_counts *s = &f->switches;

	if (f->has_tee && s->known && !s->lost)
		count(m, key, title, value, source);
	else
		metric_null(m, key, title, "count",
			    !f->has_tee ? "no call leaves the normal world" :
			    !s->known   ? s->reason :
					  metrics_note(m,
						       "%" PRIu64
						       " events found no room "
							 "in the trace buffer",
						       s->lost));
}

static void fill_switches(struct metrics *m, const struct findings *f)
{
	const struct trace_counts *s = &f->switches;
	const char *source = "tracepoint optee:optee_invoke_fn_end";

	fill_switch(m, f, "world_switches", "returns from the secure world",
		    s->returns, source);
	fill_switch(m, f, "rpc_count", "requests of the TEE (RPC)",
		    s->alloc + s->free + s->command + s->other,
		    metrics_note(m,
				 "%s, TA load included: %" PRIu64
				 " commands, %" PRIu64
				 " memory wanted, %" PRIu64
				 " given back, %" PRIu64 " other",
				 source, s->command, s->alloc, s->free,
				 s->other));
	fill_switch(m, f, "secure_interruptions",
		    "interrupts taken while in the TEE", s->interrupts, source);
}

static void fill_compute(struct metrics *m, const struct findings *f)
{
	const char *key = "hash_compute_time";
	double compute = figures_compute_ns(f);

	if (!f->has_tee)
		metric_add(m, key, "time computing", "ns", compute,
			   "client clock around the calls",
			   ns_resolution(m, f));
	else if (figures_counted(f))
		metric_add(m, key, "time in the TA", "ns", compute,
			   metrics_note(m,
					"%s, read by the TA around its commands",
					ta_counter_name(f->counter.clock)),
			   metrics_note(m, "%.1f ns a command",
					1e9 / f->counter.hz));
	else if (compute < 0)
		metric_null(m, key, "time computing in the TA", "ns",
			    f->inside.reason);
	else
		metric_add(m, key, "time computing in the TA", "ns", compute,
			   metrics_note(m,
					"estimate: slope of repeated digests "
					"of %" PRIu64 " bytes inside the TA "
					"after the work, times the bytes; %s",
					f->inside.bytes,
					f->counter.clock == TA_CLOCK_OFF ?
						f->counter.reason :
						"a session that counted "
						"itself was lost"),
			   is_model);
}

/* What ticks in ms may be off by 1 at either end. */
static void fill_clock(struct metrics *m, const struct findings *f,
		       const char *key, const char *title,
		       const struct tee_clock *clock, const char *call)
{
	if (!f->has_tee)
		metric_null(m, key, title, "ns", "no TEE is involved");
	else if (clock->known && !clock->ms)
		metric_null(m, key, title, "ns",
			    metrics_note(m, "less than one tick (1 ms) of %s",
					 call));
	else if (clock->known)
		metric_add(m, key, title, "ns", 1e6 * clock->ms,
			   metrics_note(m,
					"%s, asked by the bench TA before and "
					"after the file was hashed once more",
					call),
			   "1 ms");
	else
		metric_null(m, key, title, "ns",
			    *clock->reason ?
				    clock->reason :
				    "asked with --timeline only: the clock "
				    "ticks in ms, and the file is hashed once "
				    "more for it");
}

static void fill_tee(struct metrics *m, const struct findings *f)
{
	const struct file_stats *all = &f->totals.all;
	const struct session_facts *facts = &f->inside.facts;
	const char *ns = ns_resolution(m, f);
	uint64_t work = f->run.pool.work_ns;

	m->group = GROUP_TEE;
	count(m, "invoke_count",
	      f->has_tee ? "calls into the TEE for the files" :
			   "calls of the backend",
	      all->calls, "counted; opening the session not included");
	count(m, "hash_operations", "digests finished",
	      f->totals.files - f->totals.failed, "counted");
	metric_add(m, "hashed_bytes", "bytes of these", "bytes",
		   (double)f->totals.good.bytes, "counted", "1 byte");
	fill_compute(m, f);
	metric_add(m, "tee_time",
		   f->has_tee ? "time in calls into the TEE" :
				"time in calls of the backend",
		   "ns", (double)all->call_ns,
		   "client clock around each call, crossing included", ns);
	metric_add(m, "ree_time", "time outside of calls", "ns",
		   work > all->call_ns ? (double)(work - all->call_ns) : 0,
		   "workers' time less time in calls", ns);
	fill_clock(m, f, "tee_clock_delta", "a message, by the TEE's clock",
		   &f->clocks.system, "TEE_GetSystemTime()");
	fill_clock(m, f, "ree_clock_delta", "a message, by the REE's clock",
		   &f->clocks.ree, "TEE_GetREETime()");
	fill_peak(m, f, "ta_heap_high_water", "heap high-water",
		  facts->heap_peak, facts->heap_size, facts->heap_reason,
		  "the heap statistics of the TA's library, first session");
	fill_peak(m, f, "ta_stack_high_water", "stack high-water",
		  facts->stack_peak, facts->stack_size, facts->stack_reason,
		  "the TA's painted stack, first session");
	fill_switches(m, f);
	count(m, "secure_storage_accesses", "accesses to secure storage", 0,
	      "by its code: the digest TA opens no storage object");
}

static void once(struct metrics *m, const struct findings *f, const char *key,
		 const char *title, uint64_t ns)
{
	if (ns)
		metric_add(m, key, title, "ns", (double)ns, client,
			   ns_resolution(m, f));
	else
		metric_null(m, key, title, "ns",
			    f->has_tee ? "the backend does not tell" :
					 "this backend has no such step");
}

static void fill_first(struct metrics *m, const struct findings *f)
{
	const struct session_stats *s = &f->run.sessions;

	m->group = GROUP_FIRST;
	once(m, f, "context_open", "connecting to the TEE", s->context_ns);
	once(m, f, "session_open", "opening a session: TA load", s->session_ns);
	once(m, f, "first_invoke", "first call", s->first_call_ns);
	once(m, f, "buffer_alloc", "allocating the buffers", s->buffer_ns);
	once(m, f, "open_all", "all of opening", s->open_ns);
	once(m, f, "close", "closing, not in the total", f->run.close_ns);
	count(m, "sessions", "sessions opened", s->sessions, "counted");
}

static void fill_overhead(struct metrics *m, const struct findings *f)
{
	const struct file_stats *all = &f->totals.all;
	const char *title = "of a call not computing";
	double compute = figures_compute_ns(f);
	double calls = (double)all->call_ns;

	if (f->has_tee && compute >= 0 && compute <= calls)
		metric_add(m, "overhead_per_call", title, "ns",
			   (calls - compute) / (double)all->calls,
			   "time in calls less computing, by calls",
			   figures_counted(f) ? as_parts : is_model);
	else
		metric_null(m, "overhead_per_call", title, "ns",
			    f->has_tee && compute >= 0 ?
				    "the estimate of computing exceeds the "
				    "time in calls: too noisy" :
				    f->inside.reason);
}

static void fill_overlap(struct metrics *m, const struct findings *f)
{
	const struct file_stats *all = &f->totals.all;
	const char *title = "read while a call was under way";
	double ahead = (double)(all->read_ns - all->inline_ns);

	if (f->run.sessions.slots < 2)
		metric_null(m, "overlap", title, "percent",
			    "no reader thread: what the kernel reads ahead "
			    "meanwhile shows as short reads");
	else if (!f->totals.streams)
		metric_null(m, "overlap", title, "percent",
			    f->totals.failed < f->totals.files ?
				    "every file went in one call" :
				    "no file was hashed");
	else
		metric_add(m, "overlap", title, "percent",
			   100 * fmax(ahead - (double)all->wait_ns, 0) /
				   fmin((double)all->read_ns,
					(double)all->call_ns),
			   "reader thread's time less waiting for it, by the "
			   "shorter of reading and calls",
			   as_parts);
}

static void fill_derived(struct metrics *m, const struct findings *f)
{
	const struct file_stats *all = &f->totals.all;
	const struct file_stats *good = &f->totals.good;
	double compute = figures_compute_ns(f);
	double total = (double)f->cost.total_ns;

	m->group = GROUP_DERIVED;
	metric_add(m, "hash_rate", "first byte read to digest", "bytes/s",
		   (double)good->bytes / (double)good->hash_ns * 1e9,
		   "bytes by the time from the first read() to the digest",
		   as_parts);
	metric_add(m, "time_per_operation", "total time per digest", "ns",
		   total / (double)(f->totals.files - f->totals.failed),
		   "total time by digests finished", as_parts);
	metric_add(m, "latency_per_call", "mean time of a call", "ns",
		   (double)all->call_ns / (double)all->calls,
		   "time in calls by calls, hashing included", as_parts);
	if (f->inside.has_nop)
		metric_add(m, "empty_call", "an empty call", "ns",
			   (double)f->inside.nop_ns,
			   "client clock, median of 31 after the work",
			   ns_resolution(m, f));
	else
		metric_null(m, "empty_call", "an empty call", "ns",
			    f->inside.reason);
	fill_overhead(m, f);
	metric_add(m, "cpu_utilization", "CPU utilisation", "percent",
		   100 * cpu_ns(f) / total,
		   "CPU time by total time; 100 % is one CPU", as_parts);
	if (compute < 0)
		metric_null(m, "io_to_compute_ratio", "reading to computing",
			    "ratio", f->inside.reason);
	else
		metric_add(m, "io_to_compute_ratio", "reading to computing",
			   "ratio", (double)all->read_ns / compute,
			   "time in read() by time computing", as_parts);
	fill_overlap(m, f);
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
