/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of teehash; each prints its own messages and returns an exit status. */
#pragma once

#include "options.h"

enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	/* A signal asked to stop. main() prints the last words and dies of that signal. */
	STATUS_STOPPED = 3,
};

enum status command_hash(const struct options *opt);
enum status command_check(const struct options *opt);

/* A run and its report, which both hashing and checking have. */
struct command {
	const struct options *opt;
	struct run run;
	struct report *report; /* may be NULL */
	bool failed;           /* a file could not be hashed, did not match … */
};

/* Begins a command for up to `jobs` files at once. Returns 0, or -errno after printing why. */
int command_begin(struct command *command, const struct options *opt, size_t jobs);
/* Hashes all messages of `work`. Returns 0, or -errno after printing the reason. */
int command_work(struct command *command, const struct work *work);
/* Ends the command; ret is what command_begin() or command_work() returned last. */
enum status command_end(struct command *command, int ret);

/* Prints why a message could not be hashed. */
void command_complain(struct command *command, const struct message *m);
/*
 * Prints a message's line, unless a JSON report goes to stdout instead: its verdict (with -c) or,
 * if `verdict` is NULL, its digest. Returns 0, or -errno after printing the reason.
 */
int command_line(const struct command *command, const struct message *m, const char *verdict);
