/* SPDX-License-Identifier: BSD-2-Clause */
/* Libraries that are opened at run time: a machine without the library can run everything else. */
#pragma once

#include "error.h"

struct symbol {
	const char *name;
	void *function; /* address of the function pointer to set */
	bool optional;  /* if the library lacks the symbol, the pointer stays NULL */
};

struct shared_library {
	const char *title;            /* name in messages: "libcrypto" */
	const char *skip;             /* value of err->skip if the library is absent */
	const char *hint;             /* hint if the library is absent */
	const char *const *names;     /* file names to try, in this order; NULL-terminated */
	const struct symbol *symbols; /* functions to find, ended by a NULL name */

	/* Filled by shared_library_load(). */
	bool tried;
	const char *name; /* name that was loaded; NULL: not loaded, for this reason: */
	char why[160];
	char file[256]; /* path that the library was loaded from, or "" */
};

/* Loads the library on the first call. Returns 0, or always the same -ENOENT with its reason. */
int shared_library_load(struct shared_library *library, struct error *err);
