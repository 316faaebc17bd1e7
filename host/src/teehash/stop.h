/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flag that ends the work. All who read, hash or wait look at it; who finds
 * it set returns -EINTR.
 */
#ifndef TEEHASH_STOP_H
#define TEEHASH_STOP_H

#include <stdbool.h>

/* Sets the flag. Async-signal-safe; only the first call counts. */
void stop_by_signal(int number);
void stop_by_failure(void);

bool stop_asked(void);
/* The number of the signal that set the flag, or 0. */
int stop_signal(void);

#endif
