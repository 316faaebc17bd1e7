/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of teehash, as one value. */
#ifndef TEEHASH_OPTIONS_H
#define TEEHASH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <teemark/algorithms.h>

#include "backend.h"

enum hash_mode {
	MODE_AUTO, /* one call if the message fits, else a stream */
	MODE_STREAM,
	MODE_ONESHOT,
	MODE_TMPREF, /* for comparison: plain memory, one buffer */
};

enum reader_kind {
	READER_AUTO,
	READER_THREAD, /* reads ahead while a call is under way */
	READER_INLINE, /* reads between calls */
};

enum report_kind {
	REPORT_NONE,
	REPORT_TEXT,
	REPORT_JSON,
};

enum progress_kind {
	PROGRESS_AUTO, /* if stderr is a terminal */
	PROGRESS_NEVER,
	PROGRESS_ALWAYS,
};

struct options {
	const struct backend *backend;
	const struct algorithm *alg;
	bool alg_given;
	/* as sha256sum's */
	bool check;
	bool binary;
	bool tag;
	bool zero;
	bool ignore_missing;
	bool quiet;
	bool status;
	bool strict;
	bool warn;
	/* our own */
	unsigned int jobs;
	size_t chunk; /* 0: the default of engine.h */
	size_t oneshot_limit;
	enum hash_mode mode;
	enum reader_kind reader;
	bool cold;
	enum report_kind report;
	const char *report_file;
	enum progress_kind progress;

	char **names; /* of argv; "-" if none were given */
	size_t names_count;
};

#define OPTIONS_DONE 1 /* --help, --version: leave with status 0 */

/*
 * 0, OPTIONS_DONE, or after having said on stderr what is wrong: -EINVAL, -EIO
 * (what was asked for can't be shown). The values point into argv.
 */
int options_parse(struct options *opt, int argc, char **argv);

/* "4096", "64K", "1M", "2G" (powers of 1024): 0 or -EINVAL, -ERANGE. */
int parse_size(const char *text, uint64_t *value);

#endif
