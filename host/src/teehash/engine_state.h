/* SPDX-License-Identifier: BSD-2-Clause */
/* What engine.c and message.c share; nobody else's business. */
#ifndef TEEHASH_ENGINE_STATE_H
#define TEEHASH_ENGINE_STATE_H

#include "engine.h"
#include "source.h"

struct engine {
	struct engine_config config;
	struct session *session;
	struct buffer buffer; /* all slots */
	bool has_buffer;
	size_t chunk;
	size_t piece;         /* most that a call of a stream carries */
	size_t oneshot_limit; /* most that goes in one call */
	unsigned int slots;
	bool broken;           /* the session is of no use any more */
	bool refused;          /* or so, for a call had no memory */
	bool called;           /* the session has had its first call */
	bool counting;         /* the TA counts the time inside */
	struct reader *reader; /* NULL until a message needs it */
	struct engine_stats stats;
};

/* In place of the buffer that is there. */
int engine_get_buffer(struct engine *engine, size_t size, struct error *err);
/*
 * The slots. A default is halved while memory is short: some TEEs have a
 * small pool for all shared memory. What the user asked for is not changed.
 */
int engine_get_slots(struct engine *engine, struct error *err);
/* The session that is there, or a new one in place of one that broke. */
int engine_ensure_session(struct engine *engine, struct error *err);

#endif
