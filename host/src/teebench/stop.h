/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells whether a signal has said that the run is to end. Long steps look at it in between. */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "error.h"

/* The signal; set by its handler. The run then ends as soon as it can. */
extern volatile sig_atomic_t bench_signal;

bool stop_asked(void);
/* Returns 0, or -ECANCELED: what is under way is to be left as it is. */
int stop_check(struct error *err);
