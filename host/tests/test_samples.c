/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The promises of a run about its samples. The clock moves only when something here takes its
 * time; the workload writes down each call. So a test reads the whole course of a run as a text.
 */
#include "harness.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "records.h"
#include "stop.h"
#include "ta_counter.h"
#include "tee_client.h"

/* Nanoseconds that the things beside a call take; none of them may be in a sample. */
enum { READY_NS = 5000, CHECK_NS = 7000, USAGE_NS = 11000, TRACE_NS = 13000, TA_CLOCK_NS = 17000 };

static uint64_t now;
static struct usage used; /* by this process since it began */

/* ---- The course of a run, and its records. */

static char course[1 << 16];
static char *lines[4096]; /* the records as they were written */
static size_t n_lines;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	size_t len = strlen(course);
	va_list words;

	va_start(words, format);
	vsnprintf(course + len, sizeof(course) - len, format, words);
	va_end(words);
}

/* ---- The workload. A case's letter is the last part of its key. */

struct script {
	uint64_t call_ns, operation_ns;
	uint64_t first_extra_ns; /* the first run is slower by that */
	uint64_t later_call_ns;  /* a call's time from the later_from-th run on */
	unsigned later_from;
	unsigned silent_from, silent_to; /* runs that write no result */
	unsigned lacking_from;           /* runs that say that this machine can't */
	unsigned runs;
	uint8_t result[4];
};

static const uint8_t right[4] = { 1, 2, 3, 4 };
static struct script scripts[4];

static char letter(const struct bench_case *c)
{
	return c->key[strlen(c->key) - 1];
}

static struct script *script_of(const struct bench_case *c)
{
	return &scripts[letter(c) - 'a'];
}

static int prepare(struct bench_case *c, struct error *err)
{
	(void)err;
	note("prepare %c; ", letter(c));
	c->result = script_of(c)->result;
	c->want = right;
	c->want_bytes = sizeof(right);
	return 0;
}

static int ready(struct bench_case *c, struct error *err)
{
	(void)err;
	note("ready %c %u; ", letter(c), c->loops);
	now += READY_NS;
	used.sys_us += 100;
	return 0;
}

static int run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	struct script *s = script_of(c);
	uint64_t call_ns = s->call_ns;

	s->runs++;
	if (s->lacking_from && s->runs >= s->lacking_from)
		return error_skip(err, -EOPNOTSUPP, "no-such-thing", "it is not to be had");
	if (s->later_from && s->runs >= s->later_from)
		call_ns = s->later_call_ns;
	note("run %c %ux%u; ", letter(c), loops, repeat);
	now += loops * (call_ns + repeat * s->operation_ns);
	if (s->runs == 1)
		now += s->first_extra_ns;
	used.user_us += 3 * loops;
	used.sys_us += 5 * loops;
	used.nvcsw += 7 * loops;
	used.nivcsw += 11 * loops;
	used.runq_ns += 13 * loops;
	if (s->runs < s->silent_from || s->runs > s->silent_to)
		memcpy(s->result, right, sizeof(right));
	return 0;
}

static int verify(struct bench_case *c, struct error *err)
{
	note("verify %c; ", letter(c));
	return case_check(c, err);
}

static int check(struct bench_case *c, struct error *err)
{
	(void)err;
	note("check %c; ", letter(c));
	now += CHECK_NS;
	used.user_us += 1000;
	return 0;
}

static const struct workload workload = {
	.name = "made-up",
	.state_size = 1,
	.prepare = prepare,
	.ready = ready,
	.run = run,
	.verify = verify,
	.check = check,
};
/* The same, and a TA times its samples. */
static const struct workload timed_by_ta = {
	.name = "made-up",
	.state_size = 1,
	.prepare = prepare,
	.ready = ready,
	.run = run,
	.check = check,
	.ta_clock = true,
};
/* The same, and the TEE's requests to the normal world are counted in four calls. */
static const struct workload counted = {
	.name = "made-up",
	.state_size = 1,
	.prepare = prepare,
	.ready = ready,
	.run = run,
	.check = check,
	.rpc_calls = 4,
};

/* ---- What the core calls: the clocks, the kernel, other processes. */

uint64_t __wrap_clock_now_ns(void);
void __wrap_clock_measure(struct clock_facts *facts);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
			   struct timespec *rest);
