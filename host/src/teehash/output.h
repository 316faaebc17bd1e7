/* SPDX-License-Identifier: BSD-2-Clause */
/* The output of sha256sum: digest lines, results of a check, messages. */
#pragma once

#include <teemark/algorithms.h>

#include "error.h"

struct line_style {
	bool tag;    /* "SHA256 (name) = hex" */
	bool binary; /* "*name" instead of " name" */
	bool zero;   /* lines end with NUL, names aren't escaped */
};

#define HEX_MAX (2 * ALG_DIGEST_MAX_BYTES + 1)

/* Writes len bytes in hexadecimal; `hex` has room for 2 * len + 1 characters. */
void hex_encode(char *hex, const uint8_t *bytes, size_t len);

/* line_print() and result_print() return 0, or -errno if the write failed. */
int line_print(FILE *out, const struct line_style *style, const char *name,
	       const struct algorithm *alg, const uint8_t *digest);
/* Prints "name: verdict", as sha256sum -c does. */
int result_print(FILE *out, const char *name, const char *verdict);

/* Prints a name in quotes, with control characters and invalid UTF-8 as \ooo. */
void name_print_safe(FILE *out, const char *name);
/*
 * Prints "teehash: NAME: …" as a line to stderr, with NAME escaped for a terminal. A NULL name is
 * left out.
 */
void complain_name(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define complain(...) complain_name(NULL, __VA_ARGS__)
/*
 * Prints an error in the same way; name may be NULL. The error's hint follows, unless it was also
 * the last hint printed.
 */
void complain_error(const char *name, const struct error *err);
