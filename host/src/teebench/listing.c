/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "keyed.h"
#include "listing.h"
#include "pool.h"

struct row {
	const char *workload, *algorithm, *backend;
	struct error why; /* .code 0: it can */
};

struct listing {
	const char *workload; /* whose rows are being added */
	struct row *rows;
	size_t count, room;
	bool failed; /* out of memory */
};

void listing_add(struct listing *listing, const char *algorithm,
		 const char *backend, const struct error *why)
{
	struct row *row;

	if (listing->count == listing->room) {
		size_t room = listing->room ? listing->room * 2 : 128;

		row = realloc(listing->rows, room * sizeof(*row));
		if (!row) {
			listing->failed = true;
			return;
		}
		listing->rows = row;
		listing->room = room;
	}
	row = &listing->rows[listing->count++];
	memset(row, 0, sizeof(*row));
	row->workload = listing->workload;
	row->algorithm = algorithm;
	row->backend = backend;
	if (why)
		row->why = *why;
}

void listing_add_digests(struct listing *listing, struct pool *pool)
{
	for (size_t b = 0; backends[b]; b++) {
		struct session *session;
		struct error opening = { 0 };

		pool_session(pool, backends[b], &session, &opening);
		for (size_t a = 0; a < algorithms_count; a++) {
			struct error why = opening;

			if (algorithms[a].class != ALG_DIGEST)
				continue;
			if (session)
				backends[b]->supports(session, &algorithms[a],
						      &why);
			listing_add(listing, algorithms[a].name,
				    backends[b]->name, &why);
		}
	}
}

void listing_add_keyed(struct listing *listing,
		       bool (*wanted)(const struct algorithm *alg))
{
	/* Two halves that differ, as XTS wants its keys. */
	static const uint8_t key[ALG_KEY_MAX_BYTES] = { 0, 1, 2, 3 };

	for (size_t b = 0; keyed_backends[b]; b++) {
		const struct keyed_backend *backend = keyed_backends[b];
		struct error opening = { 0 };
		struct keyed *k;

		backend->open(&k, 0, &opening);
		for (size_t a = 0; a < algorithms_count; a++) {
			struct keyed_job job = { .alg = &algorithms[a],
						 .key = key,
						 .iv = key };
			struct error why = opening;

			if (!wanted(&algorithms[a]))
				continue;
			if (k)
				backend->set_up(k, &job, &why);
			listing_add(listing, algorithms[a].name, backend->name,
				    &why);
		}
		if (k)
			backend->close(k);
	}
}

void listing_add_calls(struct listing *listing, struct pool *pool)
{
	const struct backend *empty = bench_backend_by_name("empty");
	struct session *session;

	for (size_t b = 0; backends[b]; b++) {
		struct error why = { 0 };

		/* Only those that are called across a border. */
		if (!backends[b]->nop && !backends[b]->open_cost)
			continue;
		pool_session(pool, backends[b], &session, &why);
		listing_add(listing, "none", backends[b]->name, &why);
	}
	if (!pool_session(pool, empty, &session, NULL))
		listing_add(listing, "none", empty->name, NULL);
}

static void print_backends_json(struct json *j, struct pool *pool)
{
	json_array(j, "backends");
	for (size_t i = 0; backends[i]; i++) {
		struct session *session;
		struct error why = { 0 };
		int code = pool_session(pool, backends[i], &session, &why);

		json_object(j, NULL);
		json_string(j, "name", backends[i]->name);
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
		json_u64(j, "block_bytes", algorithms[i].block_bytes);
		json_u64(j, "out_bytes", algorithms[i].out_bytes);
		json_u64(j, "key_bytes", algorithms[i].key_bytes);
		json_u64(j, "iv_bytes", algorithms[i].iv_bytes);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "combinations");
	for (size_t i = 0; i < listing->count; i++) {
		const struct row *row = &listing->rows[i];

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

static const struct row *find(const struct listing *listing,
			      const char *workload, const char *algorithm,
			      const char *backend)
{
	for (size_t i = 0; i < listing->count; i++) {
		const struct row *row = &listing->rows[i];

		if (!strcmp(row->workload, workload) &&
		    !strcmp(row->backend, backend) &&
		    !strcmp(row->algorithm, algorithm))
			return row;
	}
	return NULL;
}

/* Is row i the first of its workload with its algorithm? */
static bool first_of_algorithm(const struct listing *listing, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(listing->rows[k].workload,
			    listing->rows[i].workload) &&
		    !strcmp(listing->rows[k].algorithm,
			    listing->rows[i].algorithm))
			return false;
	return true;
}

static bool first_of_backend(const struct listing *listing, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(listing->rows[k].workload,
			    listing->rows[i].workload) &&
		    !strcmp(listing->rows[k].backend, listing->rows[i].backend))
			return false;
	return true;
}

/* The algorithms of a workload, a backend a column. */
static void print_table(const struct listing *listing, const char *workload)
{
	printf("  %-15s", "");
	for (size_t b = 0; b < listing->count; b++)
		if (!strcmp(listing->rows[b].workload, workload) &&
		    first_of_backend(listing, b))
			printf(" %10s", listing->rows[b].backend);
	printf("\n");
	for (size_t i = 0; i < listing->count; i++) {
		const char *algorithm = listing->rows[i].algorithm;

		if (strcmp(listing->rows[i].workload, workload) ||
		    !first_of_algorithm(listing, i))
			continue;
		printf("  %-15s", algorithm);
		for (size_t b = 0; b < listing->count; b++) {
			const struct row *row;

			if (strcmp(listing->rows[b].workload, workload) ||
			    !first_of_backend(listing, b))
				continue;
			row = find(listing, workload, algorithm,
				   listing->rows[b].backend);
			printf(" %10s", !row          ? "" :
					row->why.code ? "-" :
							"yes");
		}
		printf("\n");
	}
}

static void print_text(const struct listing *listing, struct pool *pool)
{
	printf("Backends\n");
	for (size_t i = 0; backends[i]; i++) {
		struct session *session;
		struct error why = { 0 };

		if (!pool_session(pool, backends[i], &session, &why)) {
			printf("  %-8s %s\n", backends[i]->name,
			       backends[i]->summary);
			continue;
		}
		printf("  %-8s not here: %s\n", backends[i]->name, why.what);
		if (why.hint[0])
			printf("           hint: %s\n", why.hint);
	}
	for (size_t i = 0; workloads[i]; i++) {
		printf("\nWorkload %s: %s (parameters: %s)\n",
		       workloads[i]->name, workloads[i]->summary,
		       workloads[i]->parameters);
		print_table(listing, workloads[i]->name);
	}
	for (size_t i = 0, any = 0; i < listing->count; i++) {
		const struct row *row = &listing->rows[i];
		const struct backend *backend =
			bench_backend_by_name(row->backend);
		struct session *session;

		/* What a missing backend lacks was said above. */
		if (!row->why.code ||
		    (backend && pool_session(pool, backend, &session, NULL)))
			continue;
		if (!any++)
			printf("\nWhy not\n");
		printf("  %s/%s/%s: %s\n", row->workload, row->algorithm,
		       row->backend, row->why.what);
	}
}

int listing_print(bool as_json, bool allow_rpmb, struct error *err)
{
	struct listing listing = { 0 };
	struct pool pool = { .allow_rpmb = allow_rpmb };
	struct json j = { 0 };
	int ret = 0;

	for (size_t i = 0; workloads[i]; i++) {
		listing.workload = workloads[i]->name;
		workloads[i]->list(&listing, &pool);
	}
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
