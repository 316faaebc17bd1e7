/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Published test vectors: for each algorithm of the table at least one. A case
 * of an algorithm without any is never measured.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { VECTOR_MAX = 128 }; /* bytes of a message or result */

/* A vector in hexadecimal; "" where there is none. A tag follows its message. */
struct vector {
	const char *algorithm, *key, *iv, *message, *result;
};

/* Ends with a row without an algorithm. */
extern const struct vector vectors[];

/* Writes the bytes of hex, and returns their number. */
size_t vector_bytes(uint8_t *data, size_t room, const char *hex);
