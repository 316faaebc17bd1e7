// SPDX-License-Identifier: BSD-2-Clause
/* teehash: message digests of files, computed in the TEE. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
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

/* A call that takes longer may never return: loading a TA without supplicant. */
#define PATIENCE_SECONDS 3

static volatile sig_atomic_t first_signal; /* its number; 0: none came */
/* The line that the program writes to stderr if it dies of a signal; NULL if there is none. */
static const char *volatile last_words;

/*
 * Dies of the first signal as if it had never been caught: a shell sees what ended us.
 * Async-signal-safe.
 */
static __attribute__((noreturn)) void die_of_signal(void)
{
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };
	const char *words = last_words;
	sigset_t set;

	/* A terminal that is stopped must not keep the program. */
	if (words && poll(&room, 1, 0) == 1 && write(STDERR_FILENO, words, strlen(words)) < 0)
		errno = 0;
	signal(first_signal, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, first_signal);
	raise(first_signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	_exit(128 + first_signal); /* never reached */
}

static void on_signal(int number)
{
	int before = errno;

	if (number == SIGPIPE) {
		/* The reader of the output has gone: no more is said. */
		first_signal = number;
		last_words = NULL;
	}
	if (first_signal)
		die_of_signal();
	first_signal = number;
	stop_for(number);
	alarm(PATIENCE_SECONDS);
	errno = before;
}

/*
 * Has SIGINT, SIGTERM, SIGHUP and SIGPIPE set the flag of stop.h from now on, and work ends by
 * itself. What doesn't end within three seconds, or at a second signal, is left as it is: the program
 * dies right then.
 */
static void catch_signals(void)
{
	static const int numbers[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction action = { .sa_handler = on_signal }, before;

	/*
	 * SA_RESTART isn't set: a read that waits must end. One handler runs at a time, so that one
	 * alone leaves.
	 */
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&action.sa_mask, numbers[i]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		/* A signal that nohup or a shell had us ignore stays ignored. */
		if (!sigaction(numbers[i], NULL, &before) &&
		    (before.sa_handler != SIG_IGN || numbers[i] == SIGALRM))
			sigaction(numbers[i], &action, NULL);
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
	catch_signals();
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
			last_words = "teehash: interrupted: no report is written\n";
		status = run_command(&opt);
	}
	status = close_stdout(status);
	if (status != STATUS_STOPPED)
		return (int)status;
	die_of_signal();
}
