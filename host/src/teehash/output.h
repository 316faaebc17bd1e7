/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of sha256sum: digest lines, results of a check, messages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <teemark/algorithms.h>

#include "error.h"

struct line_style {
	bool tag;    /* "SHA256 (name) = hex" */
	bool binary; /* "*name" instead of " name" */
	bool zero;   /* NUL at the end, nothing escaped */
};

#define HEX_MAX (2 * ALG_DIGEST_MAX_BYTES + 1)

/* Writes hexadecimal digits; `hex` has room for 2 * len + 1 characters. */
void hex_encode(char *hex, const uint8_t *bytes, size_t len);

/* These two return 0, or the -errno of a write. */
int line_print(FILE *out, const struct line_style *style, const char *name,
	       const struct algorithm *alg, const uint8_t *digest);
/* Prints "name: verdict", as sha256sum -c does. */
int result_print(FILE *out, const char *name, const char *verdict);

/* Prints a name for a message: control characters and invalid UTF-8 as \ooo, in quotes. */
void name_print_safe(FILE *out, const char *name);
/*
 * Prints "teehash: NAME: …" as a line on stderr, without NAME if it is NULL; in NAME what would
 * upset a terminal is escaped.
 */
void complain_name(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define complain(...) complain_name(NULL, __VA_ARGS__)
/*
 * Does the same for an error; name may be NULL. Its hint follows, unless it is the one given last.
 */
void complain_error(const char *name, const struct error *err);
