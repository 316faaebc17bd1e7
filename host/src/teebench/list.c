/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>

#include "cases.h"
#include "machine.h"
#include "storage.h"

struct row {
	const char *workload, *subject, *backend;
	bool there;       /* the backend is available here, or the case names none */
	struct error why; /* .code 0: this machine can run the case */
};

struct listing {
	struct pool pool;
	struct row *rows;
	size_t count;
	bool failed; /* memory ran out */
};

static bool is(const struct row *row, const char *word)
{
	return row->why.skip && !strcmp(row->why.skip, word);
}

static void add(struct listing *listing, const struct row *row)
{
	struct row *rows = realloc(listing->rows, (listing->count + 1) * sizeof(*rows));

	listing->failed = listing->failed || !rows;
	if (!rows)
		return;
	listing->rows = rows;
	rows[listing->count++] = *row;
}

/* Returns 0 if this machine can run the backend; to find out, it opens a session. */
static int available(struct pool *pool, const struct backend *backend, struct error *why)
{
	enum workplace_use use = backend->uses & 1u << USE_DIGESTS ? WORKPLACE_DIGEST :
				 backend->uses & 1u << USE_ASYM    ? WORKPLACE_ASYM :
								     WORKPLACE_RANDOM;
	struct workplace *workplace;

	return pool_workplace(pool, backend, use, 0, &workplace, why);
}

/*
 * Splits a part of the parameters' syntax ("in|out") in place into the words that a key may have
 * there, and returns their number. The workload's words, or a number of bytes, replace a name in
 * capitals.
 */
static unsigned alternatives(const struct workload *w, char *part, const char *words[16])
{
	static char bytes[24];
	char *save = NULL;
	unsigned n = 0;

	snprintf(bytes, sizeof(bytes), "%llu",
		 (unsigned long long)(w->least > 4096 ? w->least :
				      w->most < 4096  ? w->most :
							4096));
	for (char *word = strtok_r(part, "|", &save); word; word = strtok_r(NULL, "|", &save)) {
		const char *const *of_term = NULL;

		for (size_t i = 0; i < 2 && w->terms[i].name; i++)
			if (!strcmp(word, w->terms[i].name))
				of_term = w->terms[i].words;
		for (; of_term && *of_term && n < 15; of_term++)
			words[n++] = *of_term;
		if (!isupper((unsigned char)*word) && n < 16)
			words[n++] = word;
		else if (!of_term && n < 16)
			words[n++] = bytes;
	}
	return n;
}

/* Writes the n-th possible key of a workload for the row; returns false if there are no more. */
static bool write_key(char key[CASE_KEY_MAX], const struct row *row, const struct workload *w,
		      unsigned n)
{
	char syntax[CASE_KEY_MAX], *rest = syntax, *part;
	int len = snprintf(key, CASE_KEY_MAX, "%s/%s/%s", w->name, row->subject, row->backend);

	snprintf(syntax, sizeof(syntax), "%s", w->parameters);
	while ((part = strsep(&rest, "/"))) {
		const char *words[16];
		unsigned count = alternatives(w, part, words);

		len += snprintf(key + len, CASE_KEY_MAX - (size_t)len, "/%s", words[n % count]);
		n /= count;
	}
	return !n;
}

/* Returns whether the backend has functions of the kind that the case needs, such as digests. */
static bool serves(const struct bench_case *c)
{
	const struct backend *b = c->backend;

	if (c->asym)
		return b->asym_step;
	if (c->algorithm)
		return c->algorithm->class == ALG_DIGEST ? b->digest != NULL : b->message != NULL;
	return !c->workload->draws || b->random;
}

/* Sets in *row whether this machine can run the case. Returns -EINVAL if no case has that key. */
static int try_key(struct pool *pool, const char *key, struct row *row)
{
	static const struct case_options options = { .repeats = { 1 }, .n_repeats = 1 };
	struct cases cases = { 0 };
	struct bench_case *c;
	int ret = cases_add_line(&cases, key, 0, &options, NULL);

	c = cases.list;
	if (!ret)
		ret = case_parse(c, pool, NULL);
	if (!ret && !serves(c))
		ret = -EINVAL;
	if (!ret) {
		row->why = (struct error){ 0 };
		row->there = !c->backend || !available(pool, c->backend, &row->why);
		if (row->there)
			case_probe(c, pool, &row->why);
		case_teardown(c);
	}
	cases_free(&cases);
	return ret;
}

/* Adds a row if the workload has a case with this subject and backend. */
static void try(struct listing *listing, const struct workload *w, const char *subject,
		const char *backend)
{
	struct row row = { .workload = w->name, .subject = subject, .backend = backend };
	char key[CASE_KEY_MAX];
	int ret = -EINVAL;

	/* A backend that lacks one step may have another. */
	for (unsigned n = 0; (ret || is(&row, "no-step")) && write_key(key, &row, w, n); n++)
		ret = try_key(&listing->pool, key, &row);
	/* A backend that isn't called across a border has no empty call. */
	if (!ret && !is(&row, "no-call"))
		add(listing, &row);
}

static void try_backends(struct listing *listing, const struct workload *w, const char *subject)
{
	for (size_t i = 0; w->backend && !*w->backend && stores[i]; i++)
		try(listing, w, subject, stores[i]->name);
	for (size_t i = 0; backends[i]; i++)
		if (!w->backend || !strcmp(w->backend, backends[i]->name))
			try(listing, w, subject, backends[i]->name);
}

static void try_subjects(struct listing *listing, const struct workload *w)
{
	for (size_t i = 0; w->names && w->names[i]; i++)
		try_backends(listing, w, w->names[i]);
	for (size_t i = 0; i < algorithms_count; i++)
		if (w->classes & 1u << algorithms[i].class)
			try_backends(listing, w, algorithms[i].name);
	for (size_t i = 0; w->asym && i < asym_algorithms_count; i++)
		try_backends(listing, w, asym_algorithms[i].name);
}

/* Prints for each subject of a workload a line with the backends that this machine can run. */
static void print_rows(const struct listing *listing, const char *workload)
{
	const char *subject = "";

	for (const struct row *row = listing->rows; row < listing->rows + listing->count; row++) {
		if (strcmp(row->workload, workload))
			continue;
		if (strcmp(row->subject, subject))
			printf("%s  %-15s", *subject ? "\n" : "", row->subject);
		subject = row->subject;
		if (!row->why.code)
			printf(" %s", row->backend);
	}
	printf("%s", *subject ? "\n" : "");
}

static void print_text(struct listing *listing)
{
	printf("Backends\n");
	for (size_t i = 0; backends[i]; i++) {
		struct error why = { 0 };

		if (!available(&listing->pool, backends[i], &why)) {
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
		const struct row *row = &listing->rows[i];

		if (row->why.code && row->there)
			printf("%s  %s/%s/%s: %s\n", any++ ? "" : "\nWhy not\n", row->workload,
			       row->subject, row->backend, row->why.what);
	}
}

int list_print(bool allow_rpmb, struct error *err)
{
	struct listing listing = { .pool = { .allow_rpmb = allow_rpmb } };
	int ret = 0;

	for (size_t i = 0; workloads[i]; i++)
		try_subjects(&listing, workloads[i]);
	if (listing.failed)
		ret = error_memory(err);
	else
		print_text(&listing);
	free(listing.rows);
	pool_close(&listing.pool);
	return ret;
}
