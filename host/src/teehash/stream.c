/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <sys/resource.h>

#include "clock.h"
#include "marker.h"
#include "stop.h"
#include "stream.h"

const char *const hash_modes[] = {
	[MODE_AUTO] = "auto",
	[MODE_STREAM] = "stream",
	[MODE_ONESHOT] = "oneshot",
	NULL,
};

const char way_oneshot[] = "oneshot", way_stream[] = "stream";

/* A message while it is hashed. */
struct stream {
	struct hash_session *session;
	const struct stream_settings *settings;
	struct message *m;
	struct source source;
};

static int check_stop(struct stream *st)
{
	return stop_asked() ? error_set(&st->m->err, -EINTR, "interrupted") : 0;
}

/*
 * Hashes len bytes of the buffer, in one call or, if the TEE refuses that, in smaller calls; `last`
 * ends the message. A refused call has hashed nothing, so its bytes are sent again.
 */
static int hash_piece(struct stream *st, size_t offset, size_t len, bool last)
{
	struct hash_session *s = st->session;
	struct error *err = &st->m->err;
	int ret;

	for (;;) {
		size_t n = len < session_call_max(s) ? len : session_call_max(s);

		ret = session_piece(s, offset, n, last && n == len ? st->m->digest : NULL, err);
		if (ret && !session_take_less(s, n, err))
			return ret;
		if (!ret && n == len)
			return 0;
		offset += ret ? 0 : n;
		len -= ret ? 0 : n;
	}
}

static int hash_last(struct stream *st, size_t offset, size_t len)
{
	int ret;

	MARKER_LAST();
	ret = hash_piece(st, offset, len, true);
	MARKER_END();
	return ret;
}

/* Reads up to `size` bytes into the buffer at `offset`. */
static int fill(struct stream *st, size_t offset, size_t size, size_t *len, bool *eof)
{
	uint64_t before = st->source.read_ns;
	int ret = source_fill(&st->source, st->session->buffer.data + offset, size, len, eof,
			      &st->m->err);

	st->m->stats.inline_ns += st->source.read_ns - before;
	return ret;
}

/* Returns how many disk blocks this thread's reads have caused so far. */
static long blocks_read(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_inblock;
}

/*
 * Asks the kernel to read the next piece while the backend hashes the current piece, but only if
 * the last read went to the disk: for cached files the request would be wasted work.
 */
static void read_ahead(struct stream *st, long *blocks)
{
	long now = blocks_read();

	if (now != *blocks)
		source_will_need(&st->source, st->session->slot_bytes);
	*blocks = now;
}

static int wait_for_reader(struct stream *st, struct reader *reader, unsigned int *slot,
			   size_t *len, bool *eof)
{
	uint64_t begin = clock_now_ns();
	int ret = reader_next(reader, slot, len, eof, &st->m->err);

	st->m->stats.wait_ns += clock_now_ns() - begin;
	return ret;
}

/* Hashes one slot while the reader fills the other; without a thread, reads between calls. */
static int hash_slots(struct stream *st, size_t len)
{
	struct hash_session *s = st->session;
	struct reader reader;
	bool threaded = s->settings->threaded;
	long blocks = threaded ? 0 : blocks_read() - 1;
	unsigned int slot = 0;
	bool eof = false;
	int ret = threaded ? reader_start(&reader, &st->source, s->buffer.data, s->slot_bytes,
					  &st->m->err) :
			     0;

	if (ret)
		return ret;
	while (!ret && !eof) {
		MARKER_STEP();
		ret = check_stop(st);
		if (!ret && !threaded)
			read_ahead(st, &blocks);
		if (!ret)
			ret = hash_piece(st, slot * s->slot_bytes, len, false);
		if (!ret)
			ret = threaded ? wait_for_reader(st, &reader, &slot, &len, &eof) :
					 fill(st, 0, s->slot_bytes, &len, &eof);
	}
	if (threaded) {
		reader_stop(&reader);
		if (reader.runq_ns > 0)
			s->stats.reader_runq_ns += (uint64_t)reader.runq_ns;
	}
	return ret ? ret : hash_last(st, slot * s->slot_bytes, len);
}

/* Hashes the message as a stream. The buffer holds its first len bytes; eof: it holds all. */
static int hash_stream(struct stream *st, size_t len, bool eof)
{
	struct hash_session *s = st->session;
	int ret;

	st->m->stats.way = way_stream;
	ret = session_begin(s, st->m->alg, &st->m->err);
	if (ret)
		return ret;
	if (eof)
		return hash_last(st, 0, len);
	if (len > s->slot_bytes) {
		/* The file was meant for one call, but is longer than fstat() said. */
		ret = hash_piece(st, 0, len, false);
		len = 0;
		if (ret)
			return ret;
	}
	return hash_slots(st, len);
}

