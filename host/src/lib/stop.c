/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "stop.h"

atomic_int stop_reason;

int stop_check(struct error *err)
{
	return stop_asked() ? error_set(err, -ECANCELED, "a signal ended the run") : 0;
}
