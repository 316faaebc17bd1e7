/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>

#include "cases.h"
#include "kernel_crypto.h"

enum { OPTIONS_MAX = 5 }; /* four of parse_option(), and the workload's own */

/* Parses the operations per call, a list such as "1,2,4,8": ascending, distinct, at least 1. */
static int parse_repeats(const char *text, struct case_options *options, struct error *err)
{
	struct case_options new = *options;
	char copy[256], *save = NULL, *item;
	uint64_t n;
	int ret;

	new.n_repeats = 0;
	if (strlen(text) >= sizeof(copy))
		return case_wrong(err, "repeat's list is too long");
	strcpy(copy, text);
	if (!*text || text[0] == ',' || text[strlen(text) - 1] == ',' || strstr(text, ",,"))
		return case_wrong(err, "repeat is \"%s\", not a list like 1,2,4,8", text);
	for (item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		ret = case_number(item, "repeat", 1u << 20, &n, err);
		if (ret)
			return ret;
		if (new.n_repeats == CASE_REPEATS_MAX)
			return case_wrong(err, "repeat has more than %d values", CASE_REPEATS_MAX);
		if (!n || (new.n_repeats &&n <= new.repeats[new.n_repeats - 1]))
			return case_wrong(err, "repeat is \"%s\": it must ascend from 1 or more",
					  text);
		new.repeats[new.n_repeats++] = (uint32_t)n;
	}
	*options = new;
	return 0;
}

int parse_option(const char *name, const char *value, struct case_options *options,
		 struct error *err)
{
	static const struct {
		const char *name;
		uint64_t least, most;
	} numbers[] = { { "samples", 1, 1000000 },
			{ "min_us", 0, 60000000 },
			{ "loops", 0, 1u << 24 } };
	uint64_t n;
	int ret;

	if (!strcmp(name, "repeat"))
		return parse_repeats(value, options, err);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (strcmp(name, numbers[i].name))
			continue;
		ret = case_number(value, name, numbers[i].most, &n, err);
		if (!ret && n < numbers[i].least)
			ret = case_wrong(err, "%s is 0: it takes 1 or more", name);
		if (!ret && i == 0)
			options->samples = (uint32_t)n;
		else if (!ret && i == 1)
			options->min_ns = n * 1000;
		else if (!ret)
			options->loops = (uint32_t)n;
		return ret;
	}
	return case_wrong(err, "there is no option \"%s\" (samples, min_us, repeat, loops)", name);
}

static int split_key(struct bench_case *c, struct error *err)
{
	const char **fields[] = { &c->workload_name, &c->algorithm_name, &c->backend_name,
				  &c->parameters };
	char *p = strdup(c->key);

	c->parts = p;
	if (!p)
		return error_memory(err);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		char *slash = strchr(p, '/');

		*fields[i] = p;
		if (i < 3 && !slash)
			return case_wrong(err,
					  "\"%s\" is not workload/algorithm/backend/parameters",
					  c->key);
		if (i < 3) {
			*slash = '\0';
			p = slash + 1;
		}
		if (!**fields[i])
			return case_wrong(err, "\"%s\" has an empty part", c->key);
	}
	return 0;
}

static int parse_words(struct bench_case *c, char *text, struct error *err)
{
	const char *blank = " \t\r\n";
	char *save = NULL, *word, *equals;
	const char *seen[OPTIONS_MAX];
	size_t n = 0;
	int ret;

	word = strtok_r(text, blank, &save);
	if (strlen(word) >= sizeof(c->key))
		return case_wrong(err, "the case's key is longer than %zu bytes",
				  sizeof(c->key) - 1);
	for (const char *p = word; *p; p++)
		if (!isgraph((unsigned char)*p))
			return case_wrong(err, "the case's key has a byte that is "
					       "not printable ASCII");
	strcpy(c->key, word);
	ret = split_key(c, err);
	if (ret)
		return ret;
	c->workload = workload_by_name(c->workload_name);
	if (!c->workload)
		return case_wrong(err, "there is no workload \"%s\"", c->workload_name);

	while ((word = strtok_r(NULL, blank, &save))) {
		equals = strchr(word, '=');
		if (!equals)
			return case_wrong(err, "\"%s\" is not option=value", word);
		*equals = '\0';
		for (size_t i = 0; i < n; i++)
			if (!strcmp(seen[i], word))
				return case_wrong(err, "\"%s\" is there twice", word);
		if (c->workload->option && !strcmp(word, c->workload->option)) {
			c->own = strdup(equals + 1);
			if (!c->own)
				return error_memory(err);
		} else {
			ret = parse_option(word, equals + 1, &c->options, err);
		}
		if (ret)
			return ret;
		if (n < OPTIONS_MAX)
			seen[n++] = word;
	}
	return 0;
}

static void free_case(struct bench_case *c)
{
	free(c->parts);
	free(c->own);
}

