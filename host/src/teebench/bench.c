/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdlib.h>

#include "clock.h"
#include "cpu.h"
#include "marker.h"
#include "prng.h"
#include "records.h"
#include "stop.h"
#include "ta_counter.h"

/*
 * Longest call, in nanoseconds, that is warmed up before a sample. After another case's call, a
 * call into the TEE takes 14 us more, which is negligible in a longer call.
 */
enum { WARM_BELOW_NS = 20000000 };

struct turn {       /* one sample that is still to be taken */
	uint32_t c; /* index of its case */
	uint16_t r; /* index into the case's list of repeats */
};

struct run {
	const struct bench_settings *settings;
	struct cases *cases;
	struct pool *pool;
	struct records records;
	struct usage_meter meter;
	struct measure measure;
	uint64_t shortest_ns; /* no sample may be shorter: 1000 times the clock's resolution */
	struct ta_counter counter;
	struct idle_evidence idle;
	struct case_plan *plans;
	struct turn *turns;
	size_t n_turns;
	struct end_facts *end;
};

/* Looks for a counter that TAs may read, if a case computes in a TA: the search loads a TA. */
static void find_counter(struct run *run)
{
	bool any = false;

	for (size_t i = 0; i < run->cases->count; i++) {
		const struct bench_case *c = &run->cases->list[i];

		any = any || (c->workload->ta_clock && case_in_ta(c));
	}
	if (any && run->settings->ta_counter)
		ta_counter_find(&run->counter);
	else
		snprintf(run->counter.reason, sizeof(run->counter.reason), "%s",
			 any ? "not looked for: --no-ta-counter was given" :
			       "not looked for: no case computes in a TA");
}

/* Sets .in_ta of case i's plan, and .ta if the TA can read the counter, which an older TA can't. */
static void find_ta(struct run *run, size_t i)
{
	const struct bench_case *c = &run->cases->list[i];
	struct case_plan *plan = &run->plans[i];
	struct tee_session *ta = c->workload->ta_clock ? workplace_ta(c->workplace) : NULL;
	uint64_t ns;

	plan->in_ta = ta != NULL;
	if (!ta || !run->counter.clock)
		return;
	if (!ta_counter_start(&run->counter, ta, NULL) &&
	    !ta_counter_stop(&run->counter, ta, &ns, NULL))
		plan->ta = ta;
}

/* Sleeps for `ns` nanoseconds, or until a signal ends the run. */
static void settle(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000u),
			       .tv_nsec = (long)(ns % 1000000000u) };

	while (ns && !stop_asked() && clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

/* Records how long the opening of each backend's session took, once per session. */
static int report_openings(struct run *run, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < run->pool->count; i++) {
		struct workplace *workplace = &run->pool->workplaces[i];
		const struct tee_session *tee = workplace->session ? workplace_ta(workplace) : NULL;

		if (!tee || workplace->use != WORKPLACE_DIGEST || workplace->reported)
			continue;
		workplace->reported = true;
		ret = record_opening(&run->records, workplace->backend, tee, err);
	}
	return ret;
}

static int drop(struct run *run, size_t i, const struct error *why, struct error *err)
{
	run->plans[i].live = false;
	run->end->skipped += why->skip != NULL;
	run->end->failed += !why->skip;
	return record_out(&run->records, &run->cases->list[i], why, err);
}

/*
 * Turns a memory error into the skip `no-memory`, and returns `code`. If the TEE or its shared
 * memory has no room before the first call has returned, the case can't run on this board.
 */
static int no_room(int code, struct error *why)
{
	if (!why->skip && error_tee_memory(why))
		error_skip_word(why, "no-memory");
	return code;
}

/*
 * Returns whether the case has the longest message of its workload, algorithm and backend, in which
 * the call's overhead hides the computation least.
 */
static bool is_longest(const struct cases *cases, const struct bench_case *c)
{
	size_t kind = (size_t)(c->parameters - c->parts);

	for (size_t i = 0; i < cases->count; i++)
		if (cases->list[i].bytes > c->bytes && !strncmp(cases->list[i].key, c->key, kind))
			return false;
	return c->bytes > 0;
}

static void compare_masks(struct run *run, size_t i)
{
	const struct bench_case *c = &run->cases->list[i];
	struct case_plan *plan = &run->plans[i];
	const char *variable, *value;

	if (!c->backend || !c->backend->mask || cpu_masked() || !plan->watched.after ||
	    !is_longest(run->cases, c))
		return;
	variable = c->backend->mask(&value);
	masks_compare(c->key, plan->watched.calls > 4 ? plan->watched.calls / 4 : 1, variable,
		      value, &plan->masks);
}

