/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "vectors.h"

static const char hex_digits[] = "0123456789abcdef";

/* One item of the description, read word by word. After an error no more words are read. */
struct text {
	char *rest; /* the words that are left; NULL: none */
	int ret;
	struct error *err;
};

#define wrong(text, ...) ((text)->ret = case_wrong((text)->err, __VA_ARGS__))

/* Returns the next word, up to a colon; "" after an error. Messages call the word `what`. */
static char *next(struct text *t, const char *what)
{
	static char nothing[1];

	if (!t->ret && !t->rest)
		wrong(t, "call: %s is missing", what);
	return t->ret ? nothing : strsep(&t->rest, ":");
}

static uint64_t number(struct text *t, const char *what, uint64_t max)
{
	const char *word = next(t, what);
	uint64_t n = 0;

	if (!t->ret)
		t->ret = case_number(word, what, max, &n, t->err);
	return n;
}

static uint32_t u32(struct text *t, const char *what)
{
	return (uint32_t)number(t, what, UINT32_MAX);
}

/* Reads an expected number, or the word `any`. */
static struct call_number wanted(struct text *t, const char *what)
{
	bool any = t->rest && (!strcmp(t->rest, "any") || !strncmp(t->rest, "any:", 4));

	if (any)
		next(t, what);
	return (struct call_number){ any, any ? 0 : u32(t, what) };
}

static uint32_t result(struct text *t)
{
	const char *word = next(t, "the expected result");

	if (!t->ret &&
	    (strncmp(word, "0x", 2) || strlen(word) != 10 || strspn(word + 2, hex_digits) != 8))
		wrong(t, "call: the expected result is \"%.40s\", not 0x and 8 hex digits", word);
	return (uint32_t)strtoul(word, NULL, 16);
}

/* Returns the error so far, or -EINVAL if words of the item (`part` in messages) are left. */
static int end(struct text *t, const char *part)
{
	if (!t->ret && t->rest)
		wrong(t, "call: \"%.40s\" is too much after %s", t->rest, part);
	return t->ret;
}

/*
 * Sets *bytes to the hex digits in `text`. Returns false unless there are `digits` of them; 0: any
 * even number.
 */
static bool take_hex(const char *text, size_t digits, struct call_bytes *bytes)
{
	size_t len = strlen(text);

	bytes->hex = text;
	bytes->bytes = len / 2;
	return len % 2 == 0 && strspn(text, hex_digits) == len && (!digits || len == digits);
}

/* Sets bytes->of to the number of a parameter; returns false if the text isn't one (0 to 3). */
static bool take_parameter(const char *text, struct call_bytes *bytes)
{
	bytes->of = (unsigned)(text[0] - '0');
	return text[0] >= '0' && bytes->of < CALL_PARAMS && !text[1];
}

