/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <teemark/ta_probe.h>

#include "clock.h"
#include "ta_counter.h"
#include "tee_client.h"
#include "tee_device.h"

const char *ta_counter_name(enum ta_clock clock)
{
	switch (clock) {
	case TA_CLOCK_VIRTUAL:
		return "CNTVCT_EL0";
	case TA_CLOCK_PHYSICAL:
		return "CNTPCT_EL0";
	case TA_CLOCK_OFF:
		break;
	}
	return "none";
}

uint64_t ta_counter_ns(const struct ta_counter *counter, uint64_t ticks)
{
	/* The seconds apart: a product of 64 bits holds the rest. */
	return ticks / counter->hz * 1000000000u +
	       ticks % counter->hz * 1000000000u / counter->hz;
}

enum {
	BETWEEN_NS = 10000000, /* two readings that are compared */
	STEP_PERCENT = 5,      /* what they may be apart */
};

static const TEEC_UUID probe_uuid = TA_PROBE_UUID;

/* One reading, and the client's clock before and after. */
struct reading {
	uint64_t before_ns, after_ns;
	uint64_t count;
	uint32_t hz;
};

static int read_in_ta(struct tee_session *tee, enum ta_clock clock,
		      struct reading *r, struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT,
					       TEEC_VALUE_OUTPUT, TEEC_NONE,
					       TEEC_NONE),
	};
	int ret;

	r->before_ns = clock_now_ns();
	ret = tee_invoke(tee,
			 clock == TA_CLOCK_VIRTUAL ?
				 TA_PROBE_CMD_COUNTER_VIRTUAL :
				 TA_PROBE_CMD_COUNTER_PHYSICAL,
			 &op, "read a counter in the probe TA", err);
	r->after_ns = clock_now_ns();
	r->count = op.params[0].value.a | (uint64_t)op.params[0].value.b << 32;
	r->hz = op.params[1].value.a;
	return ret;
}

/* Do the counter and the client's clock agree on the time between? */
static int compare(struct ta_counter *counter, enum ta_clock clock,
		   const struct reading *a, const struct reading *b)
{
	struct ta_counter tried = { .clock = clock, .hz = b->hz };
	uint64_t least = b->before_ns - a->after_ns;
	uint64_t most = b->after_ns - a->before_ns;
	uint64_t ns;

	if (!b->hz) {
		snprintf(counter->reason, sizeof(counter->reason),
			 "%s can be read in a TA, but the firmware does not "
			 "say its frequency (CNTFRQ_EL0 is 0)",
			 ta_counter_name(clock));
		return -ENODATA;
	}
	ns = ta_counter_ns(&tried, b->count - a->count);
	if (ns < least - least * STEP_PERCENT / 100 ||
	    ns > most + most * STEP_PERCENT / 100) {
		snprintf(counter->reason, sizeof(counter->reason),
			 "%s in a TA is not in step with CLOCK_MONOTONIC_RAW: "
			 "at %u Hz it says %llu ns where at least %llu and at "
			 "most %llu have passed",
			 ta_counter_name(clock), b->hz, (unsigned long long)ns,
			 (unsigned long long)least, (unsigned long long)most);
		return -ERANGE;
	}
	counter->clock = clock;
	counter->hz = b->hz;
	return 0;
}

/*
 * In an instance of its own, which may die. False: there is no use in trying
 * another counter, since one was found or no TA can be asked.
 */
static bool try_counter(struct ta_counter *counter, enum ta_clock clock)
{
	const struct timespec pause = { .tv_nsec = BETWEEN_NS };
	struct reading first, second;
	struct error err = { 0 };
	struct tee_session *tee;
	int ret = tee_session_open(&tee, &probe_uuid, TA_PROBE_UUID_TEXT,
				   "the probe TA", &err);

	if (!ret) {
		ret = read_in_ta(tee, clock, &first, &err);
		if (!ret) {
			nanosleep(&pause, NULL); /* a signal may shorten it */
			ret = read_in_ta(tee, clock, &second, &err);
		}
		tee_session_close(tee);
	}
	if (!ret)
		return compare(counter, clock, &first, &second) != 0;
	if (err.tee_result == TEEC_ERROR_TARGET_DEAD) {
		snprintf(counter->reason, sizeof(counter->reason),
			 "this TEE ends a TA that reads CNTVCT_EL0 or "
			 "CNTPCT_EL0");
		return true;
	}
	snprintf(counter->reason, sizeof(counter->reason), "%s", err.what);
	return false;
}

/*
 * Nobody is kept waiting for a TA that is of use, but not needed; whoever needs
 * one waits then, and says what to do.
 */
static bool anybody_to_load_it(struct ta_counter *counter)
{
	struct error err = { 0 };

	if (tee_probe(&err)) {
		snprintf(counter->reason, sizeof(counter->reason), "%s",
			 err.what);
		return false;
	}
	switch (tee_supplicant_state()) {
	case SUPPLICANT_ABSENT:
	case SUPPLICANT_STOPPED:
		snprintf(counter->reason, sizeof(counter->reason),
			 "not looked for: tee-supplicant, which loads TAs, is "
			 "not running");
		return false;
	case SUPPLICANT_UNKNOWN:
	case SUPPLICANT_RUNNING:
		break;
	}
	return true;
}

void ta_counter_find(struct ta_counter *counter)
{
	struct ta_counter other = { 0 };

	memset(counter, 0, sizeof(*counter));
	if (!anybody_to_load_it(counter))
		return;
	if (!try_counter(counter, TA_CLOCK_VIRTUAL))
		return;
	/* Why the virtual one cannot be used is what matters. */
	try_counter(&other, TA_CLOCK_PHYSICAL);
	if (other.clock)
		*counter = other;
}

static int switch_clock(const struct ta_counter *counter,
			struct tee_session *tee, enum ta_clock clock,
			uint64_t *ns, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, (uint32_t)clock, 0);
	tee_set_type(&op, 1, TEEC_VALUE_OUTPUT);
	tee_set_type(&op, 2, TEEC_VALUE_OUTPUT);
	ret = tee_invoke(tee, TA_CLOCK_CMD, &op, "switch the clock of a TA",
			 err);
	if (ret || !ns)
		return ret;
	if (op.params[2].value.a != counter->hz)
		return error_set(err, -EPROTO,
				 "the TA's counter runs at %u Hz, and not at "
				 "the probe TA's %u",
				 op.params[2].value.a, counter->hz);
	*ns = ta_counter_ns(counter,
			    op.params[1].value.a |
				    (uint64_t)op.params[1].value.b << 32);
	return 0;
}

int ta_counter_start(const struct ta_counter *counter, struct tee_session *tee,
		     struct error *err)
{
	return switch_clock(counter, tee, counter->clock, NULL, err);
}

int ta_counter_stop(const struct ta_counter *counter, struct tee_session *tee,
		    uint64_t *ns, struct error *err)
{
	return switch_clock(counter, tee, TA_CLOCK_OFF, ns, err);
}
