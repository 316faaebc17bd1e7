// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "measure.h"

#define NOPS       31
#define ROUNDS     5
#define BYTES_MIN  4096u
#define BYTES_MAX  (1u << 20)
#define REPEAT_MAX 64u
#define SPAN_NS    20000000u /* what repetitions should last at least */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static void measure_nop(struct session *session, const struct backend *backend,
			struct inside *inside)
{
	uint64_t ns[NOPS];

	for (size_t i = 0; i < NOPS; i++) {
		uint64_t begin = clock_now_ns();

		if (backend->nop(session, 1, NULL))
			return;
		ns[i] = clock_now_ns() - begin;
	}
	inside->nop_ns = median(ns, NOPS);
	inside->has_nop = true;
}

/* ns of one call with `repeat` digests inside; 0 when it failed. */
static uint64_t time_call(struct engine *engine, const struct backend *backend,
			  const struct algorithm *alg, size_t len,
			  uint32_t repeat)
{
	uint8_t out[ALG_DIGEST_MAX_BYTES];
	uint64_t begin = clock_now_ns();

	if (backend->digest(engine_session(engine), alg, engine_buffer(engine),
			    0, len, out, repeat, NULL))
		return 0;
	return clock_now_ns() - begin;
}

static void measure_slope(struct engine *engine, const struct backend *backend,
			  const struct algorithm *alg, size_t len,
			  struct inside *inside)
{
	uint64_t one[ROUNDS];
	uint64_t many[ROUNDS];
	uint64_t warm = time_call(engine, backend, alg, len, 1);
	uint32_t repeat = 3;

	while (warm && repeat < REPEAT_MAX && repeat * warm < SPAN_NS)
		repeat *= 2;
	for (size_t i = 0; warm && i < ROUNDS; i++) {
		one[i] = time_call(engine, backend, alg, len, 1);
		many[i] = time_call(engine, backend, alg, len, repeat);
		if (!one[i] || !many[i])
			warm = 0;
	}
	if (!warm) {
		strcpy(inside->reason, "the session did not answer");
		return;
	}
	inside->bytes = len;
	inside->call_ns = (double)median(one, ROUNDS);
	inside->digest_ns =
		((double)median(many, ROUNDS) - inside->call_ns) / (repeat - 1);
	inside->has_slope = inside->digest_ns > 0;
	if (!inside->has_slope)
		strcpy(inside->reason, "the measurement is too noisy");
}

void measure_inside(struct engine *engine, const struct backend *backend,
		    const struct algorithm *alg, uint64_t bytes,
		    struct inside *inside)
{
	struct session *session = engine_session(engine);
	size_t len = bytes < BYTES_MIN ? BYTES_MIN :
		     bytes > BYTES_MAX ? BYTES_MAX :
					 (size_t)bytes;

	memset(inside, 0, sizeof(*inside));
	if (!session) {
		strcpy(inside->reason, "the last session broke");
		return;
	}
	/* First the facts: they are to be those of the work. */
	if (backend->facts) {
		backend->facts(session, &inside->facts);
		inside->has_facts = true;
	}
	if (!backend->nop) {
		strcpy(inside->reason, "not a call into another world");
		return;
	}
	if (len > engine_buffer(engine)->size)
		len = engine_buffer(engine)->size;
	measure_nop(session, backend, inside);
	measure_slope(engine, backend, alg, len, inside);
}
