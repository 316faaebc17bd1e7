// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outfile.h"
#include "report.h"
#include "report_form.h"
#include "stop.h"

const char *const report_kinds[] = {
	[REPORT_TEXT] = "text",
	[REPORT_JSON] = "json",
	NULL,
};

struct report {
	const struct report_settings *settings;
	struct outfile file;
	bool written; /* or it was tried */
	uint64_t begin_ns;
	struct usage_meter meter;
	struct usage before;
	struct trace *trace;
	struct timeline *timeline;
	struct message hashed; /* with a timeline: the one file */
	struct findings found;
	struct metrics metrics;
	struct json json;
	FILE *out; /* of the text */
	char *text;
	size_t len;
};

/* getrusage() would show the peak of whoever started this program. */
static int64_t peak_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	long long kib = -1;
	char line[128];

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lld", &kib) == 1)
			break;
	fclose(f);
	return kib < 0 ? -1 : kib * 1024;
}

static int cannot_write(const struct report_settings *settings, int code,
			struct error *err)
{
	if (stop_asked())
		return error_set(err, -EINTR, "interrupted");
	if (!settings->file && settings->kind == REPORT_JSON)
		return error_set(err, code, "write error: %s", strerror(-code));
	return error_set(err, code, "cannot write the report%s%s: %s",
			 settings->file ? " to " : "",
			 settings->file ? settings->file : "", strerror(-code));
}

static int open_out(struct report *r)
{
	const struct report_settings *settings = r->settings;

	if (settings->file)
		return outfile_open(&r->file, settings->file);
	return outfile_use(&r->file, settings->kind == REPORT_JSON ?
					     STDOUT_FILENO :
					     STDERR_FILENO);
}

int report_begin(struct report **report, const struct report_settings *settings,
		 const struct backend *backend, struct error *err)
{
	struct report *r;
	int ret;

	*report = NULL;
	if (settings->kind == REPORT_NONE)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->settings = settings;
	if (settings->timeline) {
		r->timeline = calloc(1, sizeof(*r->timeline));
		if (!r->timeline) {
			free(r);
			return error_set(err, -ENOMEM, "out of memory");
		}
	}
	r->out = open_memstream(&r->text, &r->len);
	ret = r->out ? open_out(r) : -ENOMEM;
	if (ret) {
		if (r->out)
			fclose(r->out);
		free(r->text);
		free(r->timeline);
		free(r);
		return cannot_write(settings, ret, err);
	}
	if (settings->kind == REPORT_JSON)
		json_begin(&r->json);
	r->found.has_tee = backend->crosses;
	if (r->found.has_tee) {
		ta_counter_find(&r->found.counter);
		r->trace = trace_begin(&r->found.switches);
	}
	usage_open(&r->meter);
	/* What the report itself takes to begin is not the work's. */
	if (r->timeline)
		timeline_begin(r->timeline);
	usage_read(&r->meter, &r->before);
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

struct timeline *report_timeline(const struct report *report)
{
	return report ? report->timeline : NULL;
}

bool report_takes_stdout(const struct report *report)
{
	return report && report->settings->kind == REPORT_JSON &&
	       !report->settings->file;
}

void report_file(struct report *report, const struct message *m,
		 const char *verdict)
{
	if (!report)
		return;
	if (report->timeline)
		report->hashed = *m;
	figures_add_file(&report->found.totals, m);
	if (report->settings->kind == REPORT_JSON)
		json_file(&report->json, m, verdict);
	else
		text_file(report->out, m, verdict);
}

void report_measure(struct report *report, struct hash_session *session,
		    const struct algorithm *alg)
{
	struct report *r = report;
	struct cost *cost = &r->found.cost;
	const struct file_stats *all = &r->found.totals.all;
	uint64_t begin = clock_now_ns();
	struct usage now;

	usage_read(&r->meter, &now);
	cost->usage = usage_between(&r->before, &now);
	cost->peak_bytes = peak_bytes();
	trace_end(r->trace, &r->found.switches);
	r->trace = NULL;
	measure_inside(session, alg, all->calls ? all->bytes / all->calls : 0,
		       &r->found.inside);
	timeline_add(r->timeline, TIMELINE_REPORT, begin, clock_now_ns());
}

void report_closed(struct report *report, const struct run_settings *settings)
{
	if (!report->timeline)
		return;
	timeline_end(report->timeline);
	if (report->found.has_tee)
		tee_clocks_measure(&report->found.clocks, &settings->session,
				   &settings->stream, &report->hashed);
}

int report_write(struct report *report, const struct run *run,
		 struct error *err)
{
	struct report *r = report;
	struct findings *f = &r->found;
	bool json = r->settings->kind == REPORT_JSON;
	int ret;

	f->settings = &run->settings;
	f->run = run->stats;
	f->cost.total_ns = f->run.end_ns - r->begin_ns;
	f->startup_ns = f->run.begin_ns - r->begin_ns;
	clock_measure(&f->clock);
	figures_fill(&r->metrics, f);
	if (json) {
		json_end(&r->json, f, &r->metrics, r->timeline);
		fputs(r->json.failed ? "" : r->json.text, r->out);
		putc('\n', r->out);
	} else {
		text_end(r->out, f, &r->metrics);
	}
	r->written = true;
	if (fflush(r->out) || r->json.failed) {
		outfile_drop(&r->file);
		ret = -ENOMEM;
	} else {
		ret = outfile_write(&r->file, r->text, r->len);
	}
	return ret ? cannot_write(r->settings, ret, err) : 0;
}

void report_free(struct report *report)
{
	struct report *r = report;

	if (!r)
		return;
	if (!r->written)
		outfile_drop(&r->file);
	trace_end(r->trace, &r->found.switches);
	timeline_free(r->timeline);
	usage_close(&r->meter);
	fclose(r->out);
	free(r->text);
	json_free(&r->json);
	free(r);
}
