/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs that test the TAs on a board share this. */
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Exit status 2: the test could not be made. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("error: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

/*
 * Each step-th of the 65,536 parameter types (an odd step meets every type in
 * every place) on every command of a TA and on some that there are not, with
 * memory, with none, and with none of a size. 1: a call got anything but a
 * success or an error that a TA may return.
 */
int check_types(const char *ta, uint32_t step);
