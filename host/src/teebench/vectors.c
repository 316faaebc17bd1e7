/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

const struct vector vectors[] = {
#include "vectors.inc"
	{ 0 },
};

/* Published keys and answers; asym_keys.inc names their sources. */
const struct asym_key asym_keys[] = {
#include "asym_keys.inc"
	{ 0 },
};

const struct asym_vector asym_vectors[] = {
#include "asym_vectors.inc"
	{ 0 },
};

const struct asym_vector *asym_vector_of(const char *algorithm)
{
	const struct asym_vector *v = asym_vectors;

	while (v->algorithm && strcmp(v->algorithm, algorithm))
		v++;
	return v->algorithm ? v : NULL;
}

const struct asym_key *asym_key_of(const struct asym_vector *vector)
{
	const struct asym_key *k = asym_keys;

	while (k->name && strcmp(k->name, vector->key))
		k++;
	return k->name ? k : NULL;
}

size_t vector_bytes(uint8_t *data, size_t room, const char *hex)
{
	size_t len = strlen(hex) / 2;

	for (size_t i = 0; i < len && i < room; i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		data[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return len;
}
