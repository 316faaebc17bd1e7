// SPDX-License-Identifier: BSD-2-Clause
/* The digests of the files of the command line. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"

struct hash {
	struct command command;
	size_t next; /* place in the names */
};

static int next_name(void *ctx, struct message *m)
{
	struct hash *hash = ctx;
	const struct options *opt = hash->command.opt;

	if (hash->next == opt->names_count)
		return 0;
	m->name = opt->names[hash->next++];
	m->alg = opt->alg;
	return 1;
}

static int done(void *ctx, struct message *m)
{
	struct hash *hash = ctx;
	struct command *command = &hash->command;

	if (m->ret == -EINTR)
		return m->ret;
	report_file(command->report, m, NULL);
	if (m->ret) {
		command_complain(command, m);
		/* What this machine can't do is the same for every file. */
		return m->err.skip ? m->ret : 0;
	}
	if (!command_line_begin(command))
		return 0;
	return command_line_end(line_print(stdout, &command->opt->style,
					   m->name, m->alg, m->digest));
}

/* Returns how many bytes are to come, 0 if a pipe is among the files. */
static uint64_t total_bytes(const struct options *opt, bool *pipes)
{
	uint64_t total = 0;
	struct stat st;

	*pipes = false;
	for (size_t i = 0; i < opt->names_count; i++) {
		if (source_is_shared(opt->names[i]))
			*pipes = true;
		else if (!stat(opt->names[i], &st) && S_ISREG(st.st_mode))
			total += (uint64_t)st.st_size;
	}
	return *pipes ? 0 : total;
}

enum status command_hash(const struct options *opt)
{
	struct hash hash = { .next = 0 };
	const struct work work = { next_name, done, &hash };
	bool pipes;
	uint64_t total = total_bytes(opt, &pipes);
	int ret = command_begin(&hash.command, opt,
				pipes ? 1 : opt->names_count, total);

	if (!ret)
		ret = command_work(&hash.command, &work);
	return command_end(&hash.command, ret);
}
