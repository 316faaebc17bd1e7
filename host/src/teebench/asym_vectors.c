/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys and answers that others published: asym_keys.inc says who. */
#include <string.h>

#include "asym_vectors.h"

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