/*
 * Counts how often the TEE calls back to the normal world, in calls that aren't timed: the kernel's
 * tracepoints slow calls down, and only root may use them.
 */
static int count_rpcs(struct bench_case *c, struct case_plan *plan, struct error *err)
{
	struct tracepoints *trace;
	int ret = case_ready(c, 1, err);

	if (!ret)
		ret = stop_check(err);
	if (ret)
		return ret;
	tracepoints_begin(&trace, &plan->rpcs_unknown);
	ret = case_run(c, c->workload->rpc_calls, 1, err);
	tracepoints_end(trace, &plan->rpcs, &plan->rpcs_unknown);
	if (!ret)
		ret = stop_check(err);
	return ret ? ret : case_check(c, err);
}

/*
 * Makes the first call, verifies its result, and calibrates the loops of a sample. Returns 0, or
 * -errno and in *why the reason why the case is left out.
 */
static int get_ready(struct run *run, size_t i, struct measured *first, struct error *why)
{
	struct bench_case *c = &run->cases->list[i];
	struct case_plan *plan = &run->plans[i];
	const struct case_options *o = &c->options;
	struct measure_target target;
	uint64_t call_ns;
	int ret = case_prepare(c, run->pool, why);

	if (!ret)
		ret = stop_check(why);
	if (ret)
		return no_room(ret, why);
	target = case_target(c);
	ret = measure_once(&run->measure, &target, 1, o->repeats[0], first, why);
	if (ret)
		return no_room(ret, why);
	ret = stop_check(why);
	if (!ret)
		ret = case_verify(c, why);
	if (!ret)
		ret = stop_check(why);
	if (!ret && c->workload->rpc_calls && case_calls_tee(c))
		ret = count_rpcs(c, plan, why);
	if (ret)
		return ret;
	find_ta(run, i);
	plan->min_ns = o->min_ns > run->shortest_ns ? o->min_ns : run->shortest_ns;
	for (unsigned r = 0; r < o->n_repeats; r++) {
		/* A sample of one call needs no calibration. */
		if (measure_loops_max(&target) == 1) {
			plan->loops[r] = 1;
			plan->call_ns = first->ns;
			continue;
		}
		ret = measure_calibrate(&run->measure, &target, plan->min_ns, o->repeats[r],
					&plan->loops[r], &call_ns, why);
		if (ret)
			return ret;
		if (o->loops)
			plan->loops[r] = o->loops < measure_loops_max(&target) ?
						 o->loops :
						 measure_loops_max(&target);
		if (r == 0)
			plan->call_ns = call_ns;
	}
	if (c->backend && c->backend->may_offload) {
		witness_idle(&run->idle);
		ret = witness_calls(&run->measure, &target, o->repeats[0], plan->call_ns,
				    &run->idle, &plan->watched, why);
	}
	if (!ret)
		compare_masks(run, i);
	plan->live = !ret;
	return ret;
}

static int prepare_case(struct run *run, size_t i, struct error *err)
{
	struct bench_case *c = &run->cases->list[i];
	struct error why = { 0 };
	struct measured first;
	int ret, code;

	code = get_ready(run, i, &first, &why);
	ret = report_openings(run, err);
	if (ret)
		return ret;
	/* A signal may have interrupted the case: it counts neither as ready nor as failed. */
	if (stop_asked()) {
		run->plans[i].live = false;
		return 0;
	}
	if (code)
		return drop(run, i, &why, err);
	run->n_turns += (size_t)c->options.samples * c->options.n_repeats;
	ret = record_first_call(&run->records, c, &first, err);
	if (!ret)
		ret = record_case(&run->records, c, &run->plans[i], &run->idle, err);
	return ret;
}

/* Shuffles the samples of all cases into run->turns; the seed decides their order. */
static int deal_turns(struct run *run, struct error *err)
{
	struct prng prng;
	size_t n = 0;

	run->turns = calloc(run->n_turns ? run->n_turns : 1, sizeof(*run->turns));
	if (!run->turns || run->n_turns > UINT32_MAX)
		return error_set(err, -ENOMEM, "out of memory for %zu samples", run->n_turns);
	for (size_t i = 0; i < run->cases->count; i++) {
		const struct case_options *o = &run->cases->list[i].options;

		if (!run->plans[i].live)
			continue;
		for (uint32_t s = 0; s < o->samples; s++)
			for (unsigned r = 0; r < o->n_repeats; r++)
				run->turns[n++] = (struct turn){ (uint32_t)i, (uint16_t)r };
	}
	/* Fisher and Yates */
	prng.state = run->settings->seed;
	for (size_t i = n; i > 1; i--) {
		size_t k = prng_below(&prng, (uint32_t)i);
		struct turn swap = run->turns[i - 1];

		run->turns[i - 1] = run->turns[k];
		run->turns[k] = swap;
	}
	return 0;
}

