/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "tee_client.h"
#include "vectors.h"
#include "workload.h"

static const char hex_digits[] = "0123456789abcdef";

/* Returns the next part of text up to sep, which goes on behind it; NULL: no more. */
static char *next(char **text, const char *sep)
{
	return *text ? strsep(text, sep) : NULL;
}

static int lacks(const char *what, struct error *err)
{
	return case_wrong(err, "call: %s is missing", what);
}

static int number(char **rest, const char *what, uint64_t max, uint64_t *value, struct error *err)
{
	const char *word = next(rest, ":");

	return word ? case_number(word, what, max, value, err) : lacks(what, err);
}

static int u32(char **rest, const char *what, uint32_t *value, struct error *err)
{
	uint64_t n = 0;
	int ret = number(rest, what, UINT32_MAX, &n, err);

	*value = (uint32_t)n;
	return ret;
}

/* Reads a number, or `any`. */
static int wanted(char **rest, const char *what, uint32_t max, struct call_number *wanted,
		  struct error *err)
{
	uint64_t n = 0;
	int ret;

	wanted->any = *rest && (!strcmp(*rest, "any") || !strncmp(*rest, "any:", 4));
	if (wanted->any) {
		next(rest, ":");
		return 0;
	}
	ret = number(rest, what, max, &n, err);
	wanted->value = (uint32_t)n;
	return ret;
}

static int result(char **rest, uint32_t *value, struct error *err)
{
	const char *word = next(rest, ":");

	if (!word)
		return lacks("the expected result", err);
	if (strncmp(word, "0x", 2) || strlen(word) != 10 || strspn(word + 2, hex_digits) != 8)
		return case_wrong(err,
				  "call: the expected result is \"%.40s\", not 0x and 8 hex digits",
				  word);
	*value = (uint32_t)strtoul(word + 2, NULL, 16);
	return 0;
}

/* Takes the text as hex digits; there must be so many (0: any even number). */
static bool take_hex(const char *text, size_t digits, struct call_bytes *bytes)
{
	size_t len = strlen(text);

	bytes->hex = text;
	bytes->bytes = len / 2;
	return len % 2 == 0 && strspn(text, hex_digits) == len && (!digits || len == digits);
}

/* Takes the text as the number of a parameter. */
static bool take_parameter(const char *text, struct call_bytes *bytes)
{
	bytes->of = (unsigned)(text[0] - '0');
	return text[0] >= '0' && bytes->of < CALL_PARAMS && !text[1];
}

/*
 * Reads the word for what memory holds before the call, or, if `wanted`, for
 * what it is expected to hold afterwards.
 */
static bool bytes_word(char *word, bool wanted, struct call_bytes *bytes)
{
	static const struct {
		const char *name;
		size_t digits;
		bool wanted;
	} words[] = {
		[CALL_ANY] = { "any", 0, true },
		[CALL_MESSAGE] = { "message", 0, false },
		[CALL_FILL] = { "fill-", 2, false },
		[CALL_HEX] = { "hex-", 0, false },
		[CALL_SAME] = { "same-", 0, true },
		[CALL_SHA256] = { "digest-", 2 * CALL_SHA256_BYTES, true },
	};
	char *of = strstr(word, "-of-");

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *name = words[i].name;
		const char *rest = name ? word + strlen(name) : NULL;

		if (!name || strncmp(word, name, strlen(name)) || (words[i].wanted && !wanted))
			continue;
		bytes->kind = i;
		if (i == CALL_ANY || i == CALL_MESSAGE)
			return !*rest;
		if (i == CALL_SAME)
			return take_parameter(rest, bytes);
		if (!take_hex(rest, words[i].digits, bytes))
			return false;
		if (i == CALL_FILL)
			vector_bytes(&bytes->fill, 1, rest);
		return true;
	}
	if (!of || !wanted)
		return false;
	*of = '\0';
	bytes->kind = CALL_DIGEST;
	bytes->algorithm = algorithm_by_name(word);
	return bytes->algorithm && bytes->algorithm->class == ALG_DIGEST &&
	       take_parameter(of + 4, bytes);
}

static int value(struct call_param *p, char **rest, struct error *err)
{
	int ret = 0;

	p->type = CALL_VALUE;
	if (p->in)
		ret = u32(rest, "value a", &p->a, err);
	if (!ret && p->in)
		ret = u32(rest, "value b", &p->b, err);
	if (!ret && p->out)
		ret = wanted(rest, "expected value a", UINT32_MAX, &p->want_a, err);
	if (!ret && p->out)
		ret = wanted(rest, "expected value b", UINT32_MAX, &p->want_b, err);
	return ret;
}

static int content(struct call_param *p, char **rest, struct error *err)
{
	char *word = next(rest, ":");

	if (!word)
		return lacks("the content of memory", err);
	if (!bytes_word(word, false, &p->content))
		return case_wrong(err,
				  "call: \"%.40s\" is no content (message, fill-XX, hex-XX...)",
				  word);
	if (p->content.kind == CALL_HEX && p->content.bytes != p->size)
		return case_wrong(err, "call: %zu bytes of content for memory of %zu",
				  p->content.bytes, p->size);
	return 0;
}

static int want(struct call_param *p, char **rest, struct error *err)
{
	char *word = next(rest, ":");

	if (!word)
		return lacks("what memory is to hold", err);
	if (!bytes_word(word, true, &p->want))
		return case_wrong(err,
				  "call: \"%.40s\" is nothing that memory can be expected to hold",
				  word);
	return wanted(rest, "expected size", UINT32_MAX, &p->want_size, err);
}