void __wrap_usage_read(const struct usage_meter *meter, struct usage *usage);
int __wrap_record_machine(struct records *r, const struct bench_settings *settings,
			  const struct ta_counter *counter, struct error *err);
int __wrap_sink_record(struct sink *sink, struct json *record, struct error *err);
void __wrap_witness_idle(struct idle_evidence *idle);
int __wrap_witness_calls(const struct measure *m, const struct measure_target *target,
			 uint32_t repeat, uint64_t call_ns, const struct idle_evidence *idle,
			 struct evidence *watched, struct error *err);
void __wrap_masks_compare(const char *key, uint32_t calls, const char *variable, const char *value,
			  struct masks *masks);
int __wrap_tracepoints_begin(struct tracepoints **trace, struct error *err);
int __wrap_tracepoints_end(struct tracepoints *trace, struct tracepoint_counts *counts,
			   struct error *err);
int __wrap_tracepoints_open_legs(struct tracepoints **trace, struct error *err);
int __wrap_tracepoints_start_legs(struct tracepoints *trace, struct error *err);
int __wrap_tracepoints_stop_legs(struct tracepoints *trace, struct tracepoint_legs *legs,
				 struct error *err);
void __wrap_tracepoints_close_legs(struct tracepoints *trace);
void __wrap_ta_counter_find(struct ta_counter *counter);
int __wrap_ta_counter_start(const struct ta_counter *counter, struct tee_session *tee,
			    struct error *err);
int __wrap_ta_counter_stop(const struct ta_counter *counter, struct tee_session *tee, uint64_t *ns,
			   struct error *err);

static uint64_t resolution_ns;
static unsigned watched_calls;
static struct tracepoints *const some_trace = (struct tracepoints *)course;

uint64_t __wrap_clock_now_ns(void)
{
	note("clock; ");
	return now;
}

void __wrap_clock_measure(struct clock_facts *facts)
{
	facts->resolution_ns = resolution_ns;
}

/* A first sleep is interrupted after half a second. */
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
			   struct timespec *rest)
{
	bool first = wanted->tv_sec == 2;

	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_int_equal(flags, 0);
	note("sleep %ld.%09ld; ", (long)wanted->tv_sec, wanted->tv_nsec);
	if (first)
		*rest = (struct timespec){ .tv_sec = wanted->tv_sec - 1,
					   .tv_nsec = wanted->tv_nsec + 500000000 };
	return first ? EINTR : 0;
}

void __wrap_usage_read(const struct usage_meter *meter, struct usage *usage)
{
	(void)meter;
	note("usage; ");
	*usage = used;
	now += USAGE_NS;
	used.user_us += 10000;
}

int __wrap_record_machine(struct records *r, const struct bench_settings *settings,
			  const struct ta_counter *counter, struct error *err)
{
	(void)r;
	(void)settings;
	(void)counter;
	(void)err;
	note("[machine] ");
	return 0;
}

int __wrap_sink_record(struct sink *sink, struct json *record, struct error *err)
{
	char type[16];

	(void)sink;
	(void)err;
	assert_false(record->failed);
	assert_int_equal(sscanf(record->text, "{\"type\":\"%15[a-z]", type), 1);
	note("[%s] ", type);
	assert_true(n_lines < sizeof(lines) / sizeof(*lines));
	lines[n_lines++] = strdup(record->text);
	json_reset(record);
	return 0;
}

void __wrap_witness_idle(struct idle_evidence *idle)
{
	if (!idle->looked) {
		idle->before = strdup("");
		idle->after = strdup("");
	}
	idle->looked = true;
}

int __wrap_witness_calls(const struct measure *m, const struct measure_target *target,
			 uint32_t repeat, uint64_t call_ns, const struct idle_evidence *idle,
			 struct evidence *watched, struct error *err)
{
	(void)m;
	(void)idle;
	(void)err;
	note("watch %c %u calls of %llu ns; ", letter(target->c), repeat,
	     (unsigned long long)call_ns);
	watched->before = watched_calls ? strdup("") : NULL;
	watched->after = watched_calls ? strdup("") : NULL;
	watched->calls = watched_calls;
	watched->others_ns = -1;
	return 0;
}

void __wrap_masks_compare(const char *key, uint32_t calls, const char *variable, const char *value,
			  struct masks *masks)
{
	note("masks %s %u %s=%s; ", key, calls, variable, value);
	*masks = (struct masks){ .tried = true, .variable = variable, .value = value };
}

