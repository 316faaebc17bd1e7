/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "figures.h"
#include "output.h"
#include "report.h"
#include "stop.h"

const char *const report_kinds[] = {
	[REPORT_TEXT] = "text",
	[REPORT_JSON] = "json",
	NULL,
};

struct report {
	uint64_t begin_ns;
	struct usage_meter meter;
	struct usage before;
	struct tracepoints *trace;
	struct measurements found;
	struct json json;
	FILE *out; /* of a text report */
	char *text;
	size_t len;
};

/* Returns the peak memory in bytes; getrusage()'s would include the starter's. */
static int64_t peak_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	long long kib = -1;
	char line[128];

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %lld", &kib);
	if (f)
		fclose(f);
	return kib < 0 ? -1 : kib * 1024;
}

int report_begin(struct report **report, enum report_kind kind, struct run_settings *run,
		 struct error *err)
{
	struct report *r;

	*report = NULL;
	if (kind == REPORT_NONE)
		return 0;
	*report = r = calloc(1, sizeof(*r));
	if (!r)
		return error_memory(err);
	r->meter.schedstat_fd = -1;
	if (kind == REPORT_TEXT)
		r->out = open_memstream(&r->text, &r->len);
	if (kind == REPORT_TEXT && !r->out) {
		report_free(r);
		*report = NULL;
		return error_memory(err);
	}
	json_object(&r->json, NULL);
	json_u64(&r->json, "schema", 1);
	json_string(&r->json, "program", "teehash");
	json_array(&r->json, "files");
	r->found.has_tee = run->session.backend->crosses;
	if (r->found.has_tee) {
		ta_counter_find(&r->found.counter);
		tracepoints_begin(&r->trace, &r->found.untraced);
	}
	if (r->found.counter.clock != TA_CLOCK_OFF)
		run->session.counter = &r->found.counter;
	usage_open(&r->meter);
	r->found.usage_ns = clock_now_ns();
	usage_read(&r->meter, &r->before);
	r->begin_ns = clock_now_ns();
	return 0;
}

static void text_file(FILE *out, const struct message *m, const char *verdict)
{
	const struct file_stats *s = &m->stats;

	fputs("  ", out);
	name_print_safe(out, m->name);
	if (m->ret) {
		fprintf(out, ": %s\n", m->err.what);
		return;
	}
	fputs(": ", out);
	print_value(out, "bytes", (double)s->bytes);
	fprintf(out, ", %s, %" PRIu64 " call%s, read ", s->way, s->calls, s->calls == 1 ? "" : "s");
	print_value(out, "ns", (double)s->read_ns);
	fputs(", in calls ", out);
	print_value(out, "ns", (double)s->call_ns);
	fputs(", total ", out);
	print_value(out, "ns", (double)s->total_ns);
	fprintf(out, "%s%s\n", verdict ? ", " : "", verdict ? verdict : "");
}

static void json_file(struct json *j, const struct message *m, const char *verdict)
{
	const struct file_stats *s = &m->stats;
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{ "bytes", s->bytes },     { "total_ns", s->total_ns }, { "open_ns", s->open_ns },
		{ "hash_ns", s->hash_ns }, { "read_ns", s->read_ns },   { "wait_ns", s->wait_ns },
		{ "call_ns", s->call_ns }, { "calls", s->calls },       { "reads", s->reads },
	};
	char hex[HEX_MAX];

	hex_encode(hex, m->digest, m->alg->out_bytes);
	json_object(j, NULL);
	json_string(j, "name", m->name);
	json_string(j, "algorithm", m->alg->name);
	json_string_or_null(j, "digest", m->ret ? NULL : hex);
	if (verdict)
		json_string(j, "verdict", verdict);
	json_string_or_null(j, "error", m->ret ? m->err.what : NULL);
	json_string_or_null(j, "way", s->way);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_u64(j, rows[i].key, rows[i].value);
	json_object_end(j);
}

