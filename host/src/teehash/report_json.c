// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "report_form.h"
#include "utf8.h"

void json_begin(struct json *j)
{
	json_object(j, NULL);
	json_u64(j, "schema", 1);
	json_string(j, "program", "teehash");
	json_array(j, "files");
}

static bool is_utf8(const char *name)
{
	while (*name) {
		size_t len = utf8_length(name, strlen(name));

		if (!len)
			return false;
		name += len;
	}
	return true;
}

/* A name is bytes; JSON is UTF-8: what would be lost is also given in hex. */
static void json_name(struct json *j, const char *name)
{
	size_t len = strlen(name);
	char *hex;

	json_string(j, "name", name);
	if (is_utf8(name))
		return;
	hex = malloc(2 * len + 1);
	if (!hex)
		return;
	hex_encode(hex, (const uint8_t *)name, len);
	json_string(j, "name_hex", hex);
	free(hex);
}

void json_file(struct json *j, const struct message *m, const char *verdict)
{
	const struct file_stats *s = &m->stats;
	char hex[HEX_MAX];

	hex_encode(hex, m->digest, m->alg->out_bytes);
	json_object(j, NULL);
	json_name(j, m->name);
	json_string(j, "algorithm", m->alg->name);
	json_string_or_null(j, "digest", m->ret ? NULL : hex);
	if (verdict)
		json_string(j, "verdict", verdict);
	json_string_or_null(j, "error", m->ret ? m->err.what : NULL);
	json_string_or_null(j, "way", hash_ways[s->way]);
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
	if (s->cache.pages < 0) {
		json_null(j, "cached");
		json_null(j, "pages");
		json_string(j, "reason",
			    s->cache.reason ? s->cache.reason : "not opened");
	} else {
		json_i64(j, "cached", s->cache.cached);
		json_i64(j, "pages", s->cache.pages);
		json_string(j, "source", s->cache.source);
	}
	json_object_end(j);
	json_object_end(j);
}

void json_end(struct json *j, const struct findings *f, const struct metrics *m,
	      const struct timeline *timeline)
{
	const struct run_settings *settings = f->settings;
	struct part parts[PARTS_COUNT];
	uint64_t whole = figures_parts(f, parts);

	json_array_end(j);
	/* Only a report of work that came to its end is ever written. */
	json_bool(j, "complete", true);
	json_string(j, "backend", settings->session.backend->name);
	json_string(j, "mode", hash_modes[settings->stream.mode]);
	json_u64(j, "workers", f->run.workers);
	json_u64(j, "chunk", f->run.sessions.chunk);
	json_u64(j, "slots", f->run.sessions.slots);
	json_u64(j, "files_total", f->totals.files);
	json_u64(j, "files_failed", f->totals.failed);
	json_u64(j, "files_oneshot", f->totals.oneshots);
	json_u64(j, "files_stream", f->totals.streams);
	metrics_json(j, m);
	json_object(j, "breakdown");
	json_string(j, "of", "the workers' time, summed");
	json_u64(j, "total_ns", whole);
	json_array(j, "parts");
	for (unsigned int i = 0; i < PARTS_COUNT; i++) {
		json_object(j, NULL);
		json_string(j, "part", parts[i].key);
		json_string(j, "what", parts[i].title);
		json_i64(j, "ns", parts[i].ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
	if (timeline)
		timeline_json(j, timeline);
	json_object_end(j);
}
