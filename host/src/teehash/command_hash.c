// SPDX-License-Identifier: BSD-2-Clause
/* The digests of the files of the command line. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "output.h"
#include "teehash.h"

struct hash {
	struct command *command;
	struct line_style style;
	size_t next; /* place in the names */
};

static int next_name(void *ctx, struct job *job)
{
	struct hash *hash = ctx;
	const struct options *opt = hash->command->opt;

	if (hash->next == opt->names_count)
		return 0;
	job->name = opt->names[hash->next++];
	job->alg = opt->alg;
	return 1;
}

static int job_done(void *ctx, struct job *job)
{
	struct hash *hash = ctx;
	struct command *command = hash->command;

	report_job(command->report, job, NULL);
	if (job->ret) {
		command->failed = true;
		command_complain(command, job);
		/* What this machine can't do is the same for every file. */
		return job->err.skip ? job->ret : 0;
	}
	if (report_takes_stdout(command->report))
		return 0;
	progress_hide();
	line_print(stdout, &hash->style, job->name, job->alg, job->digest);
	return command_stdout();
}

static void after(void *ctx, struct engine *engine)
{
	struct hash *hash = ctx;

	report_after(hash->command->report, engine);
}

/* All bytes that are to come; 0 when a pipe is among the files. */
static uint64_t total_bytes(const struct options *opt)
{
	uint64_t total = 0;
	struct stat st;

	for (size_t i = 0; i < opt->names_count; i++) {
		const char *name = opt->names[i];

		if (strcmp(name, "-") ? stat(name, &st) :
					fstat(STDIN_FILENO, &st))
			continue;
		if (S_ISREG(st.st_mode))
			total += (uint64_t)st.st_size;
		else if (!S_ISDIR(st.st_mode))
			return 0;
	}
	return total;
}

int command_hash(struct command *command)
{
	const struct options *opt = command->opt;
	struct hash hash = {
		.command = command,
		.style = {
			.tag = opt->tag,
			.binary = opt->binary,
			.zero = opt->zero,
		},
	};
	struct jobs jobs = {
		.next = next_name,
		.done = job_done,
		.after = command->report ? after : NULL,
		.ctx = &hash,
	};
	bool on = opt->progress == PROGRESS_ALWAYS ||
		  (opt->progress == PROGRESS_AUTO && isatty(STDERR_FILENO));

	progress_begin(&command->progress, on, on ? total_bytes(opt) : 0);
	return command_run(command, &jobs, opt->names_count);
}
