/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timer counter by which a TA itself measures how long a call was inside the TA, if the TEE
 * lets TAs read a counter. ta_counter_start() and ta_counter_stop() are one call into the TA each;
 * these two calls are not counted.
 */
#pragma once

#include <teemark/ta_clock.h>

#include "error.h"

struct tee_session; /* tee_client.h */

struct ta_counter {
	enum ta_clock clock; /* TA_CLOCK_OFF: no counter can be read */
	uint32_t hz;         /* counter's frequency, as the firmware set it */
	char reason[224];    /* why no counter can be read */
};

/*
 * Finds the counter that a TA may read: the virtual one, or else the physical one. The probe TA
 * (ta/probe) tries each, since a TEE that forbids a counter kills the TA that reads it. The counter
 * must agree with the client's clock to 5 %. A failure is stored as the reason, not returned.
 * Nothing is tried if tee-supplicant isn't running.
 */
void ta_counter_find(struct ta_counter *counter);

/* Returns the counter's name, such as "CNTVCT_EL0". */
const char *ta_counter_name(enum ta_clock clock);

/* Converts ticks to nanoseconds, rounded down. */
uint64_t ta_counter_ns(const struct ta_counter *counter, uint64_t ticks);

/*
 * ta_counter_start() has the digest or the bench TA count the time in its commands;
 * ta_counter_stop() writes the sum in ns. ta_counter_find() comes first. Both return 0 or -errno;
 * -EOPNOTSUPP: the TA is too old to have a clock.
 */
int ta_counter_start(const struct ta_counter *counter, struct tee_session *tee, struct error *err);
int ta_counter_stop(const struct ta_counter *counter, struct tee_session *tee, uint64_t *ns,
		    struct error *err);
