// SPDX-License-Identifier: BSD-2-Clause
/* --help, --version and --list. */
#include <errno.h>
#include <string.h>

#include "commands.h"
#include "complain.h"

/* At once: errno is that of the write. */
static enum status shown(int printed)
{
	if (printed >= 0 && !fflush(stdout) && !ferror(stdout))
		return STATUS_OK;
	complain("write error: %s", strerror(errno));
	return STATUS_FAILED;
}

enum status command_help(void)
{
	fputs(options_help, stdout);
	fputs("\nAlgorithms:", stdout);
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].class == ALG_DIGEST)
			printf(" %s", algorithms[i].name);
	fputs("\nBackends:  ", stdout);
	for (const struct backend *const *b = backends; *b; b++)
		if ((*b)->digest)
			printf(" %s", (*b)->name);
	return shown(putchar('\n'));
}

enum status command_version(void)
{
	return shown(printf("teehash %s\n", TEEMARK_VERSION));
}

enum status command_list(void)
{
	enum status status = STATUS_OK;

	for (const struct backend *const *b = backends; *b && !status; b++) {
		struct error err = { 0 };

		if (!(*b)->digest)
			continue;
		if ((*b)->probe(&err))
			status = shown(printf("%-8s not here: %s\n", (*b)->name,
					      err.what));
		else
			status = shown(
				printf("%-8s %s\n", (*b)->name, (*b)->summary));
	}
	return status;
}
