/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a list of digests, as sha256sum and cksum write them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <teemark/algorithms.h>

/* No proper line is longer: an escaped path of 4096, a digest, a tag. */
#define LIST_LINE_MAX 16384

struct list_entry {
	const struct algorithm *alg;
	uint8_t digest[ALG_DIGEST_MAX_BYTES];
	char *name; /* in the line, unescaped */
};

/*
 * "hex  name", "hex *name", the reversed BSD format "hex name", and
 * "TITLE (name) = hex"; each with a leading \ if the name is escaped. A list
 * is in the reversed format if its first line is.
 */
struct list_format {
	const struct algorithm *untagged; /* of lines without a tag */
	const struct algorithm *only;     /* others are improper; NULL: any */
	enum { LIST_UNKNOWN, LIST_STANDARD, LIST_REVERSED } seen;
};

/*
 * Parses a line, which it changes. Returns false if it is improper. A name ends
 * at a NUL, as for sha256sum.
 */
bool list_parse(struct list_format *format, char *line, size_t length, struct list_entry *entry);

enum list_read {
	LIST_LINE,
	LIST_BAD_LINE, /* too long */
	LIST_END,      /* of the file, or a read error: ask ferror() */
};

/*
 * The next line without its newline (and carriage return); memory stays
 * bounded whatever the file holds. line: LIST_LINE_MAX + 1 characters.
 */
enum list_read list_read(FILE *in, char *line, size_t *len);
