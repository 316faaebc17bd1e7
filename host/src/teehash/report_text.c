// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <string.h>

#include "output.h"
#include "report_form.h"

void text_file(FILE *out, const struct message *m, const char *verdict)
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
	fprintf(out, ", %s, %" PRIu64 " calls, read ", hash_ways[s->way],
		s->calls);
	print_value(out, "ns", (double)s->read_ns);
	fputs(", in calls ", out);
	print_value(out, "ns", (double)s->call_ns);
	fputs(", total ", out);
	print_value(out, "ns", (double)s->total_ns);
	if (s->cache.pages > 0)
		fprintf(out, ", %.0f %% was cached",
			100.0 * (double)s->cache.cached /
				(double)s->cache.pages);
	fprintf(out, "%s%s\n", verdict ? ", " : "", verdict ? verdict : "");
}

static void print_part(FILE *out, const char *title, int64_t ns, uint64_t whole)
{
	fprintf(out, "  %-48s %12.3f ms %6.2f %%\n", title, (double)ns / 1e6,
		whole ? 100.0 * (double)ns / (double)whole : 0.0);
}

void text_end(FILE *out, const struct findings *f, const struct metrics *m)
{
	const struct run_settings *settings = f->settings;
	const struct totals *t = &f->totals;
	double compute = figures_compute_ns(f);
	struct part parts[PARTS_COUNT];
	uint64_t whole = figures_parts(f, parts);

	fprintf(out,
		"\n%" PRIu64 " files, %" PRIu64 " failed, %" PRIu64
		" in one call, %" PRIu64
		" streamed; backend %s, mode %s, %u worker%s\n",
		t->files, t->failed, t->oneshots, t->streams,
		settings->session.backend->name,
		hash_modes[settings->stream.mode], f->run.workers,
		f->run.workers == 1 ? "" : "s");
	metrics_print(out, m);
	fputs("\nWhere the time went (sum over the workers)\n", out);
	for (unsigned int i = 0; i < PARTS_COUNT; i++) {
		print_part(out, parts[i].title, parts[i].ns, whole);
		if (f->has_tee && compute >= 0 &&
		    !strcmp(parts[i].key, "calls"))
			fprintf(out, "  %-48s %12.3f ms%s\n",
				"  of them in the TA", compute / 1e6,
				figures_counted(f) ? "" : " (estimate)");
	}
	print_part(out, "sum", (int64_t)whole, whole);
}