/*
 * Parses the word for the bytes that memory holds before the call or, if `wanted`, must hold
 * afterwards. Returns false if the word is unknown.
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

static void value(struct call_param *p, struct text *t)
{
	p->type = CALL_VALUE;
	if (p->in) {
		p->a = u32(t, "value a");
		p->b = u32(t, "value b");
	}
	if (p->out) {
		p->want_a = wanted(t, "expected value a");
		p->want_b = wanted(t, "expected value b");
	}
}

static void content(struct call_param *p, struct text *t)
{
	char *word = next(t, "the content of memory");

	if (t->ret)
		return;
	if (!bytes_word(word, false, &p->content))
		wrong(t, "call: \"%.40s\" is no content (message, fill-XX, hex-XX...)", word);
	else if (p->content.kind == CALL_HEX && p->content.bytes != p->memory.size)
		wrong(t, "call: %zu bytes of content for memory of %zu", p->content.bytes,
		      p->memory.size);
}

static void want(struct call_param *p, struct text *t)
{
	char *word = next(t, "what memory is to hold");

	if (!t->ret && !bytes_word(word, true, &p->want))
		wrong(t, "call: \"%.40s\" is nothing that memory can be expected to hold", word);
	p->want_size = wanted(t, "expected size");
}

static void memory(struct call_param *p, struct text *t)
{
	static const char *const kinds[] = { [MEMORY_TEMPORARY] = "temporary",
					     [MEMORY_REGISTERED] = "registered",
					     [MEMORY_ALLOCATED] = "allocated",
					     NULL };
	const char *word = next(t, "the kind of memory");
	int kind = t->ret ? t->ret : case_choice(word, kinds, "a kind of memory", t->err);

	if (kind < 0)
		t->ret = kind;
	p->type = CALL_MEMORY;
	p->memory = (struct tee_memory){ .kind = kind < 0 ? 0 : (unsigned)kind,
					 .in = p->in,
					 .out = p->out,
					 .size = (size_t)number(t, "the size of memory",
								CALL_BYTES_MAX) };
	if (p->in)
		content(p, t);
	if (p->out)
		want(p, t);
}

static int parameter(struct call_step *step, char *item, struct error *err)
{
	static const char *const types[] = { "value-in",  "value-out",  "value-inout",
					     "memory-in", "memory-out", "memory-inout",
					     "none",      NULL };
	struct call_param *p = &step->params[step->n_params];
	struct text t = { .rest = item, .err = err };
	const char *way;
	int type;

	if (step->n_params == CALL_PARAMS)
		return case_wrong(err, "call: a command has more than %d parameters", CALL_PARAMS);
	step->n_params++;
	type = case_choice(next(&t, "a parameter"), types, "a type of a parameter", err);
	if (type < 0)
		return type;
	way = strchr(types[type], '-');
	p->in = way && strstr(way, "in");
	p->out = way && strstr(way, "out");
	if (way)
		(types[type][0] == 'v' ? value : memory)(p, &t);
	return end(&t, "a parameter");
}

/* Returns when the step that the item begins runs (CALL_SETUP, …); -1 if it begins no step. */
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
	struct text t = { .rest = item, .err = err };

	if (call->n_steps == CALL_STEPS_MAX)
		return case_wrong(err, "call: there are more than %d commands", CALL_STEPS_MAX);
	call->n_steps++;
	step->when = when;
	next(&t, "when");
	step->command = u32(&t, "the command's number");
	step->result = result(&t);
	return end(&t, "a command");
}

/*
 * Sets how many bytes parameter i must hold after the call. Returns -EINVAL if the description
 * contradicts itself.
 */
static int fix_size(struct call_step *step, unsigned i, struct error *err)
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
		bytes = of->memory.size;
		break;
	case CALL_DIGEST:
		bytes = p->want.algorithm->out_bytes;
		break;
	case CALL_MESSAGE:
	case CALL_FILL:
	default:
		bytes = p->want_size.any ? p->memory.size : p->want_size.value;
		break;
	}
	if ((p->want.kind == CALL_SAME || p->want.kind == CALL_DIGEST) &&
	    (of->type != CALL_MEMORY || !of->in))
		return case_wrong(err, "call: p%u is compared with p%u, into which nothing goes", i,
				  p->want.of);
	if (!p->want_size.any && p->want_size.value != bytes)
		return case_wrong(err, "call: %zu bytes are expected in p%u, and a size of %u",
				  bytes, i, p->want_size.value);
	if (bytes > p->memory.size)
		return case_wrong(err,
				  "call: %zu bytes are expected in p%u, which has room for %zu",
				  bytes, i, p->memory.size);
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
	item = strsep(&rest, ";");
	if (!tee_uuid(item, &call->uuid))
		return case_wrong(err, "call: \"%.40s\" is no UUID", item);
	strcpy(call->uuid_text, item);
	while (!ret && (item = strsep(&rest, ";"))) {
		struct call_step *last = &call->steps[call->n_steps];
		int when = step_word(item);

		if (call->n_steps && last[-1].when == CALL_RUN && when >= 0)
			ret = case_wrong(err, "call: a command after the one to measure");
		else if (when >= 0)
			ret = add_step(call, (unsigned)when, item, err);
		else if (!call->n_steps)
			ret = case_wrong(err, "call: a command before its parameters is missing");
		else
			ret = parameter(&last[-1], item, err);
	}
	if (!ret && (!call->n_steps || call->steps[call->n_steps - 1].when != CALL_RUN))
		ret = case_wrong(err,
				 "call: the command to measure (run:COMMAND:RESULT) is missing");
	for (unsigned i = 0; !ret && i < call->n_steps; i++)
		for (unsigned k = 0; !ret && k < CALL_PARAMS; k++)
			if (call->steps[i].params[k].type == CALL_MEMORY &&
			    call->steps[i].params[k].out)
				ret = fix_size(&call->steps[i], k, err);
	return ret;
}

void call_free(struct call *call)
{
	free(call->text);
	call->text = NULL;
}