int __wrap_tracepoints_begin(struct tracepoints **trace, struct error *err)
{
	(void)err;
	*trace = some_trace;
	note("count; ");
	return 0;
}

int __wrap_tracepoints_end(struct tracepoints *trace, struct tracepoint_counts *counts,
			   struct error *err)
{
	(void)err;
	assert_ptr_equal(trace, some_trace);
	note("counted; ");
	*counts = (struct tracepoint_counts){ .returns = 100, .complete = 40, .interrupts = 30 };
	counts->alloc = 1;
	counts->free = 2;
	counts->command = 3;
	counts->other = 4;
	return 0;
}

int __wrap_tracepoints_open_legs(struct tracepoints **trace, struct error *err)
{
	(void)err;
	*trace = some_trace;
	return 0;
}

int __wrap_tracepoints_start_legs(struct tracepoints *trace, struct error *err)
{
	(void)trace;
	(void)err;
	note("trace; ");
	now += TRACE_NS;
	return 0;
}

/* The legs of the n-th traced call: n microseconds, then twice as many. */
int __wrap_tracepoints_stop_legs(struct tracepoints *trace, struct tracepoint_legs *legs,
				 struct error *err)
{
	static const struct tracepoint_leg two[] = { { 5000, 6000, 0xffff0005 },
						     { 8000, 12000, 0 } };

	(void)trace;
	(void)err;
	note("traced; ");
	now += TRACE_NS;
	memcpy(legs->list, two, sizeof(two));
	legs->count = 2;
	return 0;
}

void __wrap_tracepoints_close_legs(struct tracepoints *trace)
{
	assert_ptr_equal(trace, some_trace);
}

void __wrap_ta_counter_find(struct ta_counter *counter)
{
	counter->clock = TA_CLOCK_VIRTUAL;
}

int __wrap_ta_counter_start(const struct ta_counter *counter, struct tee_session *tee,
			    struct error *err)
{
	(void)counter;
	(void)tee;
	(void)err;
	note("ta-clock; ");
	now += TA_CLOCK_NS;
	used.sys_us += 50;
	return 0;
}

int __wrap_ta_counter_stop(const struct ta_counter *counter, struct tee_session *tee, uint64_t *ns,
			   struct error *err)
{
	(void)counter;
	(void)tee;
	(void)err;
	note("ta-clock off; ");
	now += TA_CLOCK_NS;
	*ns = 321;
	return 0;
}

static const char *mask(const char **value)
{
	*value = "0";
	return "OPENSSL_armcap";
}

static struct tee_session ta = { .context_ns = 31, .open_ns = 37, .first_ns = 41 };

static struct tee_session *tee(struct session *session)
{
	(void)session;
	return &ta;
}

static const struct backend plain = { .name = "plain" };
static const struct backend masking = { .name = "masking", .may_offload = true, .mask = mask };
static const struct backend unmasked = { .name = "unmasked", .may_offload = true };
static const struct backend in_ta = { .name = "in-ta", .crosses = true, .tee = tee };

/* ---- Cases. */

static struct bench_settings settings;
static struct bench_case list[4];
static struct cases cases;
static struct pool pool;
static struct end_facts found;

/* Adds a case of `bytes` bytes, whose samples are `samples` calls that take 1 µs each. */
static struct bench_case *add(char name, const struct workload *w, const struct backend *backend,
			      int64_t bytes, uint32_t samples)
{
	struct bench_case *c = &cases.list[cases.count++];

	*c = (struct bench_case){
		.workload = w,
		.backend = backend,
		.bytes = bytes,
		.options = { .samples = samples, .repeats = { 1 }, .n_repeats = 1 },
	};
	scripts[name - 'a'].call_ns = 1000;
	snprintf(c->key, sizeof(c->key), "made-up/none/%s/%lld-%c", backend->name, (long long)bytes,
		 name);
	c->parts = strdup(c->key);
	c->workload_name = strtok(c->parts, "/");
	c->algorithm_name = strtok(NULL, "/");
	c->backend_name = strtok(NULL, "/");
	c->parameters = strtok(NULL, "/");
	return c;
}

static void bench(void)
{
	struct error err = { 0 };
	struct sink sink = { .fd = -1 };

	assert_int_equal(bench_run(&settings, &cases, &pool, &sink, &found, &err), 0);
	assert_string_equal(found.reason, "done");
}

