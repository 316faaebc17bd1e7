// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "figures.h"
#include "json.h"
#include "outfile.h"
#include "output.h"
#include "report.h"

/* Why a report has no figures. */
#define CUT "left while a read or a call was under way"

struct report {
	const struct options *opt;
	FILE *out; /* of the file */
	struct outfile file;
	int write_error; /* errno of the first write that failed */
	uint64_t begin_ns;
	uint64_t cpu_begin_ns;
	struct usage_meter meter;
	struct usage before;
	struct trace *trace;
	bool cost_taken;
	struct findings found;
	struct metrics metrics;
	struct json json; /* one piece at a time */
};

static const char *mode_name(enum hash_mode mode)
{
	switch (mode) {
	case MODE_AUTO:
		return "auto";
	case MODE_STREAM:
		return "stream";
	case MODE_ONESHOT:
		return "oneshot";
	case MODE_TMPREF:
		return "tmpref";
	}
	return NULL;
}

static uint64_t cpu_now_ns(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* getrusage() would show the peak of whoever started this program. */
static int64_t peak_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	int64_t kib = -1;
	char line[128];

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %" SCNd64, &kib) == 1)
			break;
	fclose(f);
	return kib < 0 ? -1 : kib * 1024;
}

/* With a buffer, which stderr itself has not: whole lines at a time. */
static int use_stderr(struct outfile *file)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO);
	FILE *f;

	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		/* Of a descriptor that was closed; main() filled the gap. */
		close(fd);
		return -EBADF;
	}
	setvbuf(f, NULL, _IOLBF, 0);
	outfile_use(file, f, true);
	return 0;
}

static int open_out(struct report *r)
{
	int ret = 0;

	if (r->opt->report_file)
		ret = outfile_open(&r->file, r->opt->report_file);
	else if (r->opt->report == REPORT_TEXT)
		ret = use_stderr(&r->file);
	else
		outfile_use(&r->file, stdout, false);
	r->out = r->file.out;
	return ret;
}

static void note_write_error(struct report *r)
{
	if (!r->write_error && ferror(r->out))
		r->write_error = errno ? errno : EIO;
}

/* And what is to follow if the program must leave now. */
static void end_piece(struct report *r)
{
	const struct totals *t = &r->found.totals;
	char ending[512];
	int ret;

	note_write_error(r);
	if (r->opt->report == REPORT_JSON)
		snprintf(ending, sizeof(ending),
			 "\n],\n\"complete\":false,\"backend\":\"%s\","
			 "\"mode\":\"%s\",\"files_total\":%" PRIu64
			 ",\"files_failed\":%" PRIu64
			 ",\"files_oneshot\":%" PRIu64
			 ",\"files_stream\":%" PRIu64 ",\"reason\":\"%s\"}\n",
			 r->opt->backend->name, mode_name(r->opt->mode),
			 t->files, t->failed, t->oneshots, t->streams, CUT);
	else
		snprintf(ending, sizeof(ending),
			 "\n%" PRIu64 " files, %" PRIu64
			 " failed; NOT COMPLETE: %s\n",
			 t->files, t->failed, CUT);
	ret = outfile_settle(&r->file, ending);
	if (ret && !r->write_error)
		r->write_error = -ret;
}

static int cannot_write(const struct report *r, int code, struct error *err)
{
	const char *name = r->opt->report_file;

	if (!r->file.owned)
		return error_set(err, code, "write error: %s", strerror(-code));
	return error_set(err, code, "cannot write the report%s%s: %s",
			 name ? " to " : "", name ? name : "", strerror(-code));
}

int report_begin(struct report **report, const struct options *opt,
		 struct error *err)
{
	struct report *r;
	int ret;

	*report = NULL;
	if (opt->report == REPORT_NONE)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->opt = opt;
	ret = open_out(r);
	if (ret) {
		r->file.owned = true;
		ret = cannot_write(r, ret, err);
		free(r);
		return ret;
	}
	outfile_piece(&r->file);
	if (opt->report == REPORT_JSON)
		fputs("{\"schema\":1,\"program\":\"teehash\",\"files\":[",
		      r->out);
	end_piece(r);
	r->found.has_tee = opt->backend->crosses;
	if (r->found.has_tee) {
		ta_counter_find(&r->found.counter);
		r->trace = trace_begin(&r->found.switches);
	}
	usage_open(&r->meter);
	/* What the report itself takes to begin is not the work's. */
	usage_read(&r->meter, &r->before);
	r->cpu_begin_ns = cpu_now_ns();
	r->begin_ns = clock_now_ns();
	*report = r;
	return 0;
}

const struct ta_counter *report_counter(const struct report *report)
{
	if (!report || report->found.counter.clock == TA_CLOCK_OFF)
		return NULL;
	return &report->found.counter;
}

bool report_takes_stdout(const struct report *report)
{
	return report && report->out == stdout;
}

static const char *way_name(enum hash_way way)
{
	switch (way) {
	case WAY_ONESHOT:
		return "oneshot";
	case WAY_STREAM:
		return "stream";
	case WAY_NONE:
		break;
	}
	return NULL;
}

