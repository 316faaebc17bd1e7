/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>

#include <teemark/ta_work.h>

#include "workload.h"

int case_number(const char *text, const char *what, uint64_t max, uint64_t *value,
		struct error *err)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || (*text == '0' && text[1]))
		return case_wrong(err, "%s is \"%s\", not a decimal number", what, text);
	if (errno || n > max)
		return case_wrong(err, "%s is too large, at most %llu is possible: %s", what,
				  (unsigned long long)max, text);
	*value = n;
	return 0;
}

int case_choice(const char *text, const char *const *names, struct error *err)
{
	char all[160] = "";
	size_t len = 0;

	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], text))
			return i;
	for (size_t i = 0; names[i] && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "",
					names[i]);
	return case_wrong(err, "\"%s\" is none of: %s", text, all);
}

static int parse_algorithm(struct bench_case *c, struct error *err)
{
	static const char *const classes[] = {
		[1u << ALG_DIGEST] = "a digest",
		[1u << ALG_DIGEST | 1u << ALG_MAC] = "a digest or MAC",
		[1u << ALG_CIPHER | 1u << ALG_AEAD] = "a cipher",
	};
	const struct workload *w = c->workload;
	const char *name = c->algorithm_name;

	if (w->names && !isupper((unsigned char)**w->names)) {
		c->name = case_choice(name, w->names, err);
		return c->name < 0 ? c->name : 0;
	}
	if (w->asym) {
		c->asym = asym_by_name(name);
		return c->asym ? 0 : case_wrong(err, "\"%s\" is not an asymmetric algorithm", name);
	}
	if (!w->classes)
		return 0;
	c->algorithm = algorithm_by_name(name);
	if (c->algorithm && w->classes & 1u << c->algorithm->class)
		return 0;
	return case_wrong(err, "\"%s\" is not %s", name, classes[w->classes]);
}

static int parse_backend(struct bench_case *c, struct error *err)
{
	const char *only = c->workload->backend;

	if (only && !*only)
		return 0;
	if (only && strcmp(c->backend_name, only))
		return case_wrong(err, "workload %s is for backend %s only, not for \"%s\"",
				  c->workload_name, only, c->backend_name);
	c->backend = backend_by_name(c->backend_name);
	return c->backend ? 0 : case_wrong(err, "there is no backend \"%s\"", c->backend_name);
}

static int parse_number(struct bench_case *c, const char *what, const char *text, uint64_t *number,
			struct error *err)
{
	const struct workload *w = c->workload;
	int ret = case_number(text, what, w->most, number, err);

	if (!ret && *number < w->least)
		ret = case_wrong(err, "%s is %s, and %llu at least", what, text,
				 (unsigned long long)w->least);
	if (!ret && !strcmp(what, "BYTES"))
		c->bytes = (int64_t)*number;
	return ret;
}

/* Parses one part of the parameters by its alternatives in `syntax`, which is cut to pieces. */
static int parse_part(struct bench_case *c, char *syntax, const char *text, struct case_part *part,
		      struct error *err)
{
	const struct workload *w = c->workload;
	char *save = NULL, *word = strtok_r(syntax, "|", &save);

	for (part->word = 0; word; word = strtok_r(NULL, "|", &save)) {
		if (!strcmp(word, text))
			return 0;
		if (isupper((unsigned char)*word))
			break;
		part->word++;
	}
	for (size_t i = 0; word && i < 2 && w->terms[i].name; i++)
		if (!strcmp(word, w->terms[i].name)) {
			part->word = case_choice(text, w->terms[i].words, err);
			return part->word < 0 ? part->word : 0;
		}
	part->word = -1;
	return word ? parse_number(c, word, text, &part->number, err) :
		      case_wrong(err, "%s takes the parameters %s, not \"%s\"", w->name,
				 w->parameters, c->parameters);
}

static int parse_parameters(struct bench_case *c, struct error *err)
{
	const struct workload *w = c->workload;
	char syntax[CASE_KEY_MAX], text[CASE_KEY_MAX];
	char *syntax_rest = syntax, *rest = text;
	int ret = 0;

	snprintf(syntax, sizeof(syntax), "%s", w->parameters);
	snprintf(text, sizeof(text), "%s", c->parameters);
	for (size_t i = 0; !ret && syntax_rest && i < CASE_PARTS_MAX; i++) {
		char *form = strsep(&syntax_rest, "/");

		if (!rest)
			return case_wrong(err, "\"%s\" is not %s", c->parameters, w->parameters);
		ret = parse_part(c, form, strsep(&rest, "/"), &c->part[i], err);
	}
	if (!ret && rest)
		return case_wrong(err, "%s takes ALGORITHM/BACKEND/%s; there is \"/%s\" too many",
				  w->name, w->parameters, rest);
	if (ret || !w->blocks || !c->algorithm ||
	    (c->bytes > 0 && c->bytes % c->algorithm->unit_bytes == 0))
		return ret;
	return case_wrong(err, "a message of %s has a multiple of %u bytes, not %lld",
			  c->algorithm->title, c->algorithm->unit_bytes, (long long)c->bytes);
}

