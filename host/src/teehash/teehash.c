// SPDX-License-Identifier: BSD-2-Clause
/* teehash: message digests of files, computed in the TEE. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "outfile.h"
#include "output.h"
#include "teehash.h"
#include "trace.h"

/* Written by a signal handler, read by all threads. */
static atomic_int signal_number;

/*
 * Work ends by itself after the call that is under way. What does not within
 * this time sits in a call that may never return, such as loading a TA without
 * a supplicant.
 */
#define PATIENCE_SECONDS 3

/* Right now, from wherever the program is: async-signal-safe. */
static void leave(void) __attribute__((noreturn));

static void leave(void)
{
	progress_abandon();
	outfile_abandon();
	trace_abandon();
	_exit(STATUS_SIGNAL + signal_number);
}

static void on_signal(int number)
{
	int before = errno;

	if (signal_number)
		leave();
	signal_number = number;
	alarm(PATIENCE_SECONDS);
	errno = before;
}

static void on_alarm(int number)
{
	(void)number;
	leave();
}

int interrupted(void)
{
	return signal_number;
}

void interrupt_setup(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction before;

	/*
	 * No SA_RESTART: a read that waits must end. One handler at a time, so
	 * that one alone leaves.
	 */
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGALRM);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&action.sa_mask, numbers[i]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* What nohup or a shell had us ignore stays ignored. */
		if (!sigaction(numbers[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
	/* A closed pipe is an error of write(), with a message. */
	signal(SIGPIPE, SIG_IGN);
}

void interrupt_exit(void)
{
	/*
	 * Another thread may be printing: it comes to the end of its line, and
	 * no further.
	 */
	flockfile(stdout);
	flockfile(stderr);
	outfile_lock();
	fflush(stdout);
	leave();
}

void complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs(PROGRAM ": ", stderr);
	vfprintf(stderr, fmt, args);
	putc('\n', stderr);
	va_end(args);
}

void complain_name(const char *name, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs(PROGRAM ": ", stderr);
	name_print_safe(stderr, name);
	fputs(": ", stderr);
	vfprintf(stderr, fmt, args);
	putc('\n', stderr);
	va_end(args);
}

void complain_error(const char *name, const struct error *err,
		    struct error *said)
{
	if (name)
		complain_name(name, "%s", err->what);
	else
		complain("%s", err->what);
	if (!err->hint[0] || (said && !strcmp(err->hint, said->hint)))
		return;
	complain("hint: %s", err->hint);
	if (said)
		*said = *err;
}

int command_stdout(void)
{
	if (!ferror(stdout))
		return 0;
	progress_hide();
	/* errno is that of the write, nothing came between. */
	complain("write error: %s", strerror(errno));
	return -EIO;
}

void command_complain(struct command *command, const struct job *job)
{
	progress_hide();
	complain_error(job->name, &job->err, &command->said);
}

/* Is there a CPU for a reader thread beside each worker? */
static bool reader_thread(const struct options *opt, unsigned int workers)
{
	cpu_set_t cpus;

	if (opt->mode == MODE_TMPREF || opt->reader == READER_INLINE)
		return false;
	if (opt->reader == READER_THREAD)
		return true;
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return false;
	return CPU_COUNT(&cpus) >= 2 * (int)workers;
}

int command_run(struct command *command, struct jobs *jobs, size_t at_most)
{
	const struct options *opt = command->opt;
	struct jobs_stats stats;
	struct error err = { 0 };
	int status = STATUS_OK;
	int ret;

	jobs->progress = &command->progress;
	jobs->workers = opt->jobs < at_most ? opt->jobs : (unsigned int)at_most;
	if (!jobs->workers)
		jobs->workers = 1;
	jobs->config = (struct engine_config){
		.backend = opt->backend,
		.chunk = opt->chunk,
		.oneshot_limit = opt->oneshot_limit,
		.mode = opt->mode,
		.reader_thread = reader_thread(opt, jobs->workers),
		.cold = opt->cold,
		.ask_page_cache = command->report,
		.counter = report_counter(command->report),
	};
	ret = jobs_run(jobs, &stats, &err);
	progress_end(&command->progress);
	/* Errors of done() have been printed, interruptions need no words. */
	if (ret && ret != -EINTR && err.code)
		complain_error(NULL, &err, &command->said);
	if (ret || command->failed)
		status = STATUS_FAILED;
	memset(&err, 0, sizeof(err));
	if (report_end(command->report, &stats, !ret, &err)) {
		complain_error(NULL, &err, NULL);
		status = STATUS_FAILED;
	}
	if (ret == -EINTR && interrupted())
		status = STATUS_SIGNAL + interrupted();
	return status;
}

/*
 * A standard descriptor that is closed would be given to the next file that is
 * opened, and lines would go there: into a report, or to the TEE's device. It
 * gets a file that refuses instead.
 */
static int fill_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null",
			 fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -EBADF;
	return 0;
}

/* Nothing may be lost unseen: a full disk shows at the last write. */
static int close_stdout(int status)
{
	bool failed = ferror(stdout);

	if (!fclose(stdout))
		return failed && !status ? STATUS_FAILED : status;
	if (!failed)
		complain("write error: %s", strerror(errno));
	return status ? status : STATUS_FAILED;
}

int main(int argc, char **argv)
{
	struct command command = { 0 };
	struct options opt;
	struct error err = { 0 };
	int status = STATUS_OK;
	int ret;

	if (fill_descriptors())
		return STATUS_FAILED;
	interrupt_setup();
	ret = options_parse(&opt, argc, argv);
	if (ret)
		return close_stdout(ret == OPTIONS_DONE ? STATUS_OK :
				    ret == -EIO         ? STATUS_FAILED :
							  STATUS_USAGE);
	/* A line at a time, as sha256sum: what several programs write to one
	 * file does not mix.
	 */
	setvbuf(stdout, NULL, _IOLBF, 0);
	command.opt = &opt;
	if (report_begin(&command.report, &opt, &err)) {
		if (!interrupted())
			complain_error(NULL, &err, NULL);
		return close_stdout(interrupted() ?
					    STATUS_SIGNAL + interrupted() :
					    STATUS_FAILED);
	}
	status = opt.check ? command_check(&command) : command_hash(&command);
	/* A report that came to no end is not left half written. */
	outfile_abandon();
	return close_stdout(status);
}
