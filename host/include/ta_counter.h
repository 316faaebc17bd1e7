/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counter that a TA may read, or may not: how long a call was inside the
 * TA, by the TA itself.
 * Each of start and stop is one call into the TA, and counts itself not.
 */
#pragma once

#include <stdint.h>

#include <teemark/ta_clock.h>

#include "error.h"

struct tee_session; /* tee_client.h */

struct ta_counter {
	enum ta_clock clock; /* TA_CLOCK_OFF: there is none to be read */
	uint32_t hz;         /* of it, as the firmware says */
	char reason[224];    /* why there is none */
};

/*
 * Finds the counter that a TA may read: the virtual one, or else the physical one. The probe TA
 * (ta/probe) tries each, since a TEE that forbids a counter ends the TA that reads it. A counter
 * must keep step with the client's clock to a twentieth. Whatever goes wrong is a reason, no error.
 * Nothing is tried where tee-supplicant isn't running.
 */
void ta_counter_find(struct ta_counter *counter);

/* Returns the counter's name, such as "CNTVCT_EL0". */
const char *ta_counter_name(enum ta_clock clock);

/* Converts ticks to nanoseconds, rounded down. */
uint64_t ta_counter_ns(const struct ta_counter *counter, uint64_t ticks);

/*
 * After a start the digest or the bench TA counts how long its commands take;
 * the stop says how long they took together. The counter has been found before.
 * They return 0 or -errno; -EOPNOTSUPP: the TA is too old to have a clock.
 */
int ta_counter_start(const struct ta_counter *counter, struct tee_session *tee, struct error *err);
int ta_counter_stop(const struct ta_counter *counter, struct tee_session *tee, uint64_t *ns,
		    struct error *err);