static int grow(struct stream *st, size_t size, size_t keep)
{
	uint64_t begin = clock_now_ns();
	int ret = session_grow(st->session, size, keep, &st->m->err);

	st->m->stats.setup_ns += clock_now_ns() - begin;
	return ret;
}

/* Reads the whole message if it may go in one call, otherwise a slot full of it. */
static int read_first(struct stream *st, uint64_t limit, size_t *len, bool *eof)
{
	struct hash_session *s = st->session;
	bool oneshot = st->settings->mode == MODE_ONESHOT;
	uint64_t known = source_size(&st->source);
	size_t size = s->slot_bytes;
	size_t more;
	int ret = 0;

	if (known > size && known <= limit)
		size = (size_t)known;
	if (size > s->buffer.size)
		ret = grow(st, size, 0);
	if (ret == -ENOMEM && !oneshot && !s->broken) {
		size = s->slot_bytes;
		ret = 0;
	}
	if (!ret)
		ret = fill(st, 0, size, len, eof);
	/* A pipe's length is not known, so the buffer grows to the limit. */
	if (!ret && !*eof && oneshot && *len < limit) {
		ret = grow(st, (size_t)limit, *len);
		if (!ret)
			ret = fill(st, *len, (size_t)limit - *len, &more, eof);
		if (!ret)
			*len += more;
	}
	if (!ret && !*eof && oneshot)
		ret = source_at_end(&st->source, eof, &st->m->err);
	return ret;
}

static int too_long(struct stream *st)
{
	int ret = source_unchanged(&st->source, &st->m->err);

	if (ret)
		return ret;
	return error_set(&st->m->err, -EFBIG, "more than the %zu bytes of --oneshot-limit",
			 st->settings->oneshot_limit);
}

static int hash_source(struct stream *st)
{
	struct hash_session *s = st->session;
	enum hash_mode mode = st->settings->mode;
	bool whole = mode != MODE_STREAM;
	uint64_t limit = whole ? st->settings->oneshot_limit : 0;
	size_t len;
	bool eof;
	int ret;

	if (mode == MODE_ONESHOT && source_size(&st->source) > limit)
		return too_long(st);
	if (mode == MODE_AUTO && limit > s->most)
		limit = s->most;
	MARKER_FIRST();
	ret = read_first(st, limit, &len, &eof);
	if (ret)
		return ret;
	if (whole && eof && len <= limit) {
		st->m->stats.way = way_oneshot;
		MARKER_LAST();
		ret = session_digest(s, st->m->alg, len, st->m->digest, &st->m->err);
		MARKER_END();
		if (!ret || mode == MODE_ONESHOT || !session_take_less(s, len, &st->m->err))
			return ret;
	} else if (mode == MODE_ONESHOT) {
		return too_long(st);
	}
	return hash_stream(st, len, eof);
}

static int hash_opened(struct stream *st)
{
	struct hash_session *s = st->session;
	struct file_stats *stats = &st->m->stats;
	uint64_t begin = clock_now_ns();
	uint64_t call_ns;
	uint64_t calls;
	int ret = session_ensure(s, &st->m->err);

	stats->setup_ns += clock_now_ns() - begin;
	if (ret)
		return ret;
	begin = clock_now_ns();
	call_ns = s->stats.call_ns;
	calls = s->stats.calls;
	ret = hash_source(st);
	if (!ret)
		ret = source_unchanged(&st->source, &st->m->err);
	stats->hash_ns = clock_now_ns() - begin;
	stats->call_ns = s->stats.call_ns - call_ns;
	stats->calls = s->stats.calls - calls;
	stats->bytes = st->source.bytes;
	stats->read_ns = st->source.read_ns;
	stats->reads = st->source.reads;
	return ret;
}

void stream_hash(struct hash_session *session, const struct stream_settings *settings,
		 struct message *m)
{
	struct stream st = { session, settings, m, { .fd = -1 } };
	struct file_stats *stats = &m->stats;
	uint64_t begin = clock_now_ns();

	memset(&m->err, 0, sizeof(m->err));
	*stats = (struct file_stats){ 0 };
	m->ret = check_stop(&st);
	if (!m->ret)
		m->ret = source_open(&st.source, m->name, &m->err);
	if (m->ret) {
		stats->missing = m->ret == -ENOENT;
		stats->open_ns = clock_now_ns() - begin;
		stats->total_ns = stats->open_ns;
		return;
	}
	if (settings->cold)
		source_drop_cache(&st.source);
	stats->open_ns = clock_now_ns() - begin;
	m->ret = hash_opened(&st);
	source_close(&st.source);
	stats->total_ns = clock_now_ns() - begin;
}
