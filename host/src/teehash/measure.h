/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What --report measures after the work, with the session that did it. Where
 * the TA may read no counter (ta_counter.h), the time inside comes from here:
 * the slope of calls that repeat the digest inside.
 */
#ifndef TEEHASH_MEASURE_H
#define TEEHASH_MEASURE_H

#include "session.h"

struct inside {
	uint64_t nop_ns; /* an empty call, median; 0: none */
	bool has_slope;
	double digest_ns; /* a digest inside, without the crossing */
	uint64_t bytes;   /* of that digest */
	char reason[160]; /* why not */
	bool has_facts;
	struct session_facts facts;
};

/*
 * bytes: of a typical call. session: NULL if none was ever open; one that has a
 * timeline is asked for its facts alone.
 */
void measure_inside(struct hash_session *session, const struct algorithm *alg,
		    uint64_t bytes, struct inside *inside);

#endif