static bool is_utf8(const char *name)
{
	while (*name) {
		size_t len = utf8_length(name);

		if (!len)
			return false;
		name += len;
	}
	return true;
}

/* A name is bytes; JSON is UTF-8: what would be lost is also given in hex. */
static void json_name(struct json *json, const char *name)
{
	size_t len = strlen(name);
	char *hex;

	json_string(json, "name", name);
	if (is_utf8(name))
		return;
	hex = malloc(2 * len + 1);
	if (!hex)
		return;
	hex_encode(hex, (const uint8_t *)name, len);
	json_string(json, "name_hex", hex);
	free(hex);
}

static void job_json(struct report *r, const struct job *job,
		     const char *verdict)
{
	const struct file_stats *s = &job->stats;
	struct json *j = &r->json;
	char hex[HEX_MAX];

	hex_encode(hex, job->digest, job->alg->out_bytes);
	json_reset(j);
	json_object(j, NULL);
	json_name(j, job->name);
	json_string(j, "algorithm", job->alg->name);
	json_string_or_null(j, "digest", job->ret ? NULL : hex);
	if (verdict)
		json_string(j, "verdict", verdict);
	json_string_or_null(j, "error", job->ret ? job->err.what : NULL);
	json_string_or_null(j, "way", way_name(s->way));
	json_u64(j, "bytes", s->bytes);
	json_u64(j, "total_ns", s->total_ns);
	json_u64(j, "open_ns", s->open_ns);
	json_u64(j, "hash_ns", s->hash_ns);
	json_u64(j, "read_ns", s->read_ns);
	json_u64(j, "wait_ns", s->wait_ns);
	json_u64(j, "call_ns", s->call_ns);
	json_u64(j, "calls", s->calls);
	json_u64(j, "reads", s->reads);
	json_object(j, "pages_cached_before");
	if (s->pages < 0) {
		json_null(j, "cached");
		json_null(j, "pages");
		json_string_or_null(j, "reason",
				    s->pages_reason ? s->pages_reason :
						      "not opened");
	} else {
		json_i64(j, "cached", s->pages_cached);
		json_i64(j, "pages", s->pages);
		json_string(j, "source", s->pages_source);
	}
	json_object_end(j);
	json_object_end(j);
	if (r->found.totals.files > 1)
		putc(',', r->out);
	putc('\n', r->out);
	fputs(j->failed ? "null" : j->text, r->out);
}

static void job_text(struct report *r, const struct job *job,
		     const char *verdict)
{
	const struct file_stats *s = &job->stats;

	fputs("  ", r->out);
	name_print_safe(r->out, job->name);
	if (job->ret) {
		fprintf(r->out, ": %s\n", job->err.what);
		return;
	}
	fputs(": ", r->out);
	print_value(r->out, "bytes", (double)s->bytes);
	fprintf(r->out, ", %s, %" PRIu64 " calls, read ", way_name(s->way),
		s->calls);
	print_value(r->out, "ns", (double)s->read_ns);
	fputs(", in calls ", r->out);
	print_value(r->out, "ns", (double)s->call_ns);
	fputs(", total ", r->out);
	print_value(r->out, "ns", (double)s->total_ns);
	if (s->pages > 0)
		fprintf(r->out, ", %.0f %% was cached",
			100.0 * (double)s->pages_cached / (double)s->pages);
	fprintf(r->out, "%s%s\n", verdict ? ", " : "", verdict ? verdict : "");
}

static void add_up(struct totals *t, const struct job *job)
{
	const struct file_stats *s = &job->stats;
	struct file_stats *sum = &t->sum;

	t->files++;
	t->failed += job->ret != 0;
	t->oneshots += s->way == WAY_ONESHOT && !job->ret;
	t->streams += s->way == WAY_STREAM && !job->ret;
	sum->bytes += s->bytes;
	sum->total_ns += s->total_ns;
	sum->open_ns += s->open_ns;
	sum->read_ns += s->read_ns;
	sum->inline_ns += s->inline_ns;
	sum->wait_ns += s->wait_ns;
	sum->call_ns += s->call_ns;
	sum->setup_ns += s->setup_ns;
	sum->hash_ns += s->hash_ns;
	sum->reads += s->reads;
	sum->calls += s->calls;
	if (s->pages >= 0) {
		t->files_asked++;
		t->pages += (uint64_t)s->pages;
		t->pages_cached += (uint64_t)s->pages_cached;
		t->pages_source = s->pages_source;
	} else if (s->pages_reason) {
		t->pages_reason = s->pages_reason;
	}
}

void report_job(struct report *report, const struct job *job,
		const char *verdict)
{
	if (!report)
		return;
	outfile_piece(&report->file);
	add_up(&report->found.totals, job);
	if (report->opt->report == REPORT_JSON)
		job_json(report, job, verdict);
	else
		job_text(report, job, verdict);
	end_piece(report);
}

