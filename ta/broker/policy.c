/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy.h"

/* Length of the level that begins at `from`. */
static size_t level_len(const char *text, size_t from, size_t len)
{
	size_t n = 0;

	while (from + n < len && text[from + n] != '/')
		n++;
	return n;
}

/* MQTT 5, 4.7: + is a level, # at the end any number of levels, none too. */
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
		if (filter[i] == '+' &&
		    !(first && (last || filter[i + 1] == '/')))
			return false;
	}
	return true;
}

static bool matches(const char *filter, size_t filter_len, const char *topic,
		    size_t topic_len)
{
	size_t f = 0, t = 0;

	/* Wildcards don't reach the broker's own topics ($SYS). */
	if (topic[0] == '$' && (filter[0] == '+' || filter[0] == '#'))
		return false;
	for (;;) {
		size_t fn = level_len(filter, f, filter_len);
		size_t tn = level_len(topic, t, topic_len);

		if (fn == 1 && filter[f] == '#')
			return true;
		if (!(fn == 1 && filter[f] == '+') &&
		    (fn != tn || TEE_MemCompare(filter + f, topic + t, fn)))
			return false;
		f += fn;
		t += tn;
		if (t == topic_len) /* "a/#" holds "a", too */
			return f == filter_len ||
			       (filter_len - f == 2 && filter[f + 1] == '#');
		if (f == filter_len)
			return false;
		f++;
		t++;
	}
}

static size_t line_len(const char *rules, size_t len)
{
	size_t n = 0;

	while (n < len && rules[n] != '\n')
		n++;
	return n;
}

bool policy_is_valid(const char *rules, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = line_len(rules + at, len - at);

		if (at + n == len || n < 3 || rules[at + 1] != ' ' ||
		    (rules[at] != 'r' && rules[at] != 'w') ||
		    !filter_is_valid(rules + at + 2, n - 2))
			return false;
		at += n + 1;
	}
	return true;
}

bool policy_allows(const struct record *client, char what,
		   const struct text *topic)
{
	const char *rules = client->rules;

	for (size_t at = 0; at < client->rules_len;) {
		size_t n = line_len(rules + at, client->rules_len - at);

		if (rules[at] == what &&
		    matches(rules + at + 2, n - 2, (const char *)topic->at,
			    topic->len))
			return true;
		at += n + 1;
	}
	return false;
}
