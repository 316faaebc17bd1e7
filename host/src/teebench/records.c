/* SPDX-License-Identifier: BSD-2-Clause */
#include "records.h"
#include "kernel_crypto.h"
#include "machine.h"
#include "masks.h"
#include "watch.h"

static void begin(struct records *r, const char *type)
{
	json_reset(&r->json);
	json_object(&r->json, NULL);
	json_string(&r->json, "type", type);
}

static int end(struct records *r, struct error *err)
{
	json_object_end(&r->json);
	return sink_record(r->sink, &r->json, err);
}

static void put_usage(struct json *j, const struct usage *u)
{
	json_i64(j, "user_us", u->user_us);
	json_i64(j, "sys_us", u->sys_us);
	json_i64(j, "nvcsw", u->nvcsw);
	json_i64(j, "nivcsw", u->nivcsw);
	json_i64_or_null(j, "runq_ns", u->runq_ns);
}

static void put_error(struct json *j, const struct error *why)
{
	bool of_tee = why->tee_result;

	json_string(j, "reason", why->what);
	json_string_or_null(j, "hint", why->hint);
	json_string_or_null(j, "tee_result",
			    of_tee ? tee_result_name(why->tee_result) : NULL);
	json_string_or_null(j, "tee_origin",
			    of_tee ? tee_origin_name(why->tee_origin) : NULL);
}

int record_machine(struct records *r, const struct bench_settings *settings,
		   const struct ta_counter *counter, struct error *err)
{
	struct json *j = &r->json;

	begin(r, "machine");
	/* Schema 3 has legs. */
	json_u64(j, "schema", settings->trace_events ? 3 : RECORDS_SCHEMA);
	machine_put(j, counter);
	json_object(j, "settings");
	json_u64(j, "seed", settings->seed);
	json_u64(j, "samples", settings->defaults.samples);
	json_u64(j, "min_us", settings->defaults.min_ns / 1000);
	json_u64(j, "settle_s", settings->settle_ns / 1000000000u);
	json_u64(j, "align_tick_ms", settings->align_ns / 1000000u);
	json_bool(j, "quiet_until_end", settings->quiet_until_end);
	json_bool(j, "ta_counter", settings->ta_counter);
	if (settings->trace_events)
		json_bool(j, "trace_events", true);
	else
		json_null(j, "trace_events");
	json_i64_or_null(j, "cpu", settings->cpu);
	json_object_end(j);
	return end(r, err);
}

int record_opening(struct records *r, const struct backend *backend,
		   const char *what, uint64_t ns, struct error *err)
{
	struct json *j = &r->json;

	begin(r, "first");
	json_null(j, "case");
	json_string(j, "backend", backend->name);
	json_string(j, "what", what);
	json_u64(j, "ns", ns);
	json_string(j, "source", "client-clock");
	return end(r, err);
}

int record_first_call(struct records *r, const struct bench_case *c,
		      const struct measured *m, struct error *err)
{
	struct json *j = &r->json;

	begin(r, "first");
	json_string(j, "case", c->key);
	json_string(j, "backend", c->backend_name);
	json_string(j, "what", "call");
	json_u64(j, "ns", m->ns);
	json_string(j, "source", "client-clock");
	put_usage(j, &m->usage);
	return end(r, err);
}

static void put_driver(struct json *j, const struct kernel_driver *driver,
		       const char *why_none)
{
	if (!driver) {
		json_null(j, "kernel_driver");
		json_string(j, "kernel_driver_reason", why_none);
		return;
	}
	json_object(j, "kernel_driver");
	json_string(j, "name", driver->driver);
	json_string(j, "module", driver->module);
	json_string(j, "type", driver->type);
	json_i64(j, "priority", driver->priority);
	json_bool(j, "async", driver->async);
	json_object_end(j);
}

int record_case(struct records *r, const struct bench_case *c,
		const struct case_facts *facts, struct error *err)
{
	struct json *j = &r->json;

	begin(r, "case");
	json_string(j, "case", c->key);
	json_string(j, "workload", c->workload_name);
	json_string(j, "algorithm", c->algorithm_name);
	json_string(j, "backend", c->backend_name);
	json_string(j, "parameters", c->parameters);
	json_i64_or_null(j, "bytes", c->bytes);
	json_bool(j, "verified", true);
	json_u64(j, "samples", c->options.samples);
	json_array(j, "repeat");
	for (unsigned i = 0; i < c->options.n_repeats; i++)
		json_u64(j, NULL, c->options.repeats[i]);
	json_array_end(j);
	json_array(j, "loops"); /* of each repeat, at the beginning */
	for (unsigned i = 0; i < c->options.n_repeats; i++)
		json_u64(j, NULL, facts->loops[i]);
	json_array_end(j);
	json_u64(j, "min_ns", facts->min_ns);
	json_u64(j, "call_ns", facts->call_ns);
	if (facts->in_ta) {
		json_bool(j, "ta_counter", facts->ta_counter);
		json_string_or_null(j, "ta_counter_reason", facts->why_none);
	}
	if (facts->driver || facts->no_driver)
		put_driver(j, facts->driver, facts->no_driver);
	if (facts->watched)
		watch_put(j, facts->watched, facts->idle);
	if (facts->masks)
		masks_put(j, facts->masks);
	if (c->workload->facts)
		c->workload->facts(c->state, j);
	return end(r, err);
}

