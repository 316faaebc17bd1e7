// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "metrics.h"

static const struct {
	const char *key;
	const char *title;
} groups[GROUP_COUNT] = {
	[GROUP_HOST] = { "host", "Normal world" },
	[GROUP_TEE] = { "tee", "TEE" },
	[GROUP_FIRST] = { "first", "First use (once a session)" },
	[GROUP_DERIVED] = { "derived", "Derived" },
};

static void add(struct metrics *metrics, const struct metric *row)
{
	if (metrics->count == METRICS_MAX)
		return;
	metrics->rows[metrics->count] = *row;
	metrics->rows[metrics->count++].group = metrics->group;
}

void metric_add(struct metrics *metrics, const char *key, const char *title,
		const char *unit, double value, const char *source,
		const char *resolution)
{
	if (!isfinite(value)) {
		metric_null(metrics, key, title, unit, "nothing to divide by");
		return;
	}
	add(metrics, &(struct metric){ 0, key, title, unit, true, value, source,
				       resolution });
}

void metric_null(struct metrics *metrics, const char *key, const char *title,
		 const char *unit, const char *reason)
{
	add(metrics,
	    &(struct metric){ 0, key, title, unit, false, 0,
			      reason && *reason ? reason : "unknown", NULL });
}

const char *metrics_note(struct metrics *metrics, const char *fmt, ...)
{
	char *note;
	va_list args;

	if (metrics->notes_count == METRICS_MAX)
		return "";
	note = metrics->notes[metrics->notes_count++];
	va_start(args, fmt);
	vsnprintf(note, sizeof(metrics->notes[0]), fmt, args);
	va_end(args);
	return note;
}

void print_value(FILE *out, const char *unit, double value)
{
	if (!strcmp(unit, "ns")) {
		if (value >= 1e9)
			fprintf(out, "%.3f s", value / 1e9);
		else if (value >= 1e6)
			fprintf(out, "%.3f ms", value / 1e6);
		else
			fprintf(out, "%.3f us", value / 1e3);
	} else if (!strcmp(unit, "bytes")) {
		if (value >= 1048576)
			fprintf(out, "%.1f MiB", value / 1048576);
		else if (value >= 1024)
			fprintf(out, "%.1f KiB", value / 1024);
		else
			fprintf(out, "%.0f bytes", value);
	} else if (!strcmp(unit, "bytes/s")) {
		fprintf(out, "%.2f MiB/s", value / 1048576);
	} else if (!strcmp(unit, "count")) {
		fprintf(out, "%.0f", value);
	} else if (!strcmp(unit, "percent")) {
		fprintf(out, "%.2f %%", value);
	} else {
		fprintf(out, "%.4g %s", value, unit);
	}
}

void metrics_print(FILE *out, const struct metrics *metrics)
{
	for (int group = 0; group < GROUP_COUNT; group++) {
		fprintf(out, "\n%s\n", groups[group].title);
		for (unsigned int i = 0; i < metrics->count; i++) {
			const struct metric *row = &metrics->rows[i];

			if (row->group != (enum metric_group)group)
				continue;
			fprintf(out, "  %-34s ", row->title);
			if (row->known)
				print_value(out, row->unit, row->value);
			else
				fputs("not measured", out);
			fprintf(out, "  [%s%s%s]\n", row->source,
				row->known ? "; " : "",
				row->known ? row->resolution : "");
		}
	}
}

void metrics_json(struct json *json, const struct metrics *metrics)
{
	for (int group = 0; group < GROUP_COUNT; group++) {
		json_object(json, groups[group].key);
		for (unsigned int i = 0; i < metrics->count; i++) {
			const struct metric *row = &metrics->rows[i];

			if (row->group != (enum metric_group)group)
				continue;
			json_object(json, row->key);
			if (!row->known)
				json_null(json, "value");
			else if (row->value == floor(row->value))
				json_u64(json, "value", (uint64_t)row->value);
			else
				json_double(json, "value", row->value);
			json_string(json, "unit", row->unit);
			if (row->known) {
				json_string(json, "source", row->source);
				json_string(json, "resolution",
					    row->resolution);
				json_null(json, "reason");
			} else {
				json_null(json, "source");
				json_null(json, "resolution");
				json_string(json, "reason", row->source);
			}
			json_object_end(json);
		}
		json_object_end(json);
	}
}