/* Before anything is measured that was not the work. */
static void take_cost(struct report *r)
{
	struct cost *cost = &r->found.cost;
	struct usage now;

	if (r->cost_taken)
		return;
	r->cost_taken = true;
	cost->total_ns = clock_now_ns() - r->begin_ns;
	cost->cpu_ns = cpu_now_ns() - r->cpu_begin_ns;
	usage_read(&r->meter, &now);
	cost->usage = usage_between(&r->before, &now);
	cost->peak_bytes = peak_bytes();
	trace_end(r->trace, &r->found.switches);
	r->trace = NULL;
}

void report_after(struct report *report, struct engine *engine)
{
	const struct file_stats *sum = &report->found.totals.sum;
	uint64_t bytes = sum->calls ? sum->bytes / sum->calls : 0;

	take_cost(report);
	measure_inside(engine, report->opt->backend, report->opt->alg, bytes,
		       &report->found.inside);
}

static void write_text(struct report *r, bool complete)
{
	const struct findings *f = &r->found;
	struct part parts[PARTS_MAX];
	unsigned int count;
	uint64_t whole = figures_parts(f, parts, &count);
	double compute = figures_compute_ns(f);

	fprintf(r->out,
		"\n%" PRIu64 " files, %" PRIu64 " failed, %" PRIu64
		" in one call, %" PRIu64 " streamed; backend %s, mode %s, "
		"%u worker%s%s\n",
		f->totals.files, f->totals.failed, f->totals.oneshots,
		f->totals.streams, r->opt->backend->name,
		mode_name(r->opt->mode), f->jobs.workers,
		f->jobs.workers == 1 ? "" : "s",
		complete ? "" : "; NOT COMPLETE");
	metrics_print(r->out, &r->metrics);
	fputs("\nWhere the time went (sum over the workers)\n", r->out);
	for (unsigned int i = 0; i < count; i++) {
		fprintf(r->out, "  %-48s ", parts[i].title);
		fprintf(r->out, "%12.3f ms %6.2f %%\n",
			(double)parts[i].ns / 1e6,
			whole ? 100.0 * (double)parts[i].ns / (double)whole :
				0.0);
		if (f->has_tee && compute >= 0 &&
		    !strcmp(parts[i].key, "calls"))
			fprintf(r->out, "  %-48s %12.3f ms%s\n",
				"  of them in the TA", compute / 1e6,
				figures_counted(f) ? "" : " (estimate)");
	}
	fprintf(r->out, "  %-48s %12.3f ms %6.2f %%\n", "sum",
		(double)whole / 1e6, 100.0);
}

static void write_json(struct report *r, bool complete)
{
	const struct findings *f = &r->found;
	struct json *j = &r->json;
	struct part parts[PARTS_MAX];
	unsigned int count;
	uint64_t whole = figures_parts(f, parts, &count);

	json_reset(j);
	json_object(j, NULL);
	json_bool(j, "complete", complete);
	json_string(j, "backend", r->opt->backend->name);
	json_string(j, "mode", mode_name(r->opt->mode));
	json_u64(j, "workers", f->jobs.workers);
	json_u64(j, "chunk", f->jobs.engine.chunk);
	json_u64(j, "slots", f->jobs.engine.slots);
	json_u64(j, "files_total", f->totals.files);
	json_u64(j, "files_failed", f->totals.failed);
	json_u64(j, "files_oneshot", f->totals.oneshots);
	json_u64(j, "files_stream", f->totals.streams);
	metrics_json(j, &r->metrics);
	json_object(j, "breakdown");
	json_string(j, "of", "the workers' time, summed");
	json_u64(j, "total_ns", whole);
	json_array(j, "parts");
	for (unsigned int i = 0; i < count; i++) {
		json_object(j, NULL);
		json_string(j, "part", parts[i].key);
		json_string(j, "what", parts[i].title);
		json_i64(j, "ns", parts[i].ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
	json_object_end(j);
	if (j->failed) {
		fputs("],\"complete\":false}\n", r->out);
		return;
	}
	/* Goes on in the object that report_begin() opened. */
	fputs("\n],\n", r->out);
	fputs(j->text + 1, r->out);
	putc('\n', r->out);
}

static int finish(struct report *r, struct error *err)
{
	int ret;

	note_write_error(r);
	ret = outfile_close(&r->file, !r->write_error);
	if (r->write_error)
		ret = -r->write_error;
	return ret ? cannot_write(r, ret, err) : 0;
}

int report_end(struct report *report, const struct jobs_stats *stats,
	       bool complete, struct error *err)
{
	struct report *r = report;
	int ret;

	if (!r)
		return 0;
	take_cost(r);
	r->found.jobs = *stats;
	if (stats->end_ns > r->begin_ns)
		r->found.cost.total_ns = stats->end_ns - r->begin_ns;
	if (stats->begin_ns > r->begin_ns)
		r->found.startup_ns = stats->begin_ns - r->begin_ns;
	clock_measure(&r->found.clock);
	figures_fill(&r->metrics, &r->found);
	outfile_piece(&r->file);
	if (r->opt->report == REPORT_JSON)
		write_json(r, complete);
	else
		write_text(r, complete);
	funlockfile(r->out);
	ret = finish(r, err);
	usage_close(&r->meter);
	json_free(&r->json);
	free(r);
	return ret;
}
