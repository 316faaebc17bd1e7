/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>

/*
 * Returns the length of the well-formed UTF-8 character at text, of which len
 * bytes are there; 0 when there is none.
 */
size_t utf8_length(const void *text, size_t len);
