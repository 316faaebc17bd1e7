/* SPDX-License-Identifier: BSD-2-Clause */
#include <getopt.h>

#include "command_line.h"

enum { FIRST = 256 }; /* what getopt_long() returns for the first row; letters are smaller */

const struct option_row *option_next(const struct option_row *rows, size_t count, int argc,
				     char **argv, const char **argument, bool *wrong)
{
	struct option longs[OPTIONS_MAX + 1] = { 0 };
	char letters[2 * OPTIONS_MAX + 1] = "", *letter = letters;
	int found;

	for (size_t i = 0; i < count && i < OPTIONS_MAX; i++) {
		bool takes = rows[i].kind >= OPTION_WITH_ARGUMENT;

		longs[i] = (struct option){ rows[i].name, takes + rows[i].optional, NULL,
					    FIRST + (int)i };
		if (rows[i].letter)
			*letter++ = rows[i].letter;
		if (rows[i].letter && takes)
			*letter++ = ':';
	}
	found = getopt_long(argc, argv, letters, longs, NULL);
	*argument = optarg;
	for (size_t i = 0; i < count; i++)
		if (found == FIRST + (int)i || found == rows[i].letter)
			return &rows[i];
	*wrong = found != -1;
	return NULL;
}
