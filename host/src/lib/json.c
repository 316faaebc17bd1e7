/* SPDX-License-Identifier: BSD-2-Clause */
/* Source of grammar and escapes: RFC 8259; of UTF-8: RFC 3629, section 4. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

size_t utf8_length(const void *text, size_t len)
{
	const unsigned char *p = text;
	size_t n;

	if (!len)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (len < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, code points beyond U+10FFFF */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

void json_free(struct json *j)
{
	free(j->text);
	memset(j, 0, sizeof(*j));
}

void json_reset(struct json *j)
{
	j->len = 0;
	j->comma = false;
	j->failed = false;
	if (j->text)
		j->text[0] = '\0';
}

static void put(struct json *j, const char *text, size_t len)
{
	if (j->failed)
		return;
	if (len >= j->cap - j->len) {
		size_t cap = (j->cap + len + 1) * 2;
		char *bigger = realloc(j->text, cap);

		if (!bigger) {
			j->failed = true;
			return;
		}
		j->text = bigger;
		j->cap = cap;
	}
	memcpy(j->text + j->len, text, len);
	j->len += len;
	j->text[j->len] = '\0';
}

static void put_text(struct json *j, const char *text)
{
	put(j, text, strlen(text));
}

static void put_quoted(struct json *j, const void *value, size_t len)
{
	const unsigned char *p = value;
	char escape[8];

	put_text(j, "\"");
	while (len) {
		size_t n = utf8_length(p, len);

		if (!n) {
			put_text(j, "\\ufffd");
			n = 1;
		} else if (*p == '"' || *p == '\\') {
			escape[0] = '\\';
			escape[1] = (char)*p;
			put(j, escape, 2);
		} else if (*p < 0x20 || *p == 0x7f) {
			snprintf(escape, sizeof(escape), "\\u%04x", *p);
			put_text(j, escape);
		} else {
			put(j, (const char *)p, n);
		}
		p += n;
		len -= n;
	}
	put_text(j, "\"");
}

/* Writes what precedes a value: a comma if needed, and the value's key. */
static void begin_value(struct json *j, const char *key)
{
	if (j->comma)
		put_text(j, ",");
	if (key) {
		put_quoted(j, key, strlen(key));
		put_text(j, ":");
	}
	j->comma = true;
}

/* Writes a bracket, or a value without quotes. */
__attribute__((format(printf, 3, 4))) static void put_value(struct json *j, const char *key,
							    const char *fmt, ...)
{
	char text[32];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	begin_value(j, key);
	put_text(j, text);
}

void json_object(struct json *j, const char *key)
{
	put_value(j, key, "{");
	j->comma = false;
}

void json_object_end(struct json *j)
{
	put_text(j, "}");
	j->comma = true;
}

void json_array(struct json *j, const char *key)
{
	put_value(j, key, "[");
	j->comma = false;
}

void json_array_end(struct json *j)
{
	put_text(j, "]");
	j->comma = true;
}

void json_embed(struct json *j, const char *key, const struct json *value)
{
	j->failed = j->failed || value->failed;
	begin_value(j, key);
	put(j, value->text ? value->text : "", value->len);
}

void json_bytes(struct json *j, const char *key, const void *value, size_t len)
{
	begin_value(j, key);
	put_quoted(j, value, len);
}

void json_string(struct json *j, const char *key, const char *value)
{
	json_bytes(j, key, value, strlen(value));
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	put_value(j, key, "%" PRId64, value);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	put_value(j, key, "%" PRIu64, value);
}

void json_double(struct json *j, const char *key, double value)
{
	if (isfinite(value))
		put_value(j, key, "%.15g", value);
	else
		json_null(j, key);
}

void json_bool(struct json *j, const char *key, bool value)
{
	put_value(j, key, "%s", value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	put_value(j, key, "null");
}

void json_i64_or_null(struct json *j, const char *key, int64_t value)
{
	if (value >= 0)
		json_i64(j, key, value);
	else
		json_null(j, key);
}

void json_string_or_null(struct json *j, const char *key, const char *value)
{
	if (value && value[0])
		json_string(j, key, value);
	else
		json_null(j, key);
}