int record_skip(struct records *r, const struct bench_case *c,
		const struct error *why, struct error *err)
{
	begin(r, "skip");
	json_string(&r->json, "case", c->key);
	json_string(&r->json, "code", why->skip);
	put_error(&r->json, why);
	return end(r, err);
}

int record_fail(struct records *r, const struct bench_case *c,
		const struct error *why, struct error *err)
{
	begin(r, "fail");
	json_string(&r->json, "case", c->key);
	put_error(&r->json, why);
	return end(r, err);
}

static void begin_sample(struct records *r, const struct bench_case *c,
			 uint64_t seq, uint32_t repeat, uint32_t loops,
			 uint64_t ns, const char *source)
{
	struct json *j = &r->json;

	begin(r, "sample");
	json_string(j, "case", c->key);
	json_u64(j, "seq", seq);
	json_u64(j, "repeat", repeat);
	json_u64(j, "loops", loops);
	json_u64(j, "ns", ns);
	json_string(j, "source", source);
}

int record_sample(struct records *r, const struct bench_case *c, uint64_t seq,
		  uint32_t repeat, uint32_t loops, const struct measured *m,
		  struct error *err)
{
	begin_sample(r, c, seq, repeat, loops, m->ns, "client-clock");
	put_usage(&r->json, &m->usage);
	return end(r, err);
}

int record_ta_sample(struct records *r, const struct bench_case *c,
		     uint64_t seq, uint32_t repeat, uint32_t loops,
		     const struct measured *m, struct error *err)
{
	begin_sample(r, c, seq, repeat, loops, m->along_ns, "ta-counter");
	return end(r, err);
}

static void begin_legs(struct records *r, const struct bench_case *c,
		       uint64_t seq, uint32_t repeat)
{
	begin(r, "legs");
	json_string(&r->json, "case", c->key);
	json_u64(&r->json, "seq", seq);
	json_u64(&r->json, "repeat", repeat);
	json_u64(&r->json, "resolution_ns", TRACE_STEP_NS);
	json_string(&r->json, "source",
		    "tracepoints optee:optee_invoke_fn_begin, _end");
}

int record_legs(struct records *r, const struct bench_case *c, uint64_t seq,
		uint32_t repeat, uint64_t ns, const struct trace_legs *legs,
		struct error *err)
{
	struct json *j = &r->json;
	uint64_t begin = legs->list[0].begin_ns;

	begin_legs(r, c, seq, repeat);
	json_u64(j, "ns", ns);
	json_array(j, "legs");
	for (size_t i = 0; i < legs->count; i++) {
		json_array(j, NULL);
		json_u64(j, NULL, legs->list[i].begin_ns - begin);
		json_u64(j, NULL, legs->list[i].end_ns - begin);
		json_u64(j, NULL, legs->list[i].ret);
		json_array_end(j);
	}
	json_array_end(j);
	return end(r, err);
}

int record_no_legs(struct records *r, const struct bench_case *c,
		   uint32_t repeat, const struct error *why, struct error *err)
{
	begin_legs(r, c, 0, repeat);
	json_null(&r->json, "ns");
	json_null(&r->json, "legs");
	json_string(&r->json, "reason", why->what);
	return end(r, err);
}

int record_end(struct records *r, const struct end_facts *facts,
	       struct error *err)
{
	struct json *j = &r->json;

	begin(r, "end");
	json_bool(j, "complete", facts->complete);
	json_string(j, "reason", facts->reason);
	json_u64(j, "cases", facts->cases);
	json_u64(j, "samples", facts->samples);
	json_u64(j, "ta_samples", facts->ta_samples);
	json_u64(j, "skipped", facts->skipped);
	json_u64(j, "failed", facts->failed);
	json_u64(j, "thrown_away", facts->thrown_away);
	json_u64(j, "duration_ns", facts->duration_ns);
	machine_put_after(j);
	return end(r, err);
}
