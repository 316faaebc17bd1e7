// SPDX-License-Identifier: BSD-2-Clause
/* teehash: message digests of files, computed in the TEE. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "signals.h"
#include "stop.h"

/*
 * Opens the standard descriptors that are closed: the next file that is opened would get theirs,
 * and lines would go there, to the TEE's device, say. They get a file that refuses instead.
 */
static int fill_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -EBADF;
	return 0;
}

static void show_help(void)
{
	fputs(options_help, stdout);
	fputs("\nAlgorithms:", stdout);
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].class == ALG_DIGEST)
			printf(" %s", algorithms[i].name);
	fputs("\nBackends:  ", stdout);
	for (const struct backend *const *b = backends; *b; b++)
		if ((*b)->digest)
			printf(" %s", (*b)->name);
	putchar('\n');
}

static void show_list(void)
{
	for (const struct backend *const *b = backends; *b; b++) {
		struct error err = { 0 };

		if (!(*b)->digest)
			continue;
		if (backend_probe(*b, &err))
			printf("%-8s not here: %s\n", (*b)->name, err.what);
		else
			printf("%-8s %s\n", (*b)->name, (*b)->summary);
	}
}

static enum status run_command(const struct options *opt)
{
	switch (opt->command) {
	case COMMAND_HASH:
		return command_hash(opt);
	case COMMAND_CHECK:
		return command_check(opt);
	case COMMAND_HELP:
		show_help();
		break;
	case COMMAND_VERSION:
		printf("teehash %s\n", TEEMARK_VERSION);
		break;
	case COMMAND_LIST:
		show_list();
		break;
	}
	if (!fflush(stdout) && !ferror(stdout))
		return STATUS_OK;
	complain("write error: %s", strerror(errno));
	return STATUS_FAILED;
}

/* Closes stdout. Nothing may be lost unseen: a full disk shows at the last write. */
static enum status close_stdout(enum status status)
{
	bool said = ferror(stdout);

	if (!fclose(stdout) || status == STATUS_STOPPED)
		return status || !said ? status : STATUS_FAILED;
	if (!said)
		complain("write error: %s", strerror(errno));
	return status ? status : STATUS_FAILED;
}

int main(int argc, char **argv)
{
	struct error err = { 0 };
	struct options opt;
	enum status status = STATUS_USAGE;

	if (fill_descriptors())
		return STATUS_FAILED;
	signals_setup();
	/* A line at a time, as sha256sum: what several programs write to one
	 * file does not mix.
	 */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (options_parse(&opt, argc, argv, &err)) {
		if (err.what[0])
			complain("%s", err.what);
		fputs("Try 'teehash --help' for more information.\n", stderr);
	} else {
		if (opt.report.kind != REPORT_NONE)
			signals_last_words("teehash: interrupted: no report is written\n");
		status = run_command(&opt);
	}
	status = close_stdout(status);
	if (status != STATUS_STOPPED)
		return (int)status;
	signals_die();
}