static void forget(void)
{
	while (n_lines)
		free(lines[--n_lines]);
	course[0] = '\0';
	for (size_t i = 0; i < cases.count; i++)
		free(list[i].parts);
	cases = (struct cases){ .list = list };
}

/* Nothing has been measured; there are no cases. */
static int begin(void **state)
{
	(void)state;
	now = 1000000;
	used = (struct usage){ 0 };
	resolution_ns = 1;
	watched_calls = 0;
	settings = (struct bench_settings){ .ta_counter = true, .evidence = true };
	memset(scripts, 0, sizeof(scripts));
	forget();
	memset(&pool, 0, sizeof(pool));
	return 0;
}

static int done(void **state)
{
	(void)state;
	forget();
	return 0;
}

/* Returns the n-th record of a type, from 0. */
static const char *record(const char *type, size_t n)
{
	char begin[40];

	snprintf(begin, sizeof(begin), "{\"type\":\"%s\",", type);
	for (size_t i = 0; i < n_lines; i++)
		if (!strncmp(lines[i], begin, strlen(begin)) && !n--)
			return lines[i];
	fail_msg("too few records of type %s", type);
	return NULL;
}

static size_t count(const char *type)
{
	char begin[40];
	size_t n = 0;

	snprintf(begin, sizeof(begin), "{\"type\":\"%s\",", type);
	for (size_t i = 0; i < n_lines; i++)
		n += !strncmp(lines[i], begin, strlen(begin));
	return n;
}

static void assert_has(const char *line, const char *what)
{
	if (!strstr(line, what))
		fail_msg("no %s in %s", what, line);
}

