/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "clock.h"
#include "marker.h"
#include "session.h"
#include "tee_client.h"

#define PAGE 4096u

/*
 * Chosen by measurement, see docs/teehash.md: a call has the same overhead whatever its size, so
 * large chunks are faster, but take more memory.
 */
#define CHUNK_THREADED (1u << 20)
#define CHUNK_INLINE   (2u << 20)
/* If memory is short, a chunk is halved, but not below this. */
#define CHUNK_FLOOR (64u << 10)

static int get_buffer(struct hash_session *s, size_t size, struct error *err)
{
	const struct backend *b = s->settings->backend;
	uint64_t begin = clock_now_ns();
	int ret;

	buffer_free(b, s->open, &s->buffer);
	ret = buffer_alloc(b, s->open, size, &s->buffer, err);
	s->stats.buffer_ns += clock_now_ns() - begin;
	if (!ret)
		s->stats.buffer_bytes = size;
	return ret;
}

/*
 * Allocates the slots, in smaller sizes if need be: some TEEs have a small pool for shared memory.
 */
static int get_slots(struct hash_session *s, struct error *err)
{
	int ret = get_buffer(s, s->stats.slots * s->slot_bytes, err);

	while (ret == -ENOMEM && !s->settings->chunk && s->slot_bytes > CHUNK_FLOOR) {
		s->slot_bytes /= 2;
		ret = get_buffer(s, s->stats.slots * s->slot_bytes, err);
	}
	return ret;
}

static void start_counting(struct hash_session *s)
{
	if (!s->settings->counter)
		return;
	s->counting = s->tee && !ta_counter_start(s->settings->counter, s->tee, NULL);
	if (!s->counting)
		s->stats.uncounted++;
}

void session_complete(struct hash_session *s)
{
	uint64_t ns = 0;

	if (!s->counting)
		return;
	s->counting = false;
	/* A TA that died has lost its count. */
	if (s->broken || ta_counter_stop(s->settings->counter, s->tee, &ns, NULL))
		s->stats.uncounted++;
	s->stats.inside_ns += ns;
}

static void shut(struct hash_session *s)
{
	session_complete(s);
	buffer_free(s->settings->backend, s->open, &s->buffer);
	backend_close(s->settings->backend, s->open);
	s->open = NULL;
	s->tee = NULL;
}

int session_ensure(struct hash_session *s, struct error *err)
{
	const struct backend *b = s->settings->backend;
	int ret;

	if (s->open && !s->broken)
		return 0;
	shut(s);
	ret = backend_open(b, USE_DIGESTS, &s->open, err);
	if (ret)
		return ret;
	s->tee = b->tee ? b->tee(s->open) : NULL;
	s->stats.sessions++;
	s->broken = false;
	ret = get_slots(s, err);
	if (ret)
		shut(s);
	else
		start_counting(s);
	return ret;
}

int session_open(struct hash_session **session, const struct session_settings *settings,
		 struct error *err)
{
	uint64_t begin = clock_now_ns();
	struct hash_session *s = calloc(1, sizeof(*s));
	int ret;

	MARKER_ARM();
	*session = NULL;
	if (!s)
		return error_memory(err);
	s->settings = settings;
	s->slot_bytes = settings->chunk    ? settings->chunk :
			settings->threaded ? CHUNK_THREADED :
					     CHUNK_INLINE;
	s->most = SIZE_MAX;
	s->stats.slots = settings->threaded ? READER_SLOTS : 1;
	MARKER_OPEN();
	ret = session_ensure(s, err);
	MARKER_END();
	if (ret) {
		free(s);
		return ret;
	}
	if (s->tee) {
		s->stats.context_ns = s->tee->context_ns;
		s->stats.session_ns = s->tee->open_ns;
		s->stats.first_call_ns = s->tee->first_ns;
	}
	s->stats.open_ns = clock_now_ns() - begin;
	*session = s;
	return 0;
}

void session_close(struct hash_session *session)
{
	if (!session)
		return;
	MARKER_CLOSE();
	shut(session);
	MARKER_END();
	MARKER_DISARM();
	free(session);
}

int session_grow(struct hash_session *s, size_t size, size_t keep, struct error *err)
{
	uint8_t *kept = keep ? malloc(keep) : NULL;
	struct error unused;
	int ret;

	if (keep && !kept)
		return error_memory(err);
	if (keep)
		memcpy(kept, s->buffer.data, keep);
	ret = get_buffer(s, (size + PAGE - 1) / PAGE * PAGE, err);
	if (ret && get_slots(s, &unused))
		s->broken = true;
	if (!ret && keep)
		memcpy(s->buffer.data, kept, keep);
	free(kept);
	return ret;
}

/* Adds a call's time to the statistics, and marks the session broken if the error broke it. */
static int account(struct hash_session *s, uint64_t begin, int ret, const struct error *err)
{
	uint64_t ns = clock_now_ns() - begin;

	s->stats.call_ns += ns;
	s->stats.calls++;
	if (!s->stats.first_call_ns)
		s->stats.first_call_ns = ns;
	if (ret && ret != -EOPNOTSUPP && !error_tee_memory(err))
		s->broken = true;
	return ret;
}

int session_digest(struct hash_session *s, const struct algorithm *alg, size_t len, uint8_t *out,
		   struct error *err)
{
	uint64_t begin = clock_now_ns();
	int ret = s->settings->backend->digest(s->open, alg, &s->buffer, len, out, 1, err);

	return account(s, begin, ret, err);
}

int session_begin(struct hash_session *s, const struct algorithm *alg, struct error *err)
{
	uint64_t begin = clock_now_ns();

	return account(s, begin, s->settings->backend->digest_init(s->open, alg, err), err);
}

int session_piece(struct hash_session *s, size_t offset, size_t len, uint8_t *out,
		  struct error *err)
{
	const struct backend *b = s->settings->backend;
	uint64_t begin = clock_now_ns();
	int ret = out ? b->digest_final(s->open, &s->buffer, offset, len, out, err) :
			b->digest_update(s->open, &s->buffer, offset, len, err);

	return account(s, begin, ret, err);
}

bool session_take_less(struct hash_session *s, size_t len, const struct error *err)
{
	if (!error_tee_memory(err) || len <= CHUNK_FLOOR ||
	    (s->settings->chunk && len <= s->slot_bytes))
		return false;
	s->most = len / 2 / PAGE * PAGE;
	if (s->most < CHUNK_FLOOR)
		s->most = CHUNK_FLOOR;
	return true;
}

bool session_is_starved(struct hash_session *s, const struct algorithm *alg, struct error *err)
{
	const struct backend *b = s->settings->backend;
	uint8_t out[ALG_DIGEST_MAX_BYTES];
	int ret = b->digest(s->open, alg, &s->buffer, 0, out, 1, err);

	if (!ret)
		ret = b->digest_init(s->open, alg, err);
	if (ret && error_tee_memory(err))
		return true;
	s->broken = ret && ret != -EOPNOTSUPP;
	return false;
}