void report_file(struct report *r, const struct message *m, const char *verdict)
{
	if (!r)
		return;
	figures_add_file(&r->found, m);
	if (r->out)
		text_file(r->out, m, verdict);
	else
		json_file(&r->json, m, verdict);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Asks the TA for its stack, then times empty calls, after the work. */
static void ask_session(struct measurements *f, struct hash_session *s)
{
	const struct backend *b;
	uint64_t ns[NOPS];

	if (!s || !s->open || s->broken) {
		f->why = "the last session broke";
		return;
	}
	b = s->settings->backend;
	if (b->stack)
		b->stack(s->open, &f->stack);
	for (size_t i = 0; b->nop && i < NOPS; i++) {
		uint64_t begin = clock_now_ns();

		if (b->nop(s->open, 1, NULL))
			return;
		ns[i] = clock_now_ns() - begin;
	}
	if (!b->nop)
		return;
	qsort(ns, NOPS, sizeof(*ns), by_size);
	f->nop_ns = ns[NOPS / 2];
}

void report_measure(struct report *r, const struct run *run, struct hash_session *session)
{
	struct measurements *f = &r->found;
	uint64_t end;
	struct usage now;

	usage_read(&r->meter, &now);
	end = clock_now_ns();
	f->run = run;
	f->usage = usage_between(&r->before, &now);
	f->usage_ns = end - f->usage_ns;
	f->after_opening = usage_between(&run->stats.opened, &run->stats.ended);
	f->after_opening_ns = run->stats.end_ns - run->stats.opened_ns;
	f->peak_bytes = peak_bytes();
	tracepoints_end(r->trace, &f->switches, &f->untraced);
	r->trace = NULL;
	ask_session(f, session);
}

static void json_end(struct json *j, const struct measurements *f)
{
	const struct run_settings *settings = &f->run->settings;
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{ "workers", f->run->stats.workers },      { "chunk", f->run->stats.chunk },
		{ "slots", f->run->stats.sessions.slots }, { "files_total", f->totals.files },
		{ "files_failed", f->totals.failed },      { "files_oneshot", f->totals.oneshots },
		{ "files_stream", f->totals.streams },
	};

	json_array_end(j);
	/* Always true: a report is only written if the work is complete. */
	json_bool(j, "complete", true);
	json_string(j, "backend", settings->session.backend->name);
	json_string(j, "mode", hash_modes[settings->stream.mode]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_u64(j, rows[i].key, rows[i].value);
	figures_write(&(struct sheet){ .json = j }, f);
	json_object_end(j);
}

static void text_end(FILE *out, const struct measurements *f)
{
	fprintf(out,
		"\n%" PRIu64 " file%s, %" PRIu64 " failed, %" PRIu64 " in one call, %" PRIu64
		" streamed; backend %s, mode %s, %u worker%s\n",
		f->totals.files, f->totals.files == 1 ? "" : "s", f->totals.failed,
		f->totals.oneshots, f->totals.streams, f->run->settings.session.backend->name,
		hash_modes[f->run->settings.stream.mode], f->run->stats.workers,
		f->run->stats.workers == 1 ? "" : "s");
	figures_write(&(struct sheet){ .text = out }, f);
}

int report_write(struct report *r, struct error *err)
{
	struct measurements *f = &r->found;
	bool failed;

	f->total_ns = f->run->stats.end_ns - r->begin_ns;
	f->startup_ns = f->run->stats.begin_ns - r->begin_ns;
	clock_measure(&f->clock);
	if (r->out) {
		text_end(r->out, f);
		failed = fflush(r->out);
	} else {
		json_end(&r->json, f);
		failed = r->json.failed;
	}
	if (failed)
		return error_memory(err);
	errno = 0;
	if (r->out)
		failed = fputs(r->text, stderr) < 0;
	else
		failed = puts(r->json.text) < 0 || fflush(stdout);
	if (!failed)
		return 0;
	if (stop_asked())
		return error_set(err, -EINTR, "interrupted");
	return error_errno(err, "%s", r->out ? "cannot write the report" : "write error");
}

void report_free(struct report *r)
{
	if (!r)
		return;
	tracepoints_end(r->trace, &r->found.switches, NULL);
	usage_close(&r->meter);
	if (r->out)
		fclose(r->out);
	free(r->text);
	json_free(&r->json);
	free(r);
}
