/* SPDX-License-Identifier: BSD-2-Clause */
/* Libraries that are opened at run time: a machine without one runs the rest. */
#pragma once

#include <stdbool.h>

#include "error.h"

struct symbol {
	const char *name;
	void *function; /* the address of the pointer that is to be set */
	bool optional;  /* the pointer stays NULL where there is no such symbol */
};

struct shared_library {
	const char *title;            /* for messages: "libcrypto" */
	const char *skip;             /* struct error .skip where it is absent */
	const char *hint;             /* what to do then */
	const char *const *names;     /* tried in this order; NULL-terminated */
	const struct symbol *symbols; /* terminated by a NULL name */

	/* Filled by shared_library_load(). */
	bool tried;
	const char *name; /* NULL: not loaded, and why: */
	char why[160];
	char file[256]; /* that it was loaded from, or "" */
};

/* Loads the library at the first call. Each call returns 0, or -ENOENT with the same reason. */
int shared_library_load(struct shared_library *library, struct error *err);
