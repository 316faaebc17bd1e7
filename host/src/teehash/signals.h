/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles SIGINT, SIGTERM, SIGHUP and SIGPIPE for teehash. */
#pragma once

/*
 * Has signals set the flag of stop.h from now on, and work ends by itself. What doesn't end within
 * three seconds, or at a second signal, is left as it is: the program dies right then.
 */
void signals_setup(void);
/* Sets a line for stderr, for a program that dies of a signal. */
void signals_last_words(const char *line);
/*
 * Dies of the first signal as if it had never been caught: a shell sees what ended us.
 * Async-signal-safe.
 */
void signals_die(void) __attribute__((noreturn));
