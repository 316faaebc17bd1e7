/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a list of digests, as sha256sum and cksum write them. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <teemark/algorithms.h>

/* Longest proper line in bytes: an escaped path of 4096 characters, a digest and a tag fit. */
#define LIST_LINE_MAX 16384

struct list_entry {
	const struct algorithm *alg;
	uint8_t digest[ALG_DIGEST_MAX_BYTES];
	char *name; /* unescaped, in list->line */
};

/*
 * A list that is being read. Accepted formats: "hex  name", "hex *name", the reversed BSD format
 * "hex name", and "TITLE (name) = hex"; each with a leading \ if the name is escaped. The first
 * line decides whether the list is in the reversed format.
 */
struct list {
	FILE *in;
	const struct algorithm *untagged; /* algorithm of lines without a tag */
	const struct algorithm *only;     /* lines of others are improper; NULL: all are allowed */
	enum { LIST_UNKNOWN, LIST_STANDARD, LIST_REVERSED } seen;
	int read_error;  /* after LIST_END: errno of the read, or 0 */
	uint64_t number; /* number of the line, from 1 */
	size_t len;      /* length without newline and carriage return */
	char line[LIST_LINE_MAX + 1];
};

enum list_line { LIST_PROPER, LIST_IMPROPER, LIST_END };

/*
 * Parses the next line that is neither empty nor a remark, in place. Memory use is bounded,
 * whatever the file contains. A NUL ends a name, as in sha256sum.
 */
enum list_line list_next(struct list *list, struct list_entry *entry);
