/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors.h"

#include <string.h>

static int unhex(struct bytes *bytes, const char *text)
{
	size_t len = strlen(text);

	bytes->len = 0;
	if (!strcmp(text, "-"))
		return 0;
	if (len % 2 || len / 2 > sizeof(bytes->data))
		return -1;
	for (size_t i = 0; i < len / 2; i++) {
		unsigned int byte;

		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return -1;
		bytes->data[bytes->len++] = byte;
	}
	return 0;
}

int vector_read(FILE *file, struct vector *vector)
{
	struct bytes *const fields[] = { &vector->key,   &vector->iv,     &vector->aad,
					 &vector->plain, &vector->cipher, &vector->tag };
	char line[4096];

	do {
		if (!fgets(line, sizeof(line), file))
			return 0;
	} while (line[0] == '#' || line[0] == '\n');

	vector->alg = algorithm_by_name(strtok(line, " \n"));
	if (!vector->alg)
		return -1;
	for (size_t i = 0; i < 6; i++) {
		const char *field = strtok(NULL, " \n");

		if (!field || unhex(fields[i], field))
			return -1;
	}
	return strtok(NULL, " \n") ? -1 : 1;
}
