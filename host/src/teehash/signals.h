/* SPDX-License-Identifier: BSD-2-Clause */
/* What teehash does at SIGINT, SIGTERM, SIGHUP and SIGPIPE. */
#ifndef TEEHASH_SIGNALS_H
#define TEEHASH_SIGNALS_H

/*
 * From now on a signal sets the flag of stop.h, and work ends by itself. What
 * doesn't end within three seconds, or at a second signal, is left as it is:
 * the program dies right then.
 */
void signals_setup(void);
/* For who dies that way: a line for stderr. */
void signals_last_words(const char *line);
/* As if the signal had never been caught: a shell sees what ended us. */
void signals_die_of(int number) __attribute__((noreturn));

#endif
