/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>

#include "stop.h"

atomic_int stop_reason;

int stop_check(struct error *err)
{
	return stop_asked() ? error_set(err, -ECANCELED, "a signal ended the run") : 0;
}

void stop_or_die(int sig)
{
	if (stop_by_signal()) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	stop_for(sig);
}

void stop_on_signals(const int *signals, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler }, before;

	sigemptyset(&action.sa_mask);
	for (const int *s = signals; *s; s++)
		sigaddset(&action.sa_mask, *s);
	for (const int *s = signals; *s; s++)
		if (!sigaction(*s, NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(*s, &action, NULL);
}
