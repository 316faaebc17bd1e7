/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "list.h"

static const char digits[] = "0123456789abcdefABCDEF";

/* Unescapes a name in place. Returns false if it has an escape that lists don't use. */
static bool unescape(char *name)
{
	static const char from[] = "nr\\", to[] = "\n\r\\";
	char *end = name;

	for (; *name; name++) {
		const char *escape = NULL;

		if (*name == '\\' && (!*++name || !(escape = strchr(from, *name))))
			return false;
		*end++ = escape ? to[escape - from] : *name;
	}
	*end = '\0';
	return true;
}

/* Reads a digest from exactly len hexadecimal digits. */
static bool parse_digest(struct list_entry *entry, const char *hex, size_t len)
{
	size_t bytes = entry->alg->out_bytes;

	if (len != 2 * bytes || strspn(hex, digits) < len)
		return false;
	for (size_t i = 0; i < bytes; i++)
		sscanf(hex + 2 * i, "%2hhx", &entry->digest[i]);
	return true;
}

/* Parses a line's rest after "TITLE": " (name) = hex", or openssl's "(name)= hex". */
static bool parse_tagged(char *rest, const char *end, bool escaped, struct list_entry *entry)
{
	char *close = memrchr(rest, ')', (size_t)(end - rest));

	if (*rest == ' ')
		rest++;
	if (*rest != '(')
		return false;
	entry->name = rest + 1;
	if (!close)
		return false;
	*close = '\0';
	rest = close + 1;
	rest += strspn(rest, " \t");
	if ((escaped && !unescape(entry->name)) || *rest++ != '=')
		return false;
	rest += strspn(rest, " \t");
	return parse_digest(entry, rest, (size_t)(end - rest));
}

static bool parse_untagged(struct list *list, char *line, const char *end, bool escaped,
			   struct list_entry *entry)
{
	size_t len = strspn(line, digits);
	char *rest = line + len;

	entry->alg = list->untagged;
	if (!parse_digest(entry, line, len) || (*rest != ' ' && *rest != '\t'))
		return false;
	rest++;
	/*
	 * In the standard format a marker follows, ' ' or '*'. A list must not mix the two formats,
	 * so that a name that begins with a space can't be passed off as another name.
	 */
	if (list->seen != LIST_REVERSED && (*rest == ' ' || *rest == '*') && rest + 1 < end) {
		list->seen = LIST_STANDARD;
		rest++;
	} else if (list->seen == LIST_STANDARD) {
		return false;
	} else {
		list->seen = LIST_REVERSED;
	}
	entry->name = rest;
	if (escaped && !unescape(rest))
		return false;
	return rest < end;
}

static bool parse(struct list *list, struct list_entry *entry)
{
	const char *end = list->line + list->len;
	char *line = list->line;
	bool escaped = false;
	size_t longest = 0;

	line += strspn(line, " \t");
	if (*line == '\\') {
		escaped = true;
		line++;
	}
	entry->alg = NULL;
	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];
		size_t len = strlen(alg->tag);

		if (alg->class != ALG_DIGEST || strncmp(line, alg->tag, len))
			continue;
		/* The longest matching tag counts, and a tag ends at ' ' or '('. */
		if ((line[len] == ' ' || line[len] == '(') && len > longest) {
			entry->alg = alg;
			longest = len;
		}
	}
	if (!entry->alg)
		return parse_untagged(list, line, end, escaped, entry);
	if (list->only && entry->alg != list->only)
		return false;
	return parse_tagged(line + longest, end, escaped, entry);
}

/* Reads a line; returns false at the end of the list. *whole is false if the line is too long. */
static bool read_line(struct list *list, bool *whole)
{
	size_t n = 0;
	int c;

	*whole = true;
	while ((c = getc(list->in)) != EOF && c != '\n') {
		if (n == LIST_LINE_MAX)
			*whole = false;
		else
			list->line[n++] = (char)c;
	}
	if (c == EOF && (ferror(list->in) || (!n && *whole)))
		return false;
	if (n && list->line[n - 1] == '\r')
		n--;
	list->line[n] = '\0';
	list->len = n;
	list->number++;
	return true;
}

enum list_line list_next(struct list *list, struct list_entry *entry)
{
	bool whole;

	do {
		errno = 0;
		if (!read_line(list, &whole)) {
			if (ferror(list->in))
				list->read_error = errno ? errno : EIO;
			return LIST_END;
		}
	} while (whole && (!list->len || list->line[0] == '#'));
	/* Standard input can't be hashed while the list itself is read from it. */
	return whole && parse(list, entry) && !(list->in == stdin && !strcmp(entry->name, "-")) ?
		       LIST_PROPER :
		       LIST_IMPROPER;
}
