/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records go to stdout, or to a file that is called FILE.partial until it is whole. A line is
 * written in one piece or not at all.
 */
#pragma once

#define RECORDS_SCHEMA 1 /* of the records, docs/run-format.md */

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"
#include "json.h"

struct sink {
	int fd;
	char *path, *partial; /* NULL: stdout */
	off_t good;           /* bytes of whole lines, of a file */
	bool regular;         /* to be renamed when whole */
	bool hold;            /* keep lines in memory */
	struct json held;     /* (used as a text buffer) */
	int code;             /* the first error, for ever */
};

/* Opens a file; path NULL: stdout. */
int sink_open(struct sink *sink, const char *path, struct error *err);
/* A record and its newline. The writer is reset. */
int sink_record(struct sink *sink, struct json *record, struct error *err);
/* Writes what was held back, and holds no more. */
int sink_release(struct sink *sink, struct error *err);
/* The file gets its name, when nothing failed. */
int sink_close(struct sink *sink, struct error *err);
