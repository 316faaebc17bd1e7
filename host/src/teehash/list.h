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
 * A list that is read: "hex  name", "hex *name", the reversed BSD format "hex name", and
 * "TITLE (name) = hex"; each with a leading \ if the name is escaped. A list
 * is in the reversed format if its first line is.
 */
struct list {
	FILE *in;
	const struct algorithm *untagged; /* of lines without a tag */
	const struct algorithm *only;     /* others are improper; NULL: any */
	enum { LIST_UNKNOWN, LIST_STANDARD, LIST_REVERSED } seen;
	int read_error;  /* an errno, after LIST_END */
	uint64_t number; /* of the line */
	size_t len;      /* without its newline and carriage return */
	char line[LIST_LINE_MAX + 1];
};

enum list_line { LIST_PROPER, LIST_IMPROPER, LIST_END };

/*
 * Parses the next line that isn't empty or a remark, and changes it; memory stays bounded whatever
 * the file holds. A name ends at a NUL, as for sha256sum.
 */
enum list_line list_next(struct list *list, struct list_entry *entry);
