// SPDX-License-Identifier: BSD-2-Clause
#include <stdatomic.h>

#include "stop.h"

#define FAILURE (-1)

/* 0, a signal's number, or FAILURE. A signal handler finds no other way. */
static atomic_int reason;

static void stop_for(int why)
{
	int none = 0;

	atomic_compare_exchange_strong(&reason, &none, why);
}

void stop_by_signal(int number)
{
	stop_for(number);
}

void stop_by_failure(void)
{
	stop_for(FAILURE);
}

bool stop_asked(void)
{
	return atomic_load(&reason) != 0;
}

int stop_signal(void)
{
	int why = atomic_load(&reason);

	return why > 0 ? why : 0;
}
