/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of a program as a table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program numbers its kinds of options; those from here on take an argument. */
enum { OPTION_WITH_ARGUMENT = 16, OPTIONS_MAX = 32 };

struct option_row {
	const char *name;
	int kind;
	char letter;   /* short option; 0: none */
	bool optional; /* its argument may be left out */
	size_t at;     /* offset of what it sets in the program's struct */
	/* For the program's own use: */
	bool check;
	uint64_t min, max, scale;
	const char *const *words;
};

/*
 * Returns the next option's row, and sets *argument (NULL: none). Returns NULL at the first word
 * that is no option, which optind then counts; or, with *wrong set, at a mistake, which is printed.
 */
const struct option_row *option_next(const struct option_row *rows, size_t count, int argc,
				     char **argv, const char **argument, bool *wrong);
