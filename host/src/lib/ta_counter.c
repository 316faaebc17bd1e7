/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include <teemark/ta_probe.h>

#include "clock.h"
#include "ta_counter.h"
#include "tee_client.h"
#include "tee_device.h"

const char *ta_counter_name(enum ta_clock clock)
{
	static const char *const names[] = {
		[TA_CLOCK_OFF] = "none",
		[TA_CLOCK_VIRTUAL] = "CNTVCT_EL0",
		[TA_CLOCK_PHYSICAL] = "CNTPCT_EL0",
	};

	return names[clock];
}

uint64_t ta_counter_ns(const struct ta_counter *counter, uint64_t ticks)
{
	/* Whole seconds are converted separately, so that the products fit in 64 bits. */
	return ticks / counter->hz * 1000000000u + ticks % counter->hz * 1000000000u / counter->hz;
}

enum {
	BETWEEN_NS = 10000000, /* time between the two readings compared */
	STEP_PERCENT = 5,      /* most percent by which they may differ */
};

static const TEEC_UUID probe_uuid = TA_PROBE_UUID;

/* A reading of the counter, and the client's clock before and after it. */
struct reading {
	uint64_t before_ns, after_ns;
	uint64_t count;
};

static int read_in_ta(struct tee_session *tee, struct ta_counter *counter, struct reading *r,
		      struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT, TEEC_VALUE_OUTPUT, TEEC_NONE,
					       TEEC_NONE),
	};
	int ret;

	r->before_ns = clock_now_ns();
	ret = tee_invoke(tee,
			 counter->clock == TA_CLOCK_VIRTUAL ? TA_PROBE_CMD_COUNTER_VIRTUAL :
							      TA_PROBE_CMD_COUNTER_PHYSICAL,
			 &op, "read a counter in the probe TA", err);
	r->after_ns = clock_now_ns();
	r->count = op.params[0].value.a | (uint64_t)op.params[0].value.b << 32;
	counter->hz = op.params[1].value.a;
	return ret;
}

/*
 * Returns an error unless the counter and the client's clock agree on the time between the two
 * readings r[0] and r[1].
 */
static int compare(const struct ta_counter *counter, const struct reading *r, struct error *err)
{
	uint64_t least = r[1].before_ns - r[0].after_ns;
	uint64_t most = r[1].after_ns - r[0].before_ns;
	uint64_t ns;

	if (!counter->hz)
		return error_set(err, -ENODATA,
				 "%s can be read in a TA, but the firmware "
				 "does not say its frequency (CNTFRQ_EL0 is 0)",
				 ta_counter_name(counter->clock));
	ns = ta_counter_ns(counter, r[1].count - r[0].count);
	if (ns >= least - least * STEP_PERCENT / 100 && ns <= most + most * STEP_PERCENT / 100)
		return 0;
	return error_set(err, -ERANGE,
			 "%s in a TA is not in step with CLOCK_MONOTONIC_RAW: "
			 "at %u Hz it says %" PRIu64 " ns where at least %" PRIu64
			 " and at most %" PRIu64 " have passed",
			 ta_counter_name(counter->clock), counter->hz, ns, least, most);
}

/* Reads the counter twice in an instance of the probe TA, which the TEE may kill. */
static int try_counter(struct ta_counter *counter, struct error *err)
{
	const struct timespec pause = { .tv_nsec = BETWEEN_NS };
	struct tee_session *tee;
	struct reading r[2];
	int ret = tee_session_open(&tee, &probe_uuid, "the probe TA", err);

	if (ret)
		return ret;
	ret = read_in_ta(tee, counter, &r[0], err);
	if (!ret) {
		nanosleep(&pause, NULL); /* a signal may shorten the pause */
		ret = read_in_ta(tee, counter, &r[1], err);
	}
	tee_session_close(tee);
	return ret ? ret : compare(counter, r, err);
}

/*
 * Returns an error if no tee-supplicant is running to load the probe TA. The counter is useful but
 * not worth waiting for; callers that need a TA wait for their own TA.
 */
static int anybody_to_load_it(struct error *err)
{
	enum supplicant state;
	int ret = tee_probe(err);

	if (ret)
		return ret;
	state = tee_supplicant_state();
	if (state != SUPPLICANT_ABSENT && state != SUPPLICANT_STOPPED)
		return 0;
	return error_set(err, -ENOENT,
			 "not looked for: tee-supplicant, which loads TAs, is not running");
}

void ta_counter_find(struct ta_counter *counter)
{
	static const enum ta_clock clocks[] = { TA_CLOCK_VIRTUAL, TA_CLOCK_PHYSICAL };
	struct error err = { 0 };
	const char *why = err.what;
	int ret = anybody_to_load_it(&err);

	*counter = (struct ta_counter){ 0 };
	for (size_t i = 0; i < 2; i++) {
		struct ta_counter tried = { .clock = clocks[i] };
		bool dead;

		if (!ret && !try_counter(&tried, &err)) {
			*counter = tried;
			return;
		}
		dead = err.tee_result == TEEC_ERROR_TARGET_DEAD;
		if (dead)
			why = "this TEE ends a TA that reads CNTVCT_EL0 or CNTPCT_EL0";
		/* If both fail, the reason is the virtual counter's. */
		if (!i)
			snprintf(counter->reason, sizeof(counter->reason), "%s", why);
		if (ret || err.skip || (err.tee_result && !dead))
			return; /* the probe TA can't be used at all */
	}
}

static int switch_clock(const struct ta_counter *counter, struct tee_session *tee,
			enum ta_clock clock, uint64_t *ns, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, (uint32_t)clock, 0);
	tee_set_type(&op, 1, TEEC_VALUE_OUTPUT);
	tee_set_type(&op, 2, TEEC_VALUE_OUTPUT);
	ret = tee_invoke(tee, TA_CLOCK_CMD, &op, "switch the clock of a TA", err);
	if (ret || !ns)
		return ret;
	if (op.params[2].value.a != counter->hz)
		return error_set(err, -EPROTO,
				 "the TA's counter runs at %u Hz, and not at the probe TA's %u",
				 op.params[2].value.a, counter->hz);
	*ns = ta_counter_ns(counter, op.params[1].value.a | (uint64_t)op.params[1].value.b << 32);
	return 0;
}

int ta_counter_start(const struct ta_counter *counter, struct tee_session *tee, struct error *err)
{
	return switch_clock(counter, tee, counter->clock, NULL, err);
}

int ta_counter_stop(const struct ta_counter *counter, struct tee_session *tee, uint64_t *ns,
		    struct error *err)
{
	return switch_clock(counter, tee, TA_CLOCK_OFF, ns, err);
}
