/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flag that ends the work. Every thread that reads, hashes or waits checks it, also within long
 * steps. If it is set, a thread abandons its step and returns an error.
 */
#pragma once

#include <stdatomic.h>

#include "error.h"

#define STOP_FAILURE (-1)

/* Holds 0, the number of the first signal, or STOP_FAILURE. */
extern atomic_int stop_reason;

/* Sets the flag. Async-signal-safe; only the first call counts. */
static inline void stop_for(int reason)
{
	int none = 0;

	atomic_compare_exchange_strong(&stop_reason, &none, reason);
}

static inline bool stop_asked(void)
{
	return atomic_load(&stop_reason);
}

static inline bool stop_by_signal(void)
{
	return atomic_load(&stop_reason) > 0;
}

/* A handler: the first signal sets the flag; the next ends the program, by the signal itself. */
void stop_or_die(int sig);

/*
 * Makes `handler` the handler of each signal in a list that ends with 0, except of those that nohup
 * or a shell set to be ignored. While it runs, the list's other signals wait.
 * SA_RESTART isn't set: a signal ends a sleep and a blocked read.
 */
void stop_on_signals(const int *signals, void (*handler)(int));

/* Returns 0, or -ECANCELED if the flag is set. */
int stop_check(struct error *err);
