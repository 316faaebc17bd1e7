/* SPDX-License-Identifier: BSD-2-Clause */
/* What teehash does; each returns an exit status and prints its messages. */
#ifndef TEEHASH_COMMANDS_H
#define TEEHASH_COMMANDS_H

#include "jobs.h"
#include "options.h"
#include "report.h"

/* What both share. */
struct command {
	const struct options *opt;
	struct report *report; /* may be NULL */
	struct progress progress;
	struct error said; /* whose hint was given last */
	bool failed;       /* a file could not be hashed, or did not match */
};

int command_hash(struct command *command);
int command_check(struct command *command);

/*
 * Runs the jobs, then the report; an exit status. Whatever is wrong with a
 * single file is the business of jobs->done().
 */
int command_run(struct command *command, struct jobs *jobs, size_t at_most);

/* After each line on stdout: 0, or -EIO after having said why. */
int command_stdout(void);

/* The reason why a file could not be hashed, on stderr. */
void command_complain(struct command *command, const struct job *job);

#endif
