// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

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

/* Returns 0 if the session did not answer. */
static uint64_t median_nop(struct hash_session *session)
{
	uint64_t ns[NOPS];

	for (size_t i = 0; i < NOPS; i++)
		if (!(ns[i] = session_time_nop(session)))
			return 0;
	return median(ns, NOPS);
}

static void measure_slope(struct hash_session *session,
			  const struct algorithm *alg, size_t len,
			  struct inside *inside)
{
	uint64_t one[ROUNDS];
	uint64_t many[ROUNDS];
	uint64_t warm = session_time_digests(session, alg, len, 1);
	uint32_t repeat = 3;

	while (warm && repeat < REPEAT_MAX && repeat * warm < SPAN_NS)
		repeat *= 2;
	for (size_t i = 0; warm && i < ROUNDS; i++) {
		one[i] = session_time_digests(session, alg, len, 1);
		many[i] = session_time_digests(session, alg, len, repeat);
		if (!one[i] || !many[i])
			warm = 0;
	}
	if (!warm) {
		strcpy(inside->reason, "the session did not answer");
		return;
	}
	inside->bytes = len;
	inside->digest_ns =
		((double)median(many, ROUNDS) - (double)median(one, ROUNDS)) /
		(repeat - 1);
	inside->has_slope = inside->digest_ns > 0;
	if (!inside->has_slope)
		strcpy(inside->reason, "the measurement is too noisy");
}

void measure_inside(struct hash_session *session, const struct algorithm *alg,
		    uint64_t bytes, struct inside *inside)
{
	size_t len = bytes < BYTES_MIN ? BYTES_MIN :
		     bytes > BYTES_MAX ? BYTES_MAX :
					 (size_t)bytes;

	memset(inside, 0, sizeof(*inside));
	if (!session || !session->open || session->broken) {
		strcpy(inside->reason, "the last session broke");
		return;
	}
	/* First the facts: they are to be those of the work. */
	inside->has_facts = session_ask(session, &inside->facts);
	if (session->settings->timeline)
		strcpy(inside->reason, "the run is one with a timeline");
	else if (!session->settings->backend->nop)
		strcpy(inside->reason, "not a call into another world");
	if (*inside->reason)
		return;
	if (len > session->buffer.size)
		len = session->buffer.size;
	inside->nop_ns = median_nop(session);
	measure_slope(session, alg, len, inside);
}
