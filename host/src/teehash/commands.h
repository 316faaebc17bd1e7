/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of teehash; each returns an exit status and prints its messages. */
#pragma once

#include "options.h"

enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	/* A signal asked to stop. main dies of it, and has the last words. */
	STATUS_STOPPED = 3,
};

enum status command_hash(const struct options *opt);
enum status command_check(const struct options *opt);

/* Hashing and checking share this: a run, its report, its lines. */
struct command {
	const struct options *opt;
	struct run run;
	struct report *report; /* may be NULL */
	bool failed;           /* a file could not be hashed, did not match … */
};

/* Begins; `jobs` files can be hashed at a time. Returns 0, or -errno after having said why. */
int command_begin(struct command *command, const struct options *opt, size_t jobs);
/* Hashes all that is asked for. Returns 0, or -errno after having said why. */
int command_work(struct command *command, const struct work *work);
/* Ends the command; ret is what command_begin() or command_work() returned last. */
enum status command_end(struct command *command, int ret);

/* Says why a message could not be hashed. */
void command_complain(struct command *command, const struct message *m);
/*
 * Prints the line of a message, unless a report goes to stdout instead: its verdict (of -c), or,
 * if that is NULL, its digest. Returns 0, or -errno after having said why.
 */
int command_line(const struct command *command, const struct message *m, const char *verdict);
