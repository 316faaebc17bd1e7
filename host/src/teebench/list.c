/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "listing.h"
#include "workloads.h"

/* Returns 0 if this machine can run the backend, by opening what it is listed for. */
static int available(struct pool *pool, const struct backend *backend, struct error *why)
{
	struct desk *desk;

	return pool_desk(pool, backend,
			 backend->uses & 1u << USE_DIGESTS ? DESK_DIGEST : DESK_RANDOM, 0, &desk,
			 why);
}

/* Prints a line for each algorithm of a workload, with the backends that have it. */
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
			    !strcmp(rows[k].algorithm, name) && !rows[k].why.code)
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
			printf("  %-9s %s\n", backends[i]->name, backends[i]->summary);
			continue;
		}
		printf("  %-9s not here: %s\n", backends[i]->name, why.what);
		if (why.hint[0])
			printf("            hint: %s\n", why.hint);
	}
	for (size_t i = 0; workloads[i]; i++) {
		printf("\nWorkload %s: %s (parameters: %s)\n", workloads[i]->name,
		       workloads[i]->summary, workloads[i]->parameters);
		print_rows(listing, workloads[i]->name);
	}
	for (size_t i = 0, any = 0; i < listing->count; i++) {
		const struct listing_row *row = &listing->rows[i];
		const struct backend *backend = backend_by_name(row->backend);

		/* The list of backends has said what a missing one lacks. */
		if (!row->why.code || (backend && available(pool, backend, NULL)))
			continue;
		if (!any++)
			printf("\nWhy not\n");
		printf("  %s/%s/%s: %s\n", row->workload, row->algorithm, row->backend,
		       row->why.what);
	}
}

int list_print(bool allow_rpmb, struct error *err)
{
	struct listing listing = { 0 };
	struct pool pool = { .allow_rpmb = allow_rpmb };
	int ret = 0;

	for (size_t i = 0; workloads[i]; i++)
		listing_add_workload(&listing, &pool, workloads[i]);
	if (listing.failed)
		ret = error_memory(err);
	else
		print_text(&listing, &pool);
	free(listing.rows);
	pool_close(&pool);
	return ret;
}
