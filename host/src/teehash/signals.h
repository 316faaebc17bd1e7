/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles SIGINT, SIGTERM, SIGHUP and SIGPIPE for teehash. */
#pragma once

/*
 * Has signals set the flag of stop.h from now on, and work ends by itself. What doesn't end within
 * three seconds, or at a second signal, is left as it is: the program dies right then.
 */
void signals_setup(void);
/* Sets the line that the program writes to stderr if it dies right then. */
void signals_last_words(const char *line);
/* Dies as if the signal had never been caught: a shell sees what ended us. */
void signals_die_of(int number) __attribute__((noreturn));