/* Returns how often `what` is in the course of the run. */
static unsigned times(const char *what)
{
	unsigned n = 0;

	for (const char *at = course; (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

/* ---- The tests. */

/*
 * Nothing but the run is between the two readings of the clock; CPU time is read outside of them;
 * calibrating reads none. A sample's warm-up is one call; each sample is checked.
 */
static void test_a_run_step_by_step(void **state)
{
	(void)state;
	add('a', &workload, &plain, 0, 2)->options.loops = 4;
	bench();
	assert_string_equal(
		course,
		"clock; [machine] "
		"prepare a; ready a 1; usage; clock; run a 1x1; clock; usage; verify a; check a; "
		"ready a 1; clock; run a 1x1; clock; ready a 1; clock; run a 1x1; clock; "
		"ready a 2; clock; run a 2x1; clock; ready a 2; clock; run a 2x1; clock; "
		"[first] [case] "
		"ready a 1; run a 1x1; "
		"ready a 4; usage; clock; run a 4x1; clock; usage; check a; [sample] "
		"ready a 1; run a 1x1; "
		"ready a 4; usage; clock; run a 4x1; clock; usage; check a; [sample] "
		"clock; [end] ");
}

/* Each figure has its own name, and counts neither what came before nor what came after. */
static void test_the_figures_of_a_first_call_and_of_a_sample(void **state)
{
	(void)state;
	add('a', &workload, &plain, 0, 2)->options.loops = 4;
	scripts[0].first_extra_ns = 500;
	bench();
	assert_has(record("first", 0),
		   "\"what\":\"call\",\"ns\":1500,\"source\":\"client-clock\",\"user_us\":10003,"
		   "\"sys_us\":5,\"nvcsw\":7,\"nivcsw\":11,\"runq_ns\":13}");
	for (size_t i = 0; i < 2; i++)
		assert_has(record("sample", i),
			   "\"repeat\":1,\"loops\":4,\"ns\":4000,\"source\":\"client-clock\","
			   "\"user_us\":10012,\"sys_us\":20,\"nvcsw\":28,\"nivcsw\":44,"
			   "\"runq_ns\":52}");
	assert_has(record("sample", 0), "\"seq\":0");
	assert_has(record("sample", 1), "\"seq\":1");
	assert_has(record("end", 0), "\"cases\":1,\"samples\":2,\"ta_samples\":0,\"skipped\":0,"
				     "\"failed\":0,\"thrown_away\":0,");
}

static void test_the_end_says_how_long_the_run_took(void **state)
{
	uint64_t begin_ns = now;
	char duration[40];

	(void)state;
	add('a', &workload, &plain, 0, 1);
	bench();
	snprintf(duration, sizeof(duration), "\"duration_ns\":%llu",
		 (unsigned long long)(now - begin_ns));
	assert_has(record("end", 0), duration);
}

/* A cold call takes longer, and eight operations at once do. */
static void test_a_calls_time_is_that_of_a_warm_call_by_the_first_repeat(void **state)
{
	struct case_options *o = &add('a', &workload, &plain, 0, 1)->options;

	(void)state;
	o->repeats[1] = 8;
	o->n_repeats = 2;
	scripts[0].operation_ns = 200;
	scripts[0].first_extra_ns = 1000000;
	bench();
	assert_has(record("case", 0), "\"call_ns\":1200}");
	assert_has(record("first", 0), "\"ns\":1001200,");
}

/* The only call of a sample is not calibrated: its time is the first call's. */
static void test_a_sample_of_one_call_takes_the_first_calls_time(void **state)
{
	(void)state;
	add('a', &workload, &plain, 0, 1)->loops_max = 1;
	scripts[0].first_extra_ns = 300;
	bench();
	assert_has(record("case", 0), "\"loops\":[1],");
	assert_has(record("case", 0), "\"call_ns\":1300}");
	assert_int_equal(times("run a 1x1; "), 3); /* the first, a warm-up, the sample */
}

/* Each repeat has loops of its own, in the record of the case and in the samples. */
static void test_loops_of_each_repeat(void **state)
{
	struct case_options *o = &add('a', &workload, &plain, 0, 3)->options;

	(void)state;
	*o = (struct case_options){ 3, 20000, 0, { 1, 16 }, 2 };
	scripts[0].operation_ns = 1000;
	bench();
	assert_has(record("case", 0), "\"repeat\":[1,16],\"loops\":[16,2],\"min_ns\":20000,");
	for (size_t i = 0; i < 6; i++)
		assert_has(record("sample", i), strstr(record("sample", i), "\"repeat\":16,") ?
							"\"loops\":2,\"ns\":34000," :
							"\"repeat\":1,\"loops\":16,\"ns\":32000,");
}

/* A thousand steps of the clock at least, or as much as was asked for. */
static void test_no_sample_is_shorter_than_the_clock_can_time(void **state)
{
	(void)state;
	resolution_ns = 52;
	add('a', &workload, &plain, 0, 1)->options.min_ns = 51999;
	add('b', &workload, &plain, 0, 1)->options.min_ns = 52001;
	bench();
	assert_has(record("case", 0), "\"min_ns\":52000,");
	assert_has(record("case", 1), "\"min_ns\":52001,");
}

/* From 20 ms on the cost of a cold path is lost in the call. */
static void test_short_calls_are_warmed_up_and_long_ones_are_not(void **state)
{
	(void)state;
	add('a', &workload, &plain, 0, 3)->options.repeats[0] = 6;
	add('b', &workload, &plain, 0, 3)->options.repeats[0] = 6;
	scripts[0].call_ns = 19999999;
	scripts[1].call_ns = 20000000;
	bench();
	assert_int_equal(times("ready a 1; run a 1x6; ready a 1; usage; clock; run a 1x6; "), 3);
	assert_int_equal(times("ready b 1; run b 1x6; "), 0);
	assert_int_equal(times("ready b 1; usage; clock; run b 1x6; "), 4);
}

static void test_a_sample_that_is_too_short_is_thrown_away(void **state)
{
	(void)state;
	add('a', &workload, &plain, 0, 2)->options.min_ns = 10000;
	/* Calibrated with 16 calls of 1 µs (runs 2 to 5); then a call takes a tenth. */
	scripts[0].later_from = 6;
	scripts[0].later_call_ns = 100;
	bench();
	assert_has(record("case", 0), "\"loops\":[16],");
	for (size_t i = 0; i < 2; i++)
		assert_has(record("sample", i), "\"loops\":128,\"ns\":12800,");
	assert_int_equal(times("run a 16x1; clock; usage; check a; ready a 32; "), 1);
	assert_int_equal(times("run a 64x1; clock; usage; check a; ready a 128; "), 1);
	assert_int_equal(found.thrown_away, 3);
	assert_has(record("end", 0), "\"samples\":2,");
	assert_has(record("end", 0), "\"thrown_away\":3,");
}

/* A limit of calls, or loops that were asked for, end the doubling: what there is counts. */
static void test_loops_are_not_doubled_beyond_a_limit(void **state)
{
	struct bench_case *limited = add('a', &workload, &plain, 0, 2);
	struct bench_case *asked = add('b', &workload, &plain, 0, 2);

	(void)state;
	limited->loops_max = 40;
	limited->options.min_ns = asked->options.min_ns = 10000;
	asked->options.loops = 3;
	for (unsigned i = 0; i < 2; i++) {
		scripts[i].later_from = 6;
		scripts[i].later_call_ns = 100;
	}
	bench();
	for (size_t i = 0; i < 4; i++)
		assert_has(record("sample", i), strstr(record("sample", i), "0-a") ?
							"\"loops\":40,\"ns\":4000," :
							"\"loops\":3,\"ns\":300,");
	assert_int_equal(found.thrown_away, 2);
	assert_has(record("case", 1), "\"loops\":[3],");
}

/* Writes the cases and repeats of all samples in their order, such as "a1 b2 ". */
static void order_of_samples(uint64_t seed, char *order)
{
	struct case_options *a, *b;

	a = &add('a', &workload, &plain, 0, 2)->options;
	b = &add('b', &workload, &plain, 0, 2)->options;
	a->repeats[1] = b->repeats[1] = 2;
	a->n_repeats = b->n_repeats = 2;
	a->loops = b->loops = 1;
	settings.seed = seed;
	bench();
	assert_int_equal(count("sample"), 8);
	for (size_t i = 0; i < 8; i++) {
		const char *line = record("sample", i);

		*order++ = strstr(line, "0-a\"") ? 'a' : 'b';
		*order++ = strstr(line, "\"repeat\":2,") ? '2' : '1';
		*order++ = i < 7 ? ' ' : '\0';
	}
	forget();
}

/* The orders of these seeds are the same in every release, so that a run can be repeated. */
static void test_the_seed_decides_the_order_of_samples(void **state)
{
	char order[3 * 8];

	(void)state;
	for (int i = 0; i < 2; i++) {
		order_of_samples(1, order);
		assert_string_equal(order, "a1 a2 a2 b2 b2 a1 b1 b1");
		order_of_samples(2, order);
		assert_string_equal(order, "a1 b2 a1 a2 b1 a2 b2 b1");
	}
}

/* Over all seeds, each kind of sample comes as often in each place of the order. */
static void test_the_order_is_a_whole_shuffle(void **state)
{
	enum { SEEDS = 2000 };
	unsigned in[8][4] = { 0 };
	char order[3 * 8];

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		unsigned kinds[4] = { 0 };

		order_of_samples(seed, order);
		for (size_t i = 0; i < 8; i++) {
			int kind = 2 * (order[3 * i] - 'a') + order[3 * i + 1] - '1';

			kinds[kind]++;
			in[i][kind]++;
		}
		for (size_t k = 0; k < 4; k++)
			assert_int_equal(kinds[k], 2);
	}
	/* 500 of each are expected; the deviation is 19. */
	for (size_t i = 0; i < 8; i++)
		for (size_t k = 0; k < 4; k++)
			assert_in_range(in[i][k], 400, 600);
}

/* An earlier result is spoiled before each run, whether a check, a warm-up or calibrating came before. */
static void test_a_run_that_writes_nothing_is_noticed(void **state)
{
	static const struct {
		unsigned silent_from;
		uint64_t call_ns;
		unsigned samples;
	} rows[] = {
		{ 1, 30000000, 0 }, /* the first run */
		{ 4, 30000000, 0 }, /* of long calls: the first sample after calibrating */
		{ 6, 30000000, 2 }, /* the third */
		{ 5, 1000000, 0 },  /* of short ones: the first sample, after its warm-up */
		{ 7, 1000000, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(state);
		add('a', &workload, &plain, 0, 3);
		scripts[0].call_ns = rows[i].call_ns;
		scripts[0].silent_from = rows[i].silent_from;
		scripts[0].silent_to = rows[i].call_ns < 20000000 ? rows[i].silent_from : 1000;
		bench();
		assert_int_equal(count("sample"), rows[i].samples);
		assert_has(record("fail", 0), "wrong result");
		assert_int_equal(found.failed, 1);
	}
}

/* The other cases go on, and the order of their samples stays. */
static void test_a_case_that_fails_gives_no_more_samples(void **state)
{
	(void)state;
	add('a', &workload, &plain, 0, 5);
	add('b', &workload, &plain, 0, 5);
	scripts[0].call_ns = scripts[1].call_ns = 30000000;
	scripts[0].silent_from = 6; /* its third sample */
	scripts[0].silent_to = 1000;
	bench();
	assert_int_equal(count("sample"), 2 + 5);
	assert_int_equal(count("fail"), 1);
	assert_int_equal(scripts[0].runs, 6);
	for (size_t i = 0; i < 7; i++) {
		char seq[24];

		snprintf(seq, sizeof(seq), "\"seq\":%zu,", i);
		assert_has(record("sample", i), seq);
	}
}

/* A case that a machine can't do is skipped; one that worked before and fails now is a failure. */
static void test_a_case_that_worked_before_is_not_skipped(void **state)
{
	for (unsigned from = 1; from < 7; from++) {
		begin(state);
		add('a', &workload, &plain, 0, 3);
		scripts[0].call_ns = 30000000;
		scripts[0].lacking_from = from;
		bench();
		/* Its first run, and two that calibrate. */
		assert_int_equal(found.skipped, from < 4);
		assert_int_equal(found.failed, from >= 4);
		assert_has(record(from < 4 ? "skip" : "fail", 0), "it is not to be had");
	}
}

static void test_the_ta_times_the_samples_too(void **state)
{
	struct bench_case *c = add('a', &timed_by_ta, &in_ta, 0, 2);

	(void)state;
	pool.workplaces[0] = (struct workplace){ .backend = &in_ta,
						 .use = WORKPLACE_DIGEST,
						 .in = { .data = (uint8_t *)course, .size = 1 },
						 .session = (struct session *)course };
	pool.count = 1;
	c->workplace = &pool.workplaces[0];
	c->options.loops = 2;
	bench();
	assert_has(record("case", 0), "\"ta_counter\":true");
	assert_int_equal(times("ready a 2; ta-clock; usage; clock; run a 2x1; clock; usage; "
			       "ta-clock off; check a; [sample] [sample] "),
			 2);
	for (size_t i = 0; i < 4; i += 2) {
		assert_has(record("sample", i), "\"loops\":2,\"ns\":2000,\"source\":\"client-clock"
						"\",\"user_us\":10006,\"sys_us\":10,");
		assert_has(record("sample", i + 1),
			   "\"loops\":2,\"ns\":321,\"source\":\"ta-counter\"}");
	}
	assert_has(record("sample", 1), "\"seq\":0,");
	assert_has(record("sample", 3), "\"seq\":1,");
	assert_has(record("end", 0), "\"samples\":2,\"ta_samples\":2,");
	/* The opening of its session is told in three steps, once. */
	assert_int_equal(count("first"), 4);
	assert_has(record("first", 0), "\"case\":null,\"backend\":\"in-ta\",\"what\":\"context\","
				       "\"ns\":31,");
	assert_has(record("first", 1), "\"what\":\"session\",\"ns\":37,");
	assert_has(record("first", 2), "\"what\":\"invoke\",\"ns\":41,");
}

static void test_no_counter_is_looked_for_when_it_is_not_wanted(void **state)
{
	(void)state;
	add('a', &timed_by_ta, &in_ta, 0, 2);
	settings.ta_counter = false;
	bench();
	assert_int_equal(times("ta-clock"), 0);
	assert_has(record("end", 0), "\"samples\":2,\"ta_samples\":0,");
}

/* Requests of the TEE are counted in calls that aren't timed; an interrupt is none. */
static void test_requests_are_counted_before_calibrating(void **state)
{
	(void)state;
	add('a', &counted, &in_ta, 0, 1);
	add('b', &counted, &plain, 0, 1);
	bench();
	assert_int_equal(times("check a; ready a 1; count; run a 4x1; counted; check a; "), 1);
	assert_int_equal(times("count; "), 1); /* the other case doesn't call the TEE */
	assert_has(record("case", 0), "\"rpcs_per_call\":2.5");
	assert_null(strstr(record("case", 1), "rpcs_per_call"));
}

/* Its first call follows another case's, on a cold path. */
static void test_the_first_traced_call_is_dropped(void **state)
{
	(void)state;
	settings.trace_events = true;
	add('a', &workload, &in_ta, 0, 1);
	add('b', &workload, &plain, 0, 1); /* doesn't call the TEE */
	bench();
	assert_int_equal(times("ready a 1; trace; clock; run a 1x1; clock; traced; check a; "), 33);
	assert_int_equal(times("traced; check a; ready a 1; trace; "), 1);
	assert_int_equal(count("legs"), 32);
	for (size_t i = 0; i < 32; i++) {
		char seq[24];

		snprintf(seq, sizeof(seq), "\"seq\":%zu,", i);
		assert_has(record("legs", i), seq);
		assert_has(record("legs", i), "0-a\"");
		assert_has(record("legs", i), "\"resolution_ns\":1000,");
		assert_has(record("legs", i), "\"ns\":1000,\"legs\":[[0,1000,4294901765],"
					      "[3000,7000,0]]}");
	}
}

/* Long calls are traced for half a second, and six of them whatever they take. */
static void test_long_calls_are_traced_less_often(void **state)
{
	static const struct {
		uint64_t call_ns;
		size_t traced;
	} rows[] = { { 50000000, 10 }, { 600000000, 6 } };

	for (size_t i = 0; i < 2; i++) {
		begin(state);
		settings.trace_events = true;
		add('a', &workload, &in_ta, 0, 1);
		scripts[0].call_ns = rows[i].call_ns;
		bench();
		assert_int_equal(count("legs"), rows[i].traced);
	}
}

/* In the longest the overhead of a call hides least; each backend has its own. */
static void test_masks_are_compared_on_the_longest_message_only(void **state)
{
	(void)state;
	watched_calls = 40;
	add('a', &workload, &masking, 64, 1);
	add('b', &workload, &masking, 4096, 1);
	add('c', &workload, &unmasked, 65536, 1);
	add('d', &workload, &masking, -1, 1);
	bench();
	assert_int_equal(times("masks "), 1);
	assert_int_equal(times("watch b 1 calls of 1000 ns; "
			       "masks made-up/none/masking/4096-b 10 OPENSSL_armcap=0; "),
			 1);
	assert_has(record("case", 1), "\"variable\":\"OPENSSL_armcap\",\"value\":\"0\"");
	assert_null(strstr(record("case", 0), "masked"));
}

static void test_masks_are_not_compared_where_nothing_was_watched(void **state)
{
	(void)state;
	add('a', &workload, &masking, 64, 1);
	bench();
	assert_int_equal(times("watch a"), 1);
	assert_int_equal(times("masks "), 0);
	begin(state);
	watched_calls = 3;
	add('a', &workload, &masking, 64, 1);
	bench();
	assert_int_equal(times("masks made-up/none/masking/64-a 1 "), 1);
}

/* A signal that doesn't end the run doesn't shorten the wait. */
static void test_it_settles_before_the_first_call(void **state)
{
	(void)state;
	settings.settle_ns = 2250000000;
	add('a', &workload, &plain, 0, 1);
	bench();
	assert_int_equal(
		times("[machine] sleep 2.250000000; sleep 1.750000000; prepare a; ready a 1; "), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_run_step_by_step),
		TEST(test_the_figures_of_a_first_call_and_of_a_sample),
		TEST(test_the_end_says_how_long_the_run_took),
		TEST(test_a_calls_time_is_that_of_a_warm_call_by_the_first_repeat),
		TEST(test_a_sample_of_one_call_takes_the_first_calls_time),
		TEST(test_loops_of_each_repeat),
		TEST(test_no_sample_is_shorter_than_the_clock_can_time),
		TEST(test_short_calls_are_warmed_up_and_long_ones_are_not),
		TEST(test_a_sample_that_is_too_short_is_thrown_away),
		TEST(test_loops_are_not_doubled_beyond_a_limit),
		TEST(test_the_seed_decides_the_order_of_samples),
		TEST(test_the_order_is_a_whole_shuffle),
		TEST(test_a_run_that_writes_nothing_is_noticed),
		TEST(test_a_case_that_fails_gives_no_more_samples),
		TEST(test_a_case_that_worked_before_is_not_skipped),
		TEST(test_the_ta_times_the_samples_too),
		TEST(test_no_counter_is_looked_for_when_it_is_not_wanted),
		TEST(test_requests_are_counted_before_calibrating),
		TEST(test_the_first_traced_call_is_dropped),
		TEST(test_long_calls_are_traced_less_often),
		TEST(test_masks_are_compared_on_the_longest_message_only),
		TEST(test_masks_are_not_compared_where_nothing_was_watched),
		TEST(test_it_settles_before_the_first_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
