// SPDX-License-Identifier: BSD-2-Clause
/* Sessions and their buffers. What is done with them: message.c. */
#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "engine_state.h"

static size_t default_chunk(const struct engine_config *config)
{
	if (config->mode == MODE_TMPREF)
		return ENGINE_CHUNK_TMPREF;
	return config->reader_thread ? ENGINE_CHUNK_THREAD :
				       ENGINE_CHUNK_INLINE;
}

static void drop_buffer(struct engine *e)
{
	reader_destroy(e->reader);
	e->reader = NULL;
	if (e->has_buffer)
		e->config.backend->buffer_free(e->session, &e->buffer);
	e->has_buffer = false;
}

int engine_get_buffer(struct engine *e, size_t size, struct error *err)
{
	const struct backend *b = e->config.backend;
	uint64_t begin = clock_now_ns();
	int ret;

	drop_buffer(e);
	if (e->config.mode == MODE_TMPREF && b->buffer_plain)
		ret = b->buffer_plain(e->session, size, &e->buffer, err);
	else
		ret = b->buffer_alloc(e->session, size, &e->buffer, err);
	e->has_buffer = !ret;
	e->stats.buffer_ns += clock_now_ns() - begin;
	if (!ret)
		e->stats.buffer_bytes = size;
	return ret;
}

int engine_get_slots(struct engine *e, struct error *err)
{
	int ret = engine_get_buffer(e, e->slots * e->chunk, err);

	while (ret == -ENOMEM && !e->config.chunk &&
	       e->chunk > ENGINE_CHUNK_FLOOR) {
		e->chunk /= 2;
		ret = engine_get_buffer(e, e->slots * e->chunk, err);
	}
	if (e->piece > e->chunk)
		e->piece = e->chunk;
	e->stats.chunk = e->piece;
	return ret;
}

static void start_counting(struct engine *e)
{
	const struct backend *b = e->config.backend;
	struct error unused = { 0 };

	if (!e->config.counter)
		return;
	e->counting = b->tee && !ta_counter_start(e->config.counter,
						  b->tee(e->session), &unused);
	if (!e->counting)
		e->stats.uncounted++;
}

void engine_settle(struct engine *engine)
{
	const struct engine_config *config = &engine->config;
	struct error unused = { 0 };
	uint64_t ns = 0;

	if (!engine->counting)
		return;
	engine->counting = false;
	/* What a TA that died had counted is lost. */
	if (engine->broken ||
	    ta_counter_stop(config->counter,
			    config->backend->tee(engine->session), &ns,
			    &unused))
		engine->stats.uncounted++;
	engine->stats.inside_ns += ns;
}

static void close_session(struct engine *e)
{
	engine_settle(e);
	drop_buffer(e);
	e->config.backend->close(e->session);
	e->session = NULL;
}

static int open_session(struct engine *e, struct error *err)
{
	const struct backend *b = e->config.backend;
	int ret;

	ret = b->open(&e->session, err);
	if (ret) {
		e->session = NULL;
		return ret;
	}
	e->stats.sessions++;
	e->broken = false;
	e->refused = false;
	e->called = false;
	ret = engine_get_slots(e, err);
	if (ret)
		close_session(e);
	else
		start_counting(e);
	return ret;
}

/*
 * A call that the TEE had no memory for may have left the session as it was;
 * a new one would need more.
 */
static bool answers(struct engine *e)
{
	const struct backend *b = e->config.backend;
	struct error unused = { 0 };

	return e->refused && b->nop && !b->nop(e->session, 1, &unused);
}

int engine_ensure_session(struct engine *e, struct error *err)
{
	if (e->session && e->broken && answers(e))
		e->broken = false;
	if (e->session && !e->broken)
		return 0;
	close_session(e);
	return open_session(e, err);
}

int engine_open(struct engine **engine, const struct engine_config *config,
		struct error *err)
{
	uint64_t begin = clock_now_ns();
	struct engine *e = calloc(1, sizeof(*e));
	struct open_cost cost = { 0 };
	int ret;

	*engine = NULL;
	if (!e)
		return error_set(err, -ENOMEM, "out of memory");
	e->config = *config;
	if (config->mode == MODE_TMPREF)
		e->config.reader_thread = false;
	e->slots = e->config.reader_thread ? 2 : 1;
	e->chunk = config->chunk ? config->chunk : default_chunk(config);
	e->piece = e->chunk;
	e->oneshot_limit = config->oneshot_limit;
	e->stats.slots = e->slots;
	ret = open_session(e, err);
	if (ret) {
		free(e);
		return ret;
	}
	if (config->backend->open_cost)
		config->backend->open_cost(e->session, &cost);
	e->stats.context_ns = cost.context_ns;
	e->stats.session_ns = cost.session_ns;
	e->stats.first_call_ns = cost.invoke_ns;
	e->stats.open_ns = clock_now_ns() - begin;
	*engine = e;
	return 0;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	close_session(engine);
	free(engine);
}

const struct engine_stats *engine_stats(const struct engine *engine)
{
	return &engine->stats;
}

bool engine_lost(const struct engine *engine)
{
	return !engine->session;
}

struct session *engine_session(const struct engine *engine)
{
	return engine->broken ? NULL : engine->session;
}

const struct buffer *engine_buffer(const struct engine *engine)
{
	return &engine->buffer;
}
