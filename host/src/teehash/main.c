/* SPDX-License-Identifier: BSD-2-Clause */
/* teehash computes message digests of files in the TEE. */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "commands.h"
#include "stop.h"

/*
 * Opens standard descriptors that are closed, so that reads and writes on them fail. Otherwise the
 * next file opened, such as the TEE's device, would get such a descriptor and receive our output.
 */
static int fill_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -EBADF;
	return 0;
}

/* Seconds for the work to end after a signal: a call that loads a TA may never return. */
#define PATIENCE_SECONDS 3

static volatile sig_atomic_t first_signal; /* signal's number; 0: none came */
/* The line that the program writes to stderr if it dies of a signal; NULL if there is none. */
static const char *volatile last_words;

/*
 * Dies of the first signal as if it had not been caught, so that a shell sees the signal.
 * Async-signal-safe.
 */
static __attribute__((noreturn)) void die_of_signal(void)
{
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };
	const char *words = last_words;
	sigset_t set;

	/* Don't wait for a terminal that is stopped. */
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
		/* On SIGPIPE nobody reads the output any more, so nothing is printed. */
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
 * Catches SIGINT, SIGTERM, SIGHUP and SIGPIPE: the first signal sets the flag of stop.h, and work
 * ends in order. If it hasn't ended after PATIENCE_SECONDS, or a second signal comes, the program
 * dies at once.
 */
static void catch_signals(void)
{
	static const int numbers[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP, SIGPIPE, 0 };

	signal(SIGALRM, SIG_DFL); /* alarm() is ours, whoever ignored it */
	stop_on_signals(numbers, on_signal);
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

/* Closes stdout and reports a failed write: a full disk may show only here. */
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
	/*
	 * stdout is line-buffered, as in sha256sum: lines of several programs in one file don't
	 * mix.
	 */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (options_parse(&opt, argc, argv, &err)) {
		if (err.what[0])
			complain("%s", err.what);
		fputs("Try 'teehash --help' for more information.\n", stderr);
	} else {
		if (opt.report != REPORT_NONE)
			last_words = "teehash: interrupted: no report is written\n";
		status = run_command(&opt);
	}
	status = close_stdout(status);
	if (status != STATUS_STOPPED)
		return (int)status;
	die_of_signal();
}
