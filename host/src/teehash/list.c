// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "list.h"

static const char digits[] = "0123456789abcdefABCDEF";

/* Unescapes in place. Returns false if an escape is none of ours. */
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

/* Reads the digest of exactly len digits at hex. */
static bool parse_digest(struct list_entry *entry, const char *hex, size_t len)
{
	size_t bytes = entry->alg->out_bytes;

	if (len != 2 * bytes || strspn(hex, digits) < len)
		return false;
	for (size_t i = 0; i < bytes; i++)
		sscanf(hex + 2 * i, "%2hhx", &entry->digest[i]);
	return true;
}

/* Parses what follows "TITLE": " (name) = hex", also "(name)= hex" as openssl writes it. */
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

static bool parse_untagged(struct list_format *format, char *line, const char *end, bool escaped,
			   struct list_entry *entry)
{
	size_t len = strspn(line, digits);
	char *rest = line + len;

	entry->alg = format->untagged;
	if (!parse_digest(entry, line, len) || (*rest != ' ' && *rest != '\t'))
		return false;
	rest++;
	/*
	 * A marker, ' ' or '*', follows in the standard format. The two formats don't mix, so that
	 * a name that begins with a space can't be passed off as another.
	 */
	if (format->seen != LIST_REVERSED && (*rest == ' ' || *rest == '*') && rest + 1 < end) {
		format->seen = LIST_STANDARD;
		rest++;
	} else if (format->seen == LIST_STANDARD) {
		return false;
	} else {
		format->seen = LIST_REVERSED;
	}
	entry->name = rest;
	if (escaped && !unescape(rest))
		return false;
	return rest < end;
}

bool list_parse(struct list_format *format, char *line, size_t length, struct list_entry *entry)
{
	const char *end = line + length;
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
		/* No tag ends where another goes on. */
		if ((line[len] == ' ' || line[len] == '(') && len > longest) {
			entry->alg = alg;
			longest = len;
		}
	}
	if (!entry->alg)
		return parse_untagged(format, line, end, escaped, entry);
	if (format->only && entry->alg != format->only)
		return false;
	return parse_tagged(line + longest, end, escaped, entry);
}

enum list_read list_read(FILE *in, char *line, size_t *len)
{
	bool bad = false;
	size_t n = 0;
	int c;

	while ((c = getc(in)) != EOF && c != '\n') {
		if (n == LIST_LINE_MAX)
			bad = true;
		else
			line[n++] = (char)c;
	}
	if (c == EOF && (ferror(in) || (!n && !bad)))
		return LIST_END;
	if (n && line[n - 1] == '\r')
		n--;
	line[n] = '\0';
	*len = n;
	return bad ? LIST_BAD_LINE : LIST_LINE;
}
