/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is written once and whole. A regular file is written beside its
 * name and gets it at the end; what was there stays until then.
 */
#ifndef TEEHASH_OUTFILE_H
#define TEEHASH_OUTFILE_H

#include <stddef.h>

struct outfile {
	int fd;
	char *partial; /* what it is called until the end; NULL: no other */
	char *target;
};

/*
 * What isn't a regular file (a device, a FIFO) is written directly, and so is
 * the file that is standard output or error already. 0 or -errno. At most one
 * is open at a time.
 */
int outfile_open(struct outfile *file, const char *name);
/* The same with a descriptor that is open already, and stays so. */
int outfile_use(struct outfile *file, int fd);
/* Writes all of it and closes. 0, or -errno and the name is as it was. */
int outfile_write(struct outfile *file, const char *text, size_t len);
/* Closes; the name is as it was. */
void outfile_drop(struct outfile *file);
/* For who leaves: nothing half written stays. Async-signal-safe. */
void outfile_abandon(void);

#endif