/* Returns -EINVAL if a TA computes the case and one call would do more work than is allowed. */
static int check_work(const struct bench_case *c, struct error *err)
{
	uint32_t most = c->options.repeats[c->options.n_repeats - 1];
	/* A case without a length is bounded by its repetitions alone. */
	uint64_t bytes = c->bytes < 0 ? 0 : (uint64_t)c->bytes;

	if (!case_in_ta(c) ||
	    (c->workload->draws ? ta_work_random_ok(most, bytes) : ta_work_ok(most, bytes)))
		return 0;
	if (c->workload->draws)
		return case_wrong(err,
				  "%u times %lld random bytes are more than one call into a TA may "
				  "draw: %u\na call can't be ended from outside, and a hardware "
				  "source may be slow: draw more in many calls",
				  most, (long long)c->bytes, TA_WORK_RANDOM_MAX);
	return case_wrong(err,
			  "%u repetitions of %lld bytes are more than one call into a TA may do: "
			  "%u repetitions, %u bytes in all\na call can't be ended from outside; "
			  "longer work is many calls: fewer repetitions, and a larger min_us",
			  most, (long long)c->bytes, TA_REPEAT_MAX, TA_WORK_MAX);
}

static size_t workplace_room(const struct bench_case *c)
{
	size_t least = c->workload->workplace_room;

	return c->bytes > (int64_t)least ? (size_t)c->bytes : least;
}

int case_parse(struct bench_case *c, struct pool *pool, struct error *err)
{
	const struct workload *w = c->workload;
	int ret = parse_algorithm(c, err);

	c->pool = pool;
	if (!ret)
		ret = parse_backend(c, err);
	if (!ret)
		ret = parse_parameters(c, err);
	if (!ret && w->workplace)
		ret = pool_reserve(pool, c->backend, w->workplace, workplace_room(c), err);
	if (!ret && w->parse)
		ret = w->parse(c, err);
	return ret ? ret : check_work(c, err);
}

bool case_in_ta(const struct bench_case *c)
{
	return c->backend && c->backend->crosses;
}

bool case_calls_tee(const struct bench_case *c)
{
	return case_in_ta(c) || !strncmp(c->backend_name, "tee-", 4);
}

static void *result_of(const struct bench_case *c)
{
	return c->result ? c->result : c->workplace->out.data;
}

int case_ready(struct bench_case *c, uint32_t loops, struct error *err)
{
	c->loops = loops;
	/* They may have gone while they grew for another case, if a program beside took the memory. */
	if (c->workplace && !workplace_has_room(c->workplace, 0))
		return error_memory(err);
	if (c->want_bytes)
		memset(result_of(c), ~*(const uint8_t *)c->want, c->want_bytes);
	return c->workload->ready ? c->workload->ready(c, err) : 0;
}

int case_run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	const struct workload *w = c->workload;
	int ret = 0;

	if (w->run)
		return w->run(c, loops, repeat, err);
	for (uint32_t i = 0; !ret && i < loops; i++)
		ret = w->once(c, err);
	return ret;
}

struct measure_target case_target(struct bench_case *c)
{
	const struct workload *w = c->workload;

	/* A workload's own run() is called directly, without case_run() around it. */
	return (struct measure_target){
		.run = w->run ? w->run : case_run,
		.c = c,
		.ready = case_ready,
		.loops_max = c->loops_max,
	};
}

int case_compare(const char *what, const void *result, const void *want, size_t bytes,
		 struct error *err)
{
	const uint8_t *is = result, *must = want;
	char texts[2][17] = { "", "" };
	size_t at = 0;

	if (!memcmp(result, want, bytes))
		return 0;
	while (at + 1 < bytes && is[at] == must[at]) /* shared memory may change meanwhile */
		at++;
	for (size_t i = 0; i < 8 && at + i < bytes; i++) {
		sprintf(texts[0] + 2 * i, "%02x", is[at + i]);
		sprintf(texts[1] + 2 * i, "%02x", must[at + i]);
	}
	return case_wrong_result(err, "wrong result of %s: from byte %zu on %s instead of %s", what,
				 at, texts[0], texts[1]);
}

int case_check(struct bench_case *c, struct error *err)
{
	int ret = c->workload->check ? c->workload->check(c, err) : 0;

	if (ret || !c->want_bytes)
		return ret;
	return case_compare(c->key, result_of(c), c->want, c->want_bytes, err);
}

int case_verify(struct bench_case *c, struct error *err)
{
	const struct workload *w = c->workload;

	if (!w->verify && !w->check && !c->want_bytes)
		return error_set(err, -ENOSYS, "nothing tells whether the result is right");
	return w->verify ? w->verify(c, err) : case_check(c, err);
}

int case_prepare(struct bench_case *c, struct pool *pool, struct error *err)
{
	const struct workload *w = c->workload;
	int ret = 0;

	c->pool = pool;
	c->state = calloc(1, w->state_size);
	if (!c->state)
		return error_memory(err);
	if (w->workplace)
		ret = pool_workplace(pool, c->backend, w->workplace, workplace_room(c),
				     &c->workplace, err);
	return ret ? ret : w->prepare(c, err);
}

void case_teardown(struct bench_case *c)
{
	if (c->state && c->workload->teardown)
		c->workload->teardown(c);
	/* Another case may get the address of `c` later, and would be taken for the owner. */
	if (c->workplace && c->workplace->owner == c)
		c->workplace->owner = NULL;
	free(c->state);
	c->state = NULL;
}
