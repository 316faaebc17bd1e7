// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "output.h"
#include "utf8.h"

void hex_encode(char *hex, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*hex++ = digits[bytes[i] >> 4];
		*hex++ = digits[bytes[i] & 15];
	}
	*hex = '\0';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool hex_decode(uint8_t *bytes, size_t len, const char *hex)
{
	for (size_t i = 0; i < len; i++) {
		int high = hex_value(hex[2 * i]);
		int low = high < 0 ? -1 : hex_value(hex[2 * i + 1]);

		if (low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static void print_escaped(FILE *out, const char *name)
{
	for (; *name; name++) {
		switch (*name) {
		case '\n':
			fputs("\\n", out);
			break;
		case '\r':
			fputs("\\r", out);
			break;
		case '\\':
			fputs("\\\\", out);
			break;
		default:
			putc(*name, out);
			break;
		}
	}
}

static bool must_escape(const char *name)
{
	return strpbrk(name, "\\\n\r");
}

/* The stream is asked at once: errno is still that of its write. */
static int written(FILE *out)
{
	return ferror(out) ? -(errno ? errno : EIO) : 0;
}

int line_print(FILE *out, const struct line_style *style, const char *name,
	       const struct algorithm *alg, const uint8_t *digest)
{
	bool escape = !style->zero && must_escape(name);
	char hex[HEX_MAX];

	hex_encode(hex, digest, alg->out_bytes);
	errno = 0;
	if (escape)
		putc('\\', out);
	if (style->tag)
		fprintf(out, "%s (", alg->tag);
	else
		fprintf(out, "%s %c", hex, style->binary ? '*' : ' ');
	if (escape)
		print_escaped(out, name);
	else
		fputs(name, out);
	if (style->tag)
		fprintf(out, ") = %s", hex);
	putc(style->zero ? '\0' : '\n', out);
	return written(out);
}

int result_print(FILE *out, const char *name, const char *verdict)
{
	errno = 0;
	/* As a list has it, so that no name looks like another. */
	if (must_escape(name)) {
		putc('\\', out);
		print_escaped(out, name);
	} else {
		fputs(name, out);
	}
	fprintf(out, ": %s\n", verdict);
	return written(out);
}

/* The length of what can stand in a message as it is; 0: it can't. */
static size_t printable(const char *s)
{
	size_t len = utf8_length(s, strnlen(s, 4));
	unsigned char c = (unsigned char)s[0];

	/* C0, DEL, and C1 as encoded in UTF-8. */
	if (c < 0x20 || c == 0x7f ||
	    (len == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0))
		return 0;
	return len;
}

static bool name_is_plain(const char *name)
{
	if (!*name || strpbrk(name, ": '\"\\"))
		return false;
	while (*name) {
		size_t len = printable(name);

		if (!len)
			return false;
		name += len;
	}
	return true;
}

void name_print_safe(FILE *out, const char *name)
{
	if (name_is_plain(name)) {
		fputs(name, out);
		return;
	}
	putc('\'', out);
	while (*name) {
		size_t len = printable(name);

		if (*name == '\\' || *name == '\'')
			putc('\\', out);
		if (len)
			fwrite(name, 1, len, out);
		else
			fprintf(out, "\\%03o", (unsigned char)*name);
		name += len ? len : 1;
	}
	putc('\'', out);
}