static int memory(struct call_param *p, char **rest, struct error *err)
{
	static const char *const kinds[] = { "temporary", "registered", "allocated", NULL };
	const char *word = next(rest, ":");
	uint64_t size = 0;
	int ret;

	p->type = CALL_MEMORY;
	if (!word)
		return lacks("the kind of memory", err);
	ret = case_choice(word, kinds, "a kind of memory", err);
	if (ret < 0)
		return ret;
	p->memory = (unsigned)ret;
	ret = number(rest, "the size of memory", CALL_BYTES_MAX, &size, err);
	p->size = (size_t)size;
	if (!ret && p->in)
		ret = content(p, rest, err);
	if (!ret && p->out)
		ret = want(p, rest, err);
	return ret;
}

static int parameter(struct call_step *step, char *item, struct error *err)
{
	static const char *const types[] = { "value-in",  "value-out",  "value-inout",
					     "memory-in", "memory-out", "memory-inout",
					     "none",      NULL };
	struct call_param *p = &step->params[step->n_params];
	const char *way;
	int type, ret;

	if (step->n_params == CALL_PARAMS)
		return case_wrong(err, "call: a command has more than %d parameters", CALL_PARAMS);
	step->n_params++;
	type = case_choice(next(&item, ":"), types, "a type of a parameter", err);
	if (type < 0)
		return type;
	way = strchr(types[type], '-');
	p->in = way && strstr(way, "in");
	p->out = way && strstr(way, "out");
	ret = !way ? 0 : types[type][0] == 'v' ? value(p, &item, err) : memory(p, &item, err);
	if (!ret && item)
		ret = case_wrong(err, "call: \"%.40s\" is too much after a parameter", item);
	return ret;
}

/* Returns when the step runs that the item begins; -1 if it begins none. */
static int step_word(const char *item)
{
	static const char *const whens[] = { "setup:", "before:", "run:" };

	for (int i = 0; i < 3; i++)
		if (!strncmp(item, whens[i], strlen(whens[i])))
			return i;
	return -1;
}

static int add_step(struct call *call, unsigned when, char *item, struct error *err)
{
	struct call_step *step = &call->steps[call->n_steps];
	int ret;

	if (call->n_steps == CALL_STEPS_MAX)
		return case_wrong(err, "call: there are more than %d commands", CALL_STEPS_MAX);
	call->n_steps++;
	step->when = when;
	next(&item, ":");
	ret = u32(&item, "the command's number", &step->command, err);
	if (!ret)
		ret = result(&item, &step->result, err);
	if (!ret && item)
		ret = case_wrong(err, "call: \"%.40s\" is too much after a command", item);
	return ret;
}

/* Settles how many bytes are wanted of parameter i, where it is known which. */
static int settle_size(struct call_step *step, unsigned i, struct error *err)
{
	struct call_param *p = &step->params[i];
	const struct call_param *of = &step->params[p->want.of];
	size_t bytes;

	switch (p->want.kind) {
	case CALL_ANY:
	case CALL_SHA256:
		return 0;
	case CALL_HEX:
		bytes = p->want.bytes;
		break;
	case CALL_SAME:
		bytes = of->size;
		break;
	case CALL_DIGEST:
		bytes = p->want.algorithm->out_bytes;
		break;
	case CALL_MESSAGE:
	case CALL_FILL:
	default:
		bytes = p->want_size.any ? p->size : p->want_size.value;
		break;
	}
	if ((p->want.kind == CALL_SAME || p->want.kind == CALL_DIGEST) &&
	    (of->type != CALL_MEMORY || !of->in))
		return case_wrong(err, "call: p%u is compared with p%u, into which nothing goes", i,
				  p->want.of);
	if (!p->want_size.any && p->want_size.value != bytes)
		return case_wrong(err, "call: %zu bytes are expected in p%u, and a size of %u",
				  bytes, i, p->want_size.value);
	if (bytes > p->size)
		return case_wrong(err,
				  "call: %zu bytes are expected in p%u, which has room for %zu",
				  bytes, i, p->size);
	p->want_size = (struct call_number){ .value = (uint32_t)bytes };
	return 0;
}

int call_parse(struct call *call, const char *text, struct error *err)
{
	char *rest, *item;
	int ret = 0;

	memset(call, 0, sizeof(*call));
	if (strlen(text) > CALL_TEXT_MAX)
		return case_wrong(err, "call: its description has more than %d bytes",
				  CALL_TEXT_MAX);
	rest = call->text = strdup(text);
	if (!rest)
		return error_memory(err);
	item = next(&rest, ";");
	if (!tee_uuid(item, &call->uuid))
		return case_wrong(err, "call: \"%.40s\" is no UUID", item);
	strcpy(call->uuid_text, item);
	while (!ret && (item = next(&rest, ";"))) {
		struct call_step *last = &call->steps[call->n_steps];
		int when = step_word(item);

		if (call->n_steps && last[-1].when == CALL_RUN && when >= 0)
			ret = case_wrong(err, "call: a command after the one to measure");
		else if (when >= 0)
			ret = add_step(call, (unsigned)when, item, err);
		else if (!call->n_steps)
			ret = lacks("a command before its parameters", err);
		else
			ret = parameter(&last[-1], item, err);
	}
	if (!ret && (!call->n_steps || call->steps[call->n_steps - 1].when != CALL_RUN))
		ret = lacks("the command to measure (run:COMMAND:RESULT)", err);
	for (unsigned i = 0; !ret && i < call->n_steps; i++)
		for (unsigned k = 0; !ret && k < CALL_PARAMS; k++)
			if (call->steps[i].params[k].type == CALL_MEMORY &&
			    call->steps[i].params[k].out)
				ret = settle_size(&call->steps[i], k, err);
	return ret;
}

void call_free(struct call *call)
{
	free(call->text);
	call->text = NULL;
}
