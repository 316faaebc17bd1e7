/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>

#include "json.h"
#include "output.h"

void hex_encode(char *hex, const uint8_t *bytes, size_t len)
{
	*hex = '\0';
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

static const char escaped[] = "\n\r\\", letters[] = "nr\\";

/* Prints a name as lists have it: newline, carriage return and backslash escaped. */
static void print_escaped(FILE *out, const char *name)
{
	for (; *name; name++) {
		const char *at = strchr(escaped, *name);

		if (at)
			putc('\\', out);
		putc(at ? letters[at - escaped] : *name, out);
	}
}

/* Returns 0, or -errno of a failed write; to be called at once, while errno is set. */
static int written(FILE *out)
{
	return ferror(out) ? -(errno ? errno : EIO) : 0;
}

int line_print(FILE *out, const struct line_style *style, const char *name,
	       const struct algorithm *alg, const uint8_t *digest)
{
	bool escape = !style->zero && strpbrk(name, escaped);
	char hex[HEX_MAX];

	hex_encode(hex, digest, alg->out_bytes);
	errno = 0;
	if (escape)
		putc('\\', out);
	if (style->tag)
		fprintf(out, "%s (", alg->tag);
	else
		fprintf(out, "%s %c", hex, style->binary ? '*' : ' ');
	if (style->zero)
		fputs(name, out);
	else
		print_escaped(out, name);
	if (style->tag)
		fprintf(out, ") = %s", hex);
	putc(style->zero ? '\0' : '\n', out);
	return written(out);
}

int result_print(FILE *out, const char *name, const char *verdict)
{
	errno = 0;
	if (strpbrk(name, escaped))
		putc('\\', out);
	print_escaped(out, name);
	fprintf(out, ": %s\n", verdict);
	return written(out);
}

/* Returns the length of the character at s if a message may contain it unchanged, else 0. */
static size_t printable(const char *s)
{
	size_t len = utf8_length(s, strnlen(s, 4));
	unsigned char c = (unsigned char)s[0];

	/* C0 controls, DEL, and C1 controls encoded in UTF-8 */
	if (c < 0x20 || c == 0x7f || (len == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0))
		return 0;
	return len;
}

void name_print_safe(FILE *out, const char *name)
{
	const char *at = name;
	bool escaping = false; /* within $'…', as a shell and coreutils write it */
	size_t len = 0;

	while (*at && (len = printable(at)))
		at += len;
	if (len && !*at && !strpbrk(name, ": '\"\\")) {
		fputs(name, out);
		return;
	}
	putc('\'', out);
	for (; *name; name += len ? len : 1) {
		len = printable(name);
		if (!len != escaping)
			fputs(escaping ? "''" : "'$'", out);
		escaping = !len;
		if (escaping)
			fprintf(out, "\\%03o", (unsigned char)*name);
		else if (*name == '\'')
			fputs("'\\''", out);
		else
			fwrite(name, 1, len, out);
	}
	putc('\'', out);
}

void complain_name(const char *name, const char *fmt, ...)
{
	va_list args;

	fputs("teehash: ", stderr);
	if (name) {
		name_print_safe(stderr, name);
		fputs(": ", stderr);
	}
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	putc('\n', stderr);
}

void complain_error(const char *name, const struct error *err)
{
	static char last_hint[sizeof(err->hint)];

	complain_name(name, "%s", err->what);
	if (!err->hint[0] || !strcmp(err->hint, last_hint))
		return;
	complain("hint: %s", err->hint);
	memcpy(last_hint, err->hint, sizeof(last_hint));
}
