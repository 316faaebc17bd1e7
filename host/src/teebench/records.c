/* SPDX-License-Identifier: BSD-2-Clause */
#include "records.h"
#include "kernel_crypto.h"
#include "machine.h"
#include "tee_client.h"

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
	json_string_or_null(j, "tee_result", of_tee ? tee_result_name(why->tee_result) : NULL);
	json_string_or_null(j, "tee_origin", of_tee ? tee_origin_name(why->tee_origin) : NULL);
}

int record_machine(struct records *r, const struct bench_settings *settings,
		   const struct ta_counter *counter, struct error *err)
{
	struct json *j = &r->json;

	begin(r, "machine");
	/* Schema 3 adds records of legs. */
	json_u64(j, "schema", settings->trace_events ? 3 : RECORDS_SCHEMA);
	machine_put(j, counter, false);
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
	json_object_end(j);
	return end(r, err);
}

static void begin_first(struct records *r, const char *key, const char *backend, const char *what,
			uint64_t ns)
{
	struct json *j = &r->json;

	begin(r, "first");
	json_string_or_null(j, "case", key);
	json_string(j, "backend", backend);
	json_string(j, "what", what);
	json_u64(j, "ns", ns);
	json_string(j, "source", "client-clock");
}

int record_opening(struct records *r, const struct backend *backend, const struct tee_session *tee,
		   struct error *err)
{
	static const char *const parts[] = { "context", "session", "invoke" };
	const uint64_t ns[] = { tee->context_ns, tee->open_ns, tee->first_ns };
	int ret = 0;

	for (size_t i = 0; !ret && i < 3; i++) {
		begin_first(r, NULL, backend->name, parts[i], ns[i]);
		ret = end(r, err);
	}
	return ret;
}

int record_first_call(struct records *r, const struct bench_case *c, const struct measured *m,
		      struct error *err)
{
	begin_first(r, c->key, c->backend_name, "call", m->ns);
	put_usage(&r->json, &m->usage);
	return end(r, err);
}

/* Writes which of the kernel's drivers computes the case, if its backend can tell. */
static void put_driver(struct json *j, const struct bench_case *c)
{
	struct kernel_driver driver;
	struct error why = { 0 };

	if (!c->backend || !c->backend->driver_of)
		return;
	if (c->backend->driver_of(c->algorithm, c->backend->driver, &driver, &why)) {
		json_null(j, "kernel_driver");
		return;
	}
	json_object(j, "kernel_driver");
	json_string(j, "name", driver.driver);
	json_string(j, "module", driver.module);
	json_string(j, "type", driver.type);
	json_i64(j, "priority", driver.priority);
	json_bool(j, "async", driver.async);
	json_object_end(j);
}

static void put_u32s(struct json *j, const char *name, const uint32_t *list, unsigned count)
{
	json_array(j, name);
	for (unsigned i = 0; i < count; i++)
		json_u64(j, NULL, list[i]);
	json_array_end(j);
}

static void put_rpcs(struct json *j, const struct case_plan *plan, uint32_t calls)
{
	if (!plan->rpcs_unknown.code) {
		json_double(j, "rpcs_per_call", (double)tracepoints_rpcs(&plan->rpcs) / calls);
	} else {
		json_null(j, "rpcs_per_call");
		json_string(j, "rpcs_reason", plan->rpcs_unknown.what);
	}
}

int record_case(struct records *r, const struct bench_case *c, const struct case_plan *plan,
		const struct idle_evidence *idle, struct error *err)
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
	put_u32s(j, "repeat", c->options.repeats, c->options.n_repeats);
	/* The loops of each repeat as calibrated; they may grow during the run. */
	put_u32s(j, "loops", plan->loops, c->options.n_repeats);
	json_u64(j, "min_ns", plan->min_ns);
	json_u64(j, "call_ns", plan->call_ns);
	if (plan->in_ta)
		json_bool(j, "ta_counter", plan->ta);
	put_driver(j, c);
	if (c->backend && c->backend->may_offload) {
		witness_put(j, &plan->watched, idle);
		if (plan->masks.tried)
			masks_put(j, &plan->masks);
	}
	if (c->workload->refereed)
		json_string_or_null(j, "checked_by", c->checked_by);
	if (c->workload->facts)
		c->workload->facts(c, j);
	if (c->workload->rpc_calls && case_calls_tee(c))
		put_rpcs(j, plan, c->workload->rpc_calls);
	return end(r, err);
}

int record_out(struct records *r, const struct bench_case *c, const struct error *why,
	       struct error *err)
{
	begin(r, why->skip ? "skip" : "fail");
	json_string(&r->json, "case", c->key);
	if (why->skip)
		json_string(&r->json, "code", why->skip);
	put_error(&r->json, why);
	return end(r, err);
}

static void begin_calls(struct records *r, const char *type, const struct calls *calls)
{
	begin(r, type);
	json_string(&r->json, "case", calls->c->key);
	json_u64(&r->json, "seq", calls->seq);
	json_u64(&r->json, "repeat", calls->repeat);
}

int record_sample(struct records *r, const struct calls *calls, const struct measured *m,
		  bool by_ta, struct error *err)
{
	struct json *j = &r->json;

	begin_calls(r, "sample", calls);
	json_u64(j, "loops", calls->loops);
	json_u64(j, "ns", by_ta ? m->along_ns : m->ns);
	json_string(j, "source", by_ta ? "ta-counter" : "client-clock");
	if (!by_ta)
		put_usage(j, &m->usage);
	return end(r, err);
}

int record_legs(struct records *r, const struct calls *calls, uint64_t ns,
		const struct tracepoint_legs *legs, const struct error *why, struct error *err)
{
	struct json *j = &r->json;

	begin_calls(r, "legs", calls);
	json_u64(j, "resolution_ns", TRACE_STEP_NS);
	json_string(j, "source", "tracepoints optee:optee_invoke_fn_begin, _end");
	if (!legs) {
		json_null(j, "ns");
		json_null(j, "legs");
		json_string(j, "reason", why->what);
		return end(r, err);
	}
	json_u64(j, "ns", ns);
	json_array(j, "legs");
	for (size_t i = 0; i < legs->count; i++) {
		uint64_t begin = legs->list[0].begin_ns;

		json_array(j, NULL);
		json_u64(j, NULL, legs->list[i].begin_ns - begin);
		json_u64(j, NULL, legs->list[i].end_ns - begin);
		json_u64(j, NULL, legs->list[i].ret);
		json_array_end(j);
	}
	json_array_end(j);
	return end(r, err);
}

int record_end(struct records *r, const struct end_facts *facts, struct error *err)
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
