/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "listing.h"

void listing_add(struct listing *listing, const char *algorithm, const char *backend,
		 const struct error *why)
{
	struct listing_row *row;

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

void listing_add_names(struct listing *listing, struct pool *pool, const struct backend *backend,
		       enum desk_use use, const char *const *names)
{
	struct error why = { 0 };
	struct desk *desk;

	pool_desk(pool, backend, use, 0, &desk, &why);
	for (; *names; names++)
		listing_add(listing, *names, backend->name, &why);
}

/* Returns 0 if the backend of the desk has the algorithm. */
static int has(const struct desk *desk, const struct algorithm *alg, struct error *why)
{
	/* Two halves that differ, as XTS wants its keys. */
	static const uint8_t key[ALG_KEY_MAX_BYTES] = { 0, 1, 2, 3 };
	struct keyed_job job = { .alg = alg, .key = key, .iv = key };

	return alg->class == ALG_DIGEST ? desk->backend->supports(desk->session, alg, why) :
					  desk->backend->set_up(desk->session, &job, why);
}

void listing_add_algorithms(struct listing *listing, struct pool *pool,
			    const struct backend *backend, unsigned classes,
			    bool (*wanted)(const struct algorithm *alg))
{
	for (size_t a = 0; a < algorithms_count; a++) {
		const struct algorithm *alg = &algorithms[a];
		bool digest = alg->class == ALG_DIGEST;
		struct error why = { 0 };
		struct desk *desk;

		if (!(classes & 1u << alg->class) || (wanted && !wanted(alg)) ||
		    (digest ? !backend->digest : !backend->message))
			continue;
		if (!pool_desk(pool, backend, digest ? DESK_DIGEST : DESK_KEYED, 0, &desk, &why))
			has(desk, alg, &why);
		listing_add(listing, alg->name, backend->name, &why);
	}
}

void listing_add_workload(struct listing *listing, struct pool *pool, const struct workload *w)
{
	enum desk_use use = w->desk ? w->desk : DESK_DIGEST;

	listing->workload = w->name;
	if (w->list) {
		w->list(listing, pool);
		return;
	}
	for (size_t b = 0; backends[b]; b++) {
		if (w->backend ? strcmp(w->backend, backends[b]->name) :
		    w->names   ? !w->serves(backends[b]) :
				 false)
			continue;
		if (w->names)
			listing_add_names(listing, pool, backends[b], use, w->names);
		else
			listing_add_algorithms(listing, pool, backends[b], w->classes, NULL);
	}
}
