/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "list.h"
#include "listing.h"
#include "workloads.h"

/* Can this machine run the backend? By opening what it is listed for. */
static int available(struct pool *pool, const struct backend *backend,
		     struct error *why)
{
	struct desk *desk;

	return pool_desk(pool, backend,
			 backend->open ? DESK_DIGEST : DESK_RANDOM, 0, &desk,
			 why);
}

static void print_backends_json(struct json *j, struct pool *pool)
{
	json_array(j, "backends");
	for (size_t i = 0; backends[i]; i++) {
		struct error why = { 0 };
		int code = available(pool, backends[i], &why);

		json_object(j, NULL);
		json_string(j, "name", backends[i]->name);
		json_string(j, "title", backends[i]->title);
		json_string(j, "summary", backends[i]->summary);
		json_bool(j, "available", !code);
		json_string_or_null(j, "code", why.skip);
		json_string_or_null(j, "reason", why.what);
		json_string_or_null(j, "hint", why.hint);
		json_object_end(j);
	}
	json_array_end(j);
}

static void print_json(const struct listing *listing, struct pool *pool,
		       struct json *j)
{
	json_object(j, NULL);
	json_string(j, "type", "list");
	json_u64(j, "schema", 1);
	print_backends_json(j, pool);
	json_array(j, "workloads");
	for (size_t i = 0; workloads[i]; i++) {
		json_object(j, NULL);
		json_string(j, "name", workloads[i]->name);
		json_string(j, "summary", workloads[i]->summary);
		json_string(j, "parameters", workloads[i]->parameters);
		json_bool(j, "repeats", workloads[i]->repeats);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "algorithms");
	for (size_t i = 0; i < algorithms_count; i++) {
		json_object(j, NULL);
		json_string(j, "name", algorithms[i].name);
		json_string(j, "title", algorithms[i].title);
		json_u64(j, "unit_bytes", algorithms[i].unit_bytes);
		json_u64(j, "out_bytes", algorithms[i].out_bytes);
		json_u64(j, "key_bytes", algorithms[i].key_bytes);
		json_u64(j, "iv_bytes", algorithms[i].iv_bytes);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "combinations");
	for (size_t i = 0; i < listing->count; i++) {
		const struct listing_row *row = &listing->rows[i];

		json_object(j, NULL);
		json_string(j, "workload", row->workload);
		json_string(j, "algorithm", row->algorithm);
		json_string(j, "backend", row->backend);
		json_bool(j, "available", !row->why.code);
		json_string_or_null(j, "code", row->why.skip);
		json_string_or_null(j, "reason", row->why.what);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

/* Of a workload: an algorithm a line, with the backends that have it. */
static void print_rows(const struct listing *listing, const char *workload)
{
	const struct listing_row *rows = listing->rows;

	for (size_t i = 0; i < listing->count; i++) {
		const char *name = rows[i].algorithm;
		bool seen = strcmp(rows[i].workload, workload);

		for (size_t k = 0; k < i && !seen; k++)
			seen = !strcmp(rows[k].workload, workload) &&
			       !strcmp(rows[k].algorithm, name);
		if (seen)
			continue;
		printf("  %-15s", name);
		for (size_t k = i; k < listing->count; k++)
			if (!strcmp(rows[k].workload, workload) &&
			    !strcmp(rows[k].algorithm, name) &&
			    !rows[k].why.code)
				printf(" %s", rows[k].backend);
		printf("\n");
	}
}

static void print_text(const struct listing *listing, struct pool *pool)
{
	printf("Backends\n");
	for (size_t i = 0; backends[i]; i++) {
		struct error why = { 0 };

		if (!available(pool, backends[i], &why)) {
			printf("  %-9s %s\n", backends[i]->name,
			       backends[i]->summary);
			continue;
		}
		printf("  %-9s not here: %s\n", backends[i]->name, why.what);
		if (why.hint[0])
			printf("            hint: %s\n", why.hint);
	}
	for (size_t i = 0; workloads[i]; i++) {
		printf("\nWorkload %s: %s (parameters: %s)\n",
		       workloads[i]->name, workloads[i]->summary,
		       workloads[i]->parameters);
		print_rows(listing, workloads[i]->name);
	}
	for (size_t i = 0, any = 0; i < listing->count; i++) {
		const struct listing_row *row = &listing->rows[i];
		const struct backend *backend = backend_by_name(row->backend);

		/* What a missing backend lacks was said above. */
		if (!row->why.code ||
		    (backend && available(pool, backend, NULL)))
			continue;
		if (!any++)
			printf("\nWhy not\n");
		printf("  %s/%s/%s: %s\n", row->workload, row->algorithm,
		       row->backend, row->why.what);
	}
}

int list_print(bool as_json, bool allow_rpmb, struct error *err)
{
	struct listing listing = { 0 };
	struct pool pool = { .allow_rpmb = allow_rpmb };
	struct json j = { 0 };
	int ret = 0;

	for (size_t i = 0; workloads[i]; i++)
		listing_add_workload(&listing, &pool, workloads[i]);
	if (listing.failed) {
		ret = error_set(err, -ENOMEM, "out of memory");
	} else if (as_json) {
		print_json(&listing, &pool, &j);
		if (j.failed)
			ret = error_set(err, -ENOMEM, "out of memory");
		else
			puts(j.text);
	} else {
		print_text(&listing, &pool);
	}
	json_free(&j);
	free(listing.rows);
	pool_close(&pool);
	return ret;
}
