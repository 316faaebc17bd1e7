/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "stop.h"

volatile sig_atomic_t bench_signal;

bool stop_asked(void)
{
	return bench_signal != 0;
}

int stop_check(struct error *err)
{
	return bench_signal ? error_set(err, -ECANCELED, "a signal ended the run") : 0;
}