/* Takes a sample, doubling the loops while it is too short. Returns -ECANCELED if a signal came. */
static int take_sample(struct run *run, const struct turn *turn, struct measured *sample,
		       struct error *why)
{
	struct bench_case *c = &run->cases->list[turn->c];
	struct case_plan *plan = &run->plans[turn->c];
	struct measure_target target = case_target(c);
	uint32_t repeat = c->options.repeats[turn->r];
	uint32_t *loops = &plan->loops[turn->r];
	const struct measure_along along = { ta_counter_start, ta_counter_stop, &run->counter,
					     plan->ta };
	int ret = 0;

	if (plan->ta)
		target.along = &along;
	if (plan->call_ns < WARM_BELOW_NS) {
		ret = case_ready(c, 1, why);
		if (!ret)
			ret = case_run(c, 1, repeat, why);
		if (ret)
			return ret;
	}
	for (;;) {
		if (stop_asked())
			return -ECANCELED;
		ret = measure_once(&run->measure, &target, *loops, repeat, sample, why);
		if (!ret)
			ret = case_check(c, why);
		if (ret || c->options.loops || sample->ns >= plan->min_ns ||
		    *loops >= measure_loops_max(&target))
			return ret;
		/* The sample is too short to be believed. */
		run->end->thrown_away++;
		*loops = *loops > measure_loops_max(&target) / 2 ? measure_loops_max(&target) :
								   *loops * 2;
	}
}

static int put_sample(struct run *run, const struct turn *turn, const struct measured *sample,
		      struct error *err)
{
	const struct bench_case *c = &run->cases->list[turn->c];
	const struct case_plan *plan = &run->plans[turn->c];
	const struct calls calls = { c, run->end->samples++, c->options.repeats[turn->r],
				     plan->loops[turn->r] };
	int ret = record_sample(&run->records, &calls, sample, false, err);

	if (ret || !plan->ta)
		return ret;
	run->end->ta_samples++;
	return record_sample(&run->records, &calls, sample, true, err);
}

static int take_all(struct run *run, struct error *err)
{
	int ret = 0;

	for (size_t t = 0; !ret && t < run->n_turns && !stop_asked(); t++) {
		const struct turn *turn = &run->turns[t];
		struct error why = { 0 };
		struct measured sample;
		int code;

		if (!run->plans[turn->c].live)
			continue;
		code = take_sample(run, turn, &sample, &why);
		if (stop_asked())
			break; /* the signal may have interrupted the sample */
		if (code) {
			why.skip = NULL; /* the case worked before: this is a failure, not a skip */
			ret = drop(run, turn->c, &why, err);
			continue;
		}
		ret = put_sample(run, turn, &sample, err);
	}
	return ret;
}

/* Most and fewest traced calls of a case. They come after all samples, as tracing costs time. */
enum { TRACED_MOST = 32, TRACED_LEAST = 6 };
#define TRACED_NS 500000000u /* time after which no more calls of a case are traced */

static int trace_call(struct run *run, struct bench_case *c, uint64_t seq,
		      struct tracepoints *trace, struct tracepoint_legs *legs, uint64_t *ns,
		      struct error *why)
{
	struct measure_target target = case_target(c);
	struct measure plain = run->measure;
	struct measured call = { 0 };
	int ret;

	/* ready() is called here, before tracing begins, so that its own calls aren't traced. */
	plain.meter = NULL;
	/* Time stamps are whole microseconds: varied pauses keep calls from falling in step. */
	plain.pause = 6 * (uint32_t)seq;
	ret = case_ready(c, 1, why);
	target.ready = NULL;
	if (!ret)
		ret = tracepoints_start_legs(trace, why);
	if (ret)
		return ret;
	ret = measure_once(&plain, &target, 1, c->options.repeats[0], &call, why);
	if (!ret)
		ret = tracepoints_stop_legs(trace, legs, why);
	if (!ret)
		ret = case_check(c, why);
	*ns = call.ns;
	return ret;
}

static int untraced(struct run *run, const struct bench_case *c, const struct error *why,
		    struct error *err)
{
	const struct calls calls = { c, 0, c->options.repeats[0], 1 };

