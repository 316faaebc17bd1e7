/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

const struct vector vectors[] = {
#include "vectors.inc"
	{ 0 },
};

size_t vector_bytes(uint8_t *data, size_t room, const char *hex)
{
	size_t len = strlen(hex) / 2;

	for (size_t i = 0; i < len && i < room; i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		data[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return len;
}
