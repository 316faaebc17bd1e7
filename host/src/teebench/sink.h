/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records go to stdout or to a file, which is called FILE.partial until all records are in it. A
 * line is written whole or not at all.
 */
#pragma once

#define RECORDS_SCHEMA 1 /* version of the format, docs/run-format.md */

#include "error.h"
#include "json.h"

struct sink {
	int fd;
	char *path, *partial; /* final and temporary name; NULL: stdout */
	off_t good;           /* bytes of whole lines in the file */
	bool regular;         /* a regular file, to be renamed at the end */
	bool hold;            /* keep lines in memory until sink_release() */
	struct json held;     /* the lines that are kept, as text */
	int code;             /* the first error, as -errno, which stays */
};

/* Opens the file `path` for writing, or stdout if `path` is NULL. Returns 0 or -errno. */
int sink_open(struct sink *sink, const char *path, struct error *err);
/* Writes a record and a newline, and resets `record`. Returns 0 or -errno. */
int sink_record(struct sink *sink, struct json *record, struct error *err);
/* Writes the lines that were kept in memory; later lines are written at once. */
int sink_release(struct sink *sink, struct error *err);
/* Closes the file and, if nothing failed, gives it its final name. */
int sink_close(struct sink *sink, struct error *err);