	return record_legs(&run->records, &calls, 0, NULL, why, err);
}

static int trace_case(struct run *run, size_t i, struct tracepoints *trace,
		      struct tracepoint_legs *legs, struct error *err)
{
	struct bench_case *c = &run->cases->list[i];
	struct calls calls = { c, 0, c->options.repeats[0], 1 };
	uint64_t spent = 0, ns = 0;
	bool warm = false;
	int ret = 0;

	while (!ret && calls.seq < TRACED_MOST && !stop_asked() &&
	       (calls.seq < TRACED_LEAST || spent <= TRACED_NS)) {
		struct error why = { 0 };
		int code = trace_call(run, c, calls.seq, trace, legs, &ns, &why);

		if (stop_asked())
			break; /* the signal may have interrupted the call */
		spent += ns;
		if (code)
			return untraced(run, c, &why, err);
		/* The first call follows other cases' calls, on a cold path, and isn't recorded. */
		if (warm) {
			ret = record_legs(&run->records, &calls, ns, legs, NULL, err);
			calls.seq++;
		}
		warm = true;
	}
	return ret;
}

/* Traces some calls of each case. A case that can't be traced gets a record with the reason. */
static int trace_all(struct run *run, struct error *err)
{
	struct tracepoint_legs legs = {
		.list = calloc(TRACE_LEGS_MAX, sizeof(*legs.list)),
	};
	struct tracepoints *trace = NULL;
	struct error why = { 0 };
	int ret = 0, code;

	code = legs.list ? tracepoints_open_legs(&trace, &why) : error_memory(&why);
	for (size_t i = 0; !ret && i < run->cases->count && !stop_asked(); i++) {
		const struct bench_case *c = &run->cases->list[i];

		if (!run->plans[i].live || !case_calls_tee(c))
			continue;
		ret = code ? untraced(run, c, &why, err) : trace_case(run, i, trace, &legs, err);
	}
	tracepoints_close_legs(trace);
	free(legs.list);
	return ret;
}

static const char *signal_reason(int sig)
{
	return !sig           ? "done" :
	       sig == SIGINT  ? "interrupted" :
	       sig == SIGTERM ? "terminated" :
				"hung-up";
}

int bench_run(const struct bench_settings *settings, struct cases *cases, struct pool *pool,
	      struct sink *sink, struct end_facts *end, struct error *err)
{
	struct run run = {
		.settings = settings,
		.cases = cases,
		.pool = pool,
		.records = { .sink = sink },
		.end = end,
		.measure = { .now_ns = clock_now_ns,
			     .meter = &run.meter,
			     .align_ns = settings->align_ns,
			     .stopped = stop_check },
	};
	uint64_t begin = clock_now_ns();
	struct clock_facts clock;
	int ret;

	*end = (struct end_facts){ .cases = (unsigned)cases->count };
	if (!settings->evidence)
		run.idle = (struct idle_evidence){
			.looked = true, .reason = "not looked for: --no-evidence was given"
		};
	usage_open(&run.meter);
	clock_measure(&clock);
	run.shortest_ns = 1000 * clock.resolution_ns;
	run.plans = calloc(cases->count ? cases->count : 1, sizeof(*run.plans));
	if (!run.plans) {
		ret = error_memory(err);
		goto out;
	}
	find_counter(&run);
	ret = record_machine(&run.records, settings, &run.counter, err);
	if (ret)
		goto out;
	sink->hold = settings->quiet_until_end;
	settle(settings->settle_ns);
	for (size_t i = 0; !ret && i < cases->count && !stop_asked(); i++)
		ret = prepare_case(&run, i, err);
	if (!ret && !stop_asked())
		ret = deal_turns(&run, err);
	MARKER_ARM();
	if (!ret)
		ret = take_all(&run, err);
	MARKER_DISARM();
	if (!ret && settings->trace_events && !stop_asked())
		ret = trace_all(&run, err);
	if (ret)
		goto out;
	end->complete = !stop_asked();
	end->reason = signal_reason(stop_reason);
	end->duration_ns = clock_now_ns() - begin;
	ret = record_end(&run.records, end, err);
	if (!ret)
		ret = sink_release(sink, err);
out:
	for (size_t i = 0; i < cases->count; i++)
		case_teardown(&cases->list[i]);
	for (size_t i = 0; run.plans && i < cases->count; i++)
		witness_free(&run.plans[i].watched);
	free(run.idle.before);
	free(run.idle.after);
	free(run.turns);
	free(run.plans);
	json_free(&run.records.json);
	usage_close(&run.meter);
	return ret;
}
