/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>

/*
 * Returns the length in bytes of the well-formed UTF-8 character that the len bytes at `text` begin
 * with; 0 if there is none.
 */
size_t utf8_length(const void *text, size_t len);
