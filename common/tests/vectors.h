/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads vectors/ciphers.txt: for the tests of the TAs. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <teemark/algorithms.h>

struct bytes {
	uint8_t data[256];
	size_t len;
};

struct vector {
	const struct algorithm *alg;
	struct bytes key, iv, aad, plain, cipher, tag; /* MAC in cipher */
};

/* 1: one was read, 0: there are no more, -1: a line that is none. */
int vector_read(FILE *file, struct vector *vector);
