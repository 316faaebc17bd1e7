/* SPDX-License-Identifier: BSD-2-Clause */
/* What all files of teehash share. */
#ifndef TEEHASH_H
#define TEEHASH_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"

#ifndef TEEMARK_VERSION
#define TEEMARK_VERSION "0"
#endif

#define PROGRAM "teehash"

/* Exit statuses. */
enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_SIGNAL = 128, /* + the signal's number */
};

/* "teehash: …\n" on stderr. Only main and the command files call these. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "teehash: NAME: …\n"; what would upset a terminal in NAME is escaped. */
void complain_name(const char *name, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same from an error, with its hint unless it is the one given before. */
void complain_error(const char *name, const struct error *err,
		    struct error *said);

/*
 * The number of the signal that asks to stop, 0 if there was none. Async
 * signals can reach a program by no other way than a global.
 */
int interrupted(void);
void interrupt_setup(void);

/*
 * Leaves right now with 128 + signal, lines and report ended: for when another
 * thread may sit in a read or in the TEE. The kernel closes the sessions.
 */
void interrupt_exit(void) __attribute__((noreturn));

#endif
