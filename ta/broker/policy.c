/* SPDX-License-Identifier: BSD-2-Clause */
#include "broker.h"

/* Returns the number of bytes before the next separator, or before the end. */
static size_t length_to(char separator, const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] != separator)
		n++;
	return n;
}

/* Checks a filter by MQTT 5, 4.7: + matches one level, # at the end any number, even none. */
static bool filter_is_valid(const char *filter, size_t len)
{
	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool first = i == 0 || filter[i - 1] == '/';
		bool last = i + 1 == len;

		if (!filter[i])
			return false;
		if (filter[i] == '#' && !(first && last))
			return false;
		if (filter[i] == '+' && !(first && (last || filter[i + 1] == '/')))
			return false;
	}
	return true;
}

static bool matches(const char *filter, size_t filter_len, const char *topic, size_t topic_len)
{
	size_t f = 0, t = 0;

	/* Wildcards don't match the broker's own topics ($SYS). */
	if (topic[0] == '$' && (filter[0] == '+' || filter[0] == '#'))
		return false;
	for (;;) {
		size_t fn = length_to('/', filter + f, filter_len - f);
		size_t tn = length_to('/', topic + t, topic_len - t);

		if (fn == 1 && filter[f] == '#')
			return true;
		if (!(fn == 1 && filter[f] == '+') &&
		    (fn != tn || TEE_MemCompare(filter + f, topic + t, fn)))
			return false;
		f += fn;
		t += tn;
		if (t == topic_len) /* "a/#" matches "a", too */
			return f == filter_len || (filter_len - f == 2 && filter[f + 1] == '#');
		if (f == filter_len)
			return false;
		f++;
		t++;
	}
}

bool policy_is_valid(const char *rules, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = length_to('\n', rules + at, len - at);

		if (at + n == len || n < 3 || rules[at + 1] != ' ' ||
		    (rules[at] != 'r' && rules[at] != 'w') ||
		    !filter_is_valid(rules + at + 2, n - 2))
			return false;
		at += n + 1;
	}
	return true;
}

bool policy_allows(const struct record *client, char what, const struct text *topic)
{
	const char *rules = client->rules;

	for (size_t at = 0; at < client->rules_len;) {
		size_t n = length_to('\n', rules + at, client->rules_len - at);

		if (rules[at] == what &&
		    matches(rules + at + 2, n - 2, (const char *)topic->at, topic->len))
			return true;
		at += n + 1;
	}
	return false;
}
