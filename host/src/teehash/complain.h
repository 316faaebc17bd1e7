/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages on stderr. Only main and the commands call these. */
#ifndef TEEHASH_COMPLAIN_H
#define TEEHASH_COMPLAIN_H

#include "error.h"

/*
 * "teehash: NAME: …\n", without NAME if it is NULL. What would upset a terminal
 * in NAME is escaped.
 */
void complain_name(const char *name, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
#define complain(...) complain_name(NULL, __VA_ARGS__)
/*
 * The same from an error; name may be NULL. Its hint follows, unless it is the
 * one given last.
 */
void complain_error(const char *name, const struct error *err);

#endif
