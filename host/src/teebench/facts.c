/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"

void fact_unknown(struct facts *f, const char *name, const char *why)
{
	char key[128];

	snprintf(key, sizeof(key), "%s.%s", f->group, name);
	json_null(f->json, name);
	json_string(&f->reasons, key, why ? why : "");
}

void fact_string(struct facts *f, const char *name, const char *value, const char *why_not)
{
	if (value && value[0])
		json_string(f->json, name, value);
	else
		fact_unknown(f, name, why_not);
}

void fact_list(struct facts *f, const char *name, const char *lines, const char *why_not)
{
	if ((!lines || !lines[0]) && why_not) {
		fact_unknown(f, name, why_not);
		return;
	}
	json_array(f->json, name);
	while (lines && *lines) {
		size_t len = strcspn(lines, "\n");

		json_bytes(f->json, NULL, lines, len);
		lines += len + (lines[len] == '\n');
	}
	json_array_end(f->json);
}

/*
 * Returns the path at which to read a file of /proc, /sys, /boot or /lib: below the folder in the
 * environment variable TEEBENCH_ROOT if tests set it, otherwise `path`. The next call may overwrite
 * the text.
 */
static const char *facts_path(const char *path)
{
	static char whole[PATH_MAX];
	const char *root = getenv("TEEBENCH_ROOT");

	if (!root || !*root)
		return path;
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return whole;
}

/* Returns up to `max` bytes of a stream, without blanks at the end; NULL with errno. */
static char *read_stream(FILE *stream, size_t max)
{
	char *text = malloc(max + 1);
	size_t len = text ? fread(text, 1, max, stream) : 0;

	if (!text || ferror(stream)) {
		free(text);
		return NULL;
	}
	/* A string of the device tree ends in a NUL; a list of strings has NULs between them. */
	while (len && (!text[len - 1] || strchr(" \t\r\n", text[len - 1])))
		len--;
	for (size_t i = 0; i < len; i++)
		if (!text[i])
			text[i] = '\n';
	text[len] = '\0';
	return text;
}

char *read_whole(const char *path, size_t max)
{
	FILE *file = fopen(facts_path(path), "re");
	char *text = file ? read_stream(file, max) : NULL;
	int code = errno;

	if (file)
		fclose(file);
	errno = code;
	return text;
}

char *read_output(const char *command, size_t max)
{
	char shell[512];
	FILE *pipe;
	char *text;

	snprintf(shell, sizeof(shell), "{ %s; } 2>/dev/null", command);
	pipe = popen(shell, "re");
	text = pipe ? read_stream(pipe, max) : NULL;
	if (pipe)
		pclose(pipe);
	return text;
}

char *read_line(const char *path)
{
	char *text = read_whole(path, 4096);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

bool read_number(const char *path, int64_t *value)
{
	char *text = read_line(path), *end = text;
	bool ok = false;

	if (text) {
		errno = 0;
		*value = strtoll(text, &end, 0);
		ok = !errno && end != text && !*end;
	}
	free(text);
	return ok;
}

const char *cannot_read(const char *path)
{
	static char text[256];

	snprintf(text, sizeof(text), "cannot read %s: %s", path, strerror(errno));
	return text;
}

void lines_add(struct lines *lines, const char *fmt, ...)
{
	char *line, *all;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (n < 0)
		return; /* without memory, the line is left out */
	n = asprintf(&all, "%s%s%s", lines->text ? lines->text : "", lines->text ? "\n" : "", line);
	free(line);
	if (n < 0)
		return;
	free(lines->text);
	lines->text = all;
}

void fact_lines(struct facts *f, const char *name, struct lines *lines, const char *why_not)
{
	fact_list(f, name, lines->text, why_not);
	free(lines->text);
}

bool line_value(const char *text, const char *name, char *value, size_t size)
{
	size_t len = strlen(name);

	for (const char *at = text; at && (at = strstr(at, name)); at += len) {
		const char *p = at + len + strspn(at + len, " \t");

		if ((at > text && at[-1] != '\n') || (*p != ':' && *p != '='))
			continue;
		p += 1 + strspn(p + 1, " \t");
		snprintf(value, size, "%.*s", (int)strcspn(p, "\n"), p);
		return true;
	}
	return false;
}
