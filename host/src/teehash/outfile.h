/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is written in pieces and is never seen half written: a regular
 * file is written beside its name and gets it at the end. If the program must
 * leave in between, the pieces so far get an ending that says so.
 */
#ifndef TEEHASH_OUTFILE_H
#define TEEHASH_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct outfile {
	FILE *out;
	bool owned;    /* close it */
	char *partial; /* what it is called until the end; NULL: no other */
	char *target;
};

/*
 * What isn't a regular file (a device, a FIFO) is written directly, and so is
 * the file that is standard output or error already. 0 or -errno. At most one
 * is open; it stays where it is.
 */
int outfile_open(struct outfile *file, const char *name);
/* With a stream that is there already; owned: closed at the end. */
void outfile_use(struct outfile *file, FILE *out, bool owned);
/*
 * Around each piece. Settling flushes it; the ending (kept as a copy) is what
 * outfile_abandon() writes from then on. 0 or -errno of a write.
 */
void outfile_piece(struct outfile *file);
int outfile_settle(struct outfile *file, const char *ending);
/*
 * keep: under its name, in place of what was there; else the name stays as it
 * was. 0 or -errno.
 */
int outfile_close(struct outfile *file, bool keep);

/* No piece is being written when this returns, nor from then on. */
void outfile_lock(void);
/* For who leaves: ends the file that is open. Async-signal-safe. */
void outfile_abandon(void);

#endif
