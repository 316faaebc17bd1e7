// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "outfile.h"
#include "progress.h"
#include "signals.h"
#include "stop.h"
#include "trace.h"

/* A call that takes longer may never return: loading a TA without supplicant. */
#define PATIENCE_SECONDS 3

static volatile sig_atomic_t first; /* the signal that came first; 0: none */
static const char *volatile last_words;

void signals_last_words(const char *line)
{
	last_words = line;
}

void signals_die_of(int number)
{
	sigset_t set;

	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	_exit(128 + number); /* never reached */
}

/* Right now, from wherever the program is: async-signal-safe. */
static void leave(void) __attribute__((noreturn));

static void leave(void)
{
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };
	const char *words = last_words;

	progress_abandon();
	outfile_abandon();
	trace_abandon();
	/* A terminal that is stopped must not keep the program. */
	if (words && poll(&room, 1, 0) == 1 &&
	    write(STDERR_FILENO, words, strlen(words)) < 0)
		errno = 0;
	signals_die_of(first);
}

static void on_signal(int number)
{
	int before = errno;

	if (first)
		leave();
	first = number;
	stop_by_signal(number);
	alarm(PATIENCE_SECONDS);
	errno = before;
}

static void on_alarm(int number)
{
	(void)number;
	leave();
}

void signals_setup(void)
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