static int append(struct cases *cases, const struct bench_case *c, struct error *err)
{
	if (cases->count == cases->room) {
		size_t room = cases->room ? cases->room * 2 : 64;
		struct bench_case *list = realloc(cases->list, room * sizeof(*list));

		if (!list)
			return error_memory(err);
		cases->list = list;
		cases->room = room;
	}
	cases->list[cases->count++] = *c;
	return 0;
}

static const struct bench_case *find(const struct cases *cases, const char *key)
{
	for (size_t i = 0; i < cases->count; i++)
		if (!strcmp(cases->list[i].key, key))
			return &cases->list[i];
	return NULL;
}

int cases_add_line(struct cases *cases, const char *text, unsigned line,
		   const struct case_options *defaults, struct error *err)
{
	struct bench_case c = { .line = line, .options = *defaults, .bytes = -1 };
	const struct bench_case *twice;
	size_t len = strcspn(text, "#\n");
	char *copy;
	int ret = 0;

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (strspn(text, " \t\r\v\f") >= len)
		return 0;
	copy = strndup(text, len);
	if (!copy)
		return error_memory(err);
	ret = parse_words(&c, copy, err);
	free(copy);
	if (!ret && !c.workload->repeats) {
		c.options.n_repeats = 1;
		c.options.repeats[0] = 1;
	}
	twice = ret ? NULL : find(cases, c.key);
	if (twice && twice->line)
		ret = case_wrong(err, "\"%s\" is there twice, first in line %u", c.key,
				 twice->line);
	else if (twice)
		ret = case_wrong(err, "\"%s\" is there twice", c.key);
	if (!ret)
		ret = append(cases, &c, err);
	if (ret)
		free_case(&c);
	return ret;
}

int cases_read(struct cases *cases, FILE *stream, const char *name,
	       const struct case_options *defaults, struct error *err)
{
	char *text = NULL;
	size_t room = 0;
	unsigned line = 0;
	ssize_t len;
	int ret = 0;

	cases->name = name;
	while (!ret && (len = getline(&text, &room, stream)) >= 0) {
		struct error why = { 0 };

		line++;
		if (strlen(text) != (size_t)len)
			ret = error_set(&why, -EINVAL, "a NUL byte");
		else
			ret = cases_add_line(cases, text, line, defaults, &why);
		if (ret)
			error_set(err, ret, "%s:%u: %s\n%s", name, line, why.what, why.hint);
	}
	if (!ret && ferror(stream))
		ret = error_set(err, -EIO, "cannot read %s: %s", name, strerror(errno));
	free(text);
	return ret;
}

/* Adds a copy of the case, with a driver's name in place of the asterisk of its backend. */
static int add_driven(struct cases *to, const struct cases *from, const struct bench_case *c,
		      const char *driver, struct error *err)
{
	int prefix = (int)(strlen(c->backend_name) - strlen(DRIVER_ANY));
	struct bench_case one = {
		.line = c->line, .options = c->options, .workload = c->workload, .bytes = -1
	};
	int ret;

	if (snprintf(one.key, sizeof(one.key), "%s/%s/%.*s%s/%s", c->workload_name,
		     c->algorithm_name, prefix, c->backend_name, driver,
		     c->parameters) >= (int)sizeof(one.key) ||
	    find(from, one.key) || find(to, one.key))
		return 0;
	ret = split_key(&one, err);
	if (!ret)
		ret = append(to, &one, err);
	if (ret)
		free(one.parts);
	return ret;
}

/* Finds the kernel's drivers for a case's algorithm; none if its backend offers no choice. */
static void find_drivers(const struct bench_case *c, struct kernel_drivers *found)
{
	struct bench_case copy = *c;
	struct pool unused = { 0 };

	*found = (struct kernel_drivers){ 0 };
	if (!case_parse(&copy, &unused, NULL) && copy.backend && copy.backend->drivers_of &&
	    copy.backend->drivers_of(copy.algorithm, found, NULL))
		kernel_drivers_free(found);
	pool_close(&unused);
}

static bool of_any_driver(const struct bench_case *c)
{
	const char *colon = strchr(c->backend_name, ':');

	return colon && !strcmp(colon + 1, DRIVER_ANY);
}

int cases_expand(struct cases *cases, struct error *err)
{
	struct cases all = { .name = cases->name };
	int ret = 0;

	for (size_t i = 0; !ret && i < cases->count; i++) {
		struct bench_case *c = &cases->list[i];
		struct kernel_drivers found = { 0 };

		if (of_any_driver(c))
			find_drivers(c, &found);
		for (size_t k = 0; !ret && k < found.count; k++)
			ret = add_driven(&all, cases, c, found.list[k].driver, err);
		if (!ret && !found.count) {
			ret = append(&all, c, err);
			if (!ret)
				c->parts = c->own = NULL; /* the copy in `all` owns them now */
		}
		kernel_drivers_free(&found);
	}
	if (ret) {
		cases_free(&all);
		return ret;
	}
	cases_free(cases);
	*cases = all;
	return 0;
}

void cases_free(struct cases *cases)
{
	for (size_t i = 0; i < cases->count; i++)
		free_case(&cases->list[i]);
	free(cases->list);
	memset(cases, 0, sizeof(*cases));
}
