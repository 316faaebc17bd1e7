// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"
#include "stop.h"

/* A call that takes longer may never return: loading a TA without supplicant. */
#define PATIENCE_SECONDS 3

static volatile sig_atomic_t first; /* the signal that came first; 0: none */
static const char *volatile last_words;

void signals_last_words(const char *line)
{
	last_words = line;
}

void signals_die(void)
{
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };
	const char *words = last_words;
	sigset_t set;

	/* A terminal that is stopped must not keep the program. */
	if (words && poll(&room, 1, 0) == 1 && write(STDERR_FILENO, words, strlen(words)) < 0)
		errno = 0;
	signal(first, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, first);
	raise(first);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	_exit(128 + first); /* never reached */
}

static void on_signal(int number)
{
	int before = errno;

	if (number == SIGPIPE) {
		/* The reader of the output has gone: no more is said. */
		first = number;
		last_words = NULL;
	}
	if (first)
		signals_die();
	first = number;
	stop_for(number);
	alarm(PATIENCE_SECONDS);
	errno = before;
}

void signals_setup(void)
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
