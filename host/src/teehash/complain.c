// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <string.h>

#include "complain.h"
#include "output.h"
#include "progress.h"

void complain_name(const char *name, const char *fmt, ...)
{
	va_list args;

	progress_hide();
	fputs("teehash: ", stderr);
	if (name) {
		name_print_safe(stderr, name);
		fputs(": ", stderr);
	}
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	putc('\n', stderr);
	progress_show();
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
