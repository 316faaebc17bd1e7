/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>

#include "call.h"
#include "vectors.h"

/* One item of the description, read word by word. */
struct text {
	char *rest; /* the words that are left; NULL: none */
	bool bad;   /* a word was missing or wrong: no more words are read */
};

/* Returns the next word, up to a colon. */
static char *next(struct text *t)
{
	static char nothing[1];

	t->bad = t->bad || !t->rest;
	return t->bad ? nothing : strsep(&t->rest, ":");
}

/* Reads a number, decimal or in hex behind 0x. */
static uint32_t number(struct text *t, uint32_t max)
{
	const char *word = next(t);
	char *end;
	unsigned long long n = strtoull(word, &end, 0);

	t->bad = t->bad || !isdigit((unsigned char)*word) || *end || n > max;
	return t->bad ? 0 : (uint32_t)n;
}

/* Reads an expected number, or the word `any`. */
static struct call_number wanted(struct text *t)
{
	bool any = t->rest && (!strcmp(t->rest, "any") || !strncmp(t->rest, "any:", 4));

	if (any)
		next(t);
	return (struct call_number){ any, any ? 0 : number(t, UINT32_MAX) };
}

/*
 * Reads the word for the bytes that memory holds before the call or, if `after`, must hold
 * afterwards.
 */
static struct call_bytes bytes(struct text *t, bool after)
{
	static const struct {
		const char *name;
		bool after;
		size_t digits; /* hex digits behind the name; SIZE_MAX: any even number */
	} words[] = {
		[CALL_ANY] = { "any", true, 0 },
		[CALL_MESSAGE] = { "message", false, 0 },
		[CALL_FILL] = { "fill-", false, 2 },
		[CALL_HEX] = { "hex-", false, SIZE_MAX },
		[CALL_SHA256] = { "digest-", true, (size_t)2 * CALL_SHA256_BYTES },
	};
	struct call_bytes b = { 0 };
	char *word = next(t), *of = strstr(word, "-of-");

	if (of && after && of[4] >= '0' && of[4] < '0' + CALL_PARAMS && !of[5]) {
		*of = '\0';
		b.kind = CALL_DIGEST;
		b.of = (unsigned)(of[4] - '0');
		b.algorithm = algorithm_by_name(word);
		t->bad = !b.algorithm || b.algorithm->class != ALG_DIGEST;
		return b;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t len = strlen(words[i].name), digits = strlen(word) - len;

		if (strncmp(word, words[i].name, len) || (words[i].after && !after))
			continue;
		b.kind = i;
		b.hex = word + len;
		b.bytes = digits / 2;
		t->bad = strspn(b.hex, "0123456789abcdef") != digits || digits % 2 ||
			 (words[i].digits != SIZE_MAX && words[i].digits != digits);
		if (i == CALL_FILL && !t->bad)
			vector_bytes(&b.fill, 1, b.hex);
		return b;
	}
	t->bad = true;
	return b;
}

static void value(struct call_param *p, struct text *t)
{
	p->type = CALL_VALUE;
	if (p->in) {
		p->a = number(t, UINT32_MAX);
		p->b = number(t, UINT32_MAX);
	}
	if (p->out) {
		p->want_a = wanted(t);
		p->want_b = wanted(t);
	}
}

static void memory(struct call_param *p, struct text *t)
{
	static const char *const kinds[] = { [MEMORY_TEMPORARY] = "temporary",
					     [MEMORY_REGISTERED] = "registered",
					     [MEMORY_ALLOCATED] = "allocated",
					     NULL };
	int kind = case_choice(next(t), kinds, NULL);

	t->bad = t->bad || kind < 0;
	p->type = CALL_MEMORY;
	p->memory = (struct tee_memory){ .kind = (unsigned)kind,
					 .in = p->in,
					 .out = p->out,
					 .size = number(t, CALL_BYTES_MAX) };
	if (p->in)
		p->content = bytes(t, false);
	if (p->in && p->content.kind == CALL_HEX && p->content.bytes != p->memory.size)
		t->bad = true;
	if (p->out) {
		p->want = bytes(t, true);
		p->want_size = wanted(t);
	}
}

/* Adds a step, or a parameter to the last step. Returns false if the item isn't understood. */
static bool add(struct call *call, char *item)
{
	static const char *const whens[] = { "setup", "before", "run", NULL };
	static const char *const types[] = { "value-in",  "value-out",  "value-inout",
					     "memory-in", "memory-out", "memory-inout",
					     "none",      NULL };
	struct call_step *step = &call->steps[call->n_steps],
			 *last = call->n_steps ? step - 1 : NULL;
	struct text t = { .rest = item };
	const char *word = next(&t);
	int when = case_choice(word, whens, NULL), type = case_choice(word, types, NULL);

	if (when >= 0) {
		if (call->n_steps == CALL_STEPS_MAX || (last && last->when == CALL_RUN))
			return false;
		call->n_steps++;
		step->when = (unsigned)when;
		step->command = number(&t, UINT32_MAX);
		step->result = number(&t, UINT32_MAX);
	} else if (type >= 0 && last && last->n_params < CALL_PARAMS) {
		struct call_param *p = &last->params[last->n_params++];

		p->in = strstr(word, "-in");
		p->out = strstr(word, "out");
		if (p->in || p->out)
			(*word == 'v' ? value : memory)(p, &t);
	} else {
		return false;
	}
	return !t.bad && !t.rest;
}

/* Returns whether the bytes that parameter p must hold can be made, and have room in it. */
static bool fits(const struct call_step *step, struct call_param *p)
{
	const struct call_param *of = &step->params[p->want.of];

	if (p->type != CALL_MEMORY || !p->out || p->want.kind == CALL_ANY ||
	    p->want.kind == CALL_SHA256)
		return true;
	if (p->want.kind == CALL_DIGEST) {
		p->want_size = (struct call_number){ false, p->want.algorithm->out_bytes };
		if (of->type != CALL_MEMORY || !of->in)
			return false;
	}
	return !p->want_size.any && p->want_size.value <= p->memory.size &&
	       (p->want.kind != CALL_HEX || p->want.bytes == p->want_size.value);
}

int call_parse(struct call *call, const char *text, struct error *err)
{
	char *rest, *item;
	unsigned n = 1;

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
	for (; (item = strsep(&rest, ";")); n++) {
		const char *whole = text + (item - call->text);

		if (!add(call, item))
			return case_wrong(err,
					  "call: item %u is wrong, or has more than %d bytes: %.*s",
					  n, CALL_BYTES_MAX, (int)strcspn(whole, ";"), whole);
	}
	if (!call->n_steps || call->steps[call->n_steps - 1].when != CALL_RUN)
		return case_wrong(err, "call: the command to measure is missing");
	for (unsigned i = 0; i < call->n_steps; i++)
		for (unsigned k = 0; k < CALL_PARAMS; k++)
			if (!fits(&call->steps[i], &call->steps[i].params[k]))
				return case_wrong(err, "call: p%u can't hold what it must", k);
	return 0;
}

void call_free(struct call *call)
{
	free(call->text);
	call->text = NULL;
}
