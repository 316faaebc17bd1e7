/* SPDX-License-Identifier: BSD-2-Clause */
/* The way of one message through an engine. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "engine_state.h"
#include "source.h"
#include "teehash.h"

#define PAGE 4096u

/* One message on its way. */
struct message {
	struct engine *engine;
	const struct algorithm *alg;
	struct source source;
	struct file_stats *stats;
	struct error *err;
	uint64_t hashed; /* bytes so far */
	bool refused;    /* a call was, and smaller ones may not be */
};

/* The backend has a better sentence than the call that was refused. */
static void explain_unsupported(struct message *m)
{
	struct engine *e = m->engine;
	struct error why = { 0 };

	if (e->config.backend->supports(e->session, m->alg, &why))
		*m->err = why;
}

/* After a call: its time, and whether the session survived it. */
static int account(struct message *m, uint64_t begin, uint64_t bytes, int ret)
{
	struct engine *e = m->engine;
	uint64_t ns = clock_now_ns() - begin;

	m->stats->call_ns += ns;
	m->stats->calls++;
	if (!e->called) {
		e->called = true;
		if (!e->stats.first_call_ns)
			e->stats.first_call_ns = ns;
	}
	if (ret == -EOPNOTSUPP)
		explain_unsupported(m);
	else if (ret)
		e->broken = true;
	e->refused = ret && error_tee_memory(m->err);
	if (!ret && e->config.progress)
		e->config.progress(e->config.progress_ctx, bytes);
	if (!ret)
		m->hashed += bytes;
	return ret;
}

static int call_digest(struct message *m, size_t len, uint8_t *out)
{
	struct engine *e = m->engine;
	uint64_t begin = clock_now_ns();

	return account(m, begin, len,
		       e->config.backend->digest(e->session, m->alg, &e->buffer,
						 0, len, out, 1, m->err));
}

static int call_init(struct message *m)
{
	struct engine *e = m->engine;
	uint64_t begin = clock_now_ns();

	return account(m, begin, 0,
		       e->config.backend->digest_init(e->session, m->alg,
						      m->err));
}

static int call_update(struct message *m, size_t offset, size_t len)
{
	struct engine *e = m->engine;
	uint64_t begin = clock_now_ns();

	return account(m, begin, len,
		       e->config.backend->digest_update(e->session, &e->buffer,
							offset, len, m->err));
}

static int call_final(struct message *m, size_t offset, size_t len,
		      uint8_t *out)
{
	struct engine *e = m->engine;
	uint64_t begin = clock_now_ns();

	return account(m, begin, len,
		       e->config.backend->digest_final(e->session, &e->buffer,
						       offset, len, out,
						       m->err));
}

/*
 * A TEE may allocate more than it can map for a call, and says so by refusing
 * the call. True when less at a time is worth a try, from now on; not where
 * the user has said how much.
 */
static bool take_less(struct message *m, int ret, size_t len)
{
	struct engine *e = m->engine;

	if (!ret || !error_tee_memory(m->err) ||
	    e->config.mode == MODE_ONESHOT || len <= ENGINE_CHUNK_FLOOR)
		return false;
	if (len <= e->piece) {
		if (e->config.chunk)
			return false;
		e->piece = len / 2 / PAGE * PAGE;
		if (e->piece < ENGINE_CHUNK_FLOOR)
			e->piece = ENGINE_CHUNK_FLOOR;
		e->stats.chunk = e->piece;
	}
	if (e->oneshot_limit >= len)
		e->oneshot_limit = len - 1;
	m->refused = true;
	return true;
}

/* The message's beginning, in the session that is there. */
static int begin_stream(struct message *m)
{
	m->engine->broken = false;
	m->stats->way = WAY_STREAM;
	memset(m->err, 0, sizeof(*m->err));
	return call_init(m);
}

/*
 * What is in the buffer, in calls that are not larger than a piece; the last
 * one ends the message if there is an `out`. While nothing of the message is
 * hashed yet, a call that was refused is repeated with less: who would hash a
 * piece twice or not at all can't be among those who begin anew.
 */
static int hash_piece(struct message *m, size_t offset, size_t len,
		      uint8_t *out)
{
	struct engine *e = m->engine;
	size_t done = 0;
	bool last;
	int ret;

	do {
		size_t n = len - done < e->piece ? len - done : e->piece;

		last = done + n == len;
		if (last && out)
			ret = call_final(m, offset + done, n, out);
		else
			ret = call_update(m, offset + done, n);
		if (!ret) {
			done += n;
			continue;
		}
		if (!take_less(m, ret, n) || m->hashed)
			return ret;
		ret = begin_stream(m);
		if (ret)
			return ret;
		last = false;
	} while (!last);
	return 0;
}

static int check_interrupt(struct message *m)
{
	if (interrupted())
		return error_set(m->err, -EINTR, "interrupted");
	return 0;
}

static int fill(struct message *m, size_t size, size_t *len, bool *eof)
{
	uint64_t before = m->source.read_ns;
	int ret =
		source_fill(&m->source, m->engine->buffer.data, size, len, eof);

	m->stats->inline_ns += m->source.read_ns - before;
	return ret ? source_fill_error(&m->source, ret, m->err) : 0;
}

/* Blocks that this thread has had read from a disk. */
static long blocks_read(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_inblock;
}

/*
 * One slot, read and hashed in turn. Where pieces do come from a disk, the
 * kernel is asked to read the next while the backend is busy with this one;
 * where they come from the page cache that would be wasted work.
 */
static int stream_inline(struct message *m, size_t len, uint8_t *out)
{
	bool ahead = m->engine->config.mode != MODE_TMPREF;
	struct engine *e = m->engine;
	long before = ahead ? blocks_read() - 1 : 0;
	bool eof = false;
	int ret;

	while (!eof) {
		ret = check_interrupt(m);
		if (ret)
			return ret;
		if (ahead) {
			long now = blocks_read();

			if (now != before)
				source_will_need(&m->source, e->chunk);
			before = now;
		}
		ret = hash_piece(m, 0, len, NULL);
		if (ret)
			return ret;
		ret = fill(m, e->chunk, &len, &eof);
		if (ret)
			return ret;
	}
	return hash_piece(m, 0, len, out);
}

static int stream_pieces(struct message *m, size_t len, uint8_t *out)
{
	struct engine *e = m->engine;
	unsigned int slot = 0;
	uint64_t begin;
	bool eof = false;
	int ret;

	while (!eof) {
		ret = check_interrupt(m);
		if (!ret)
			ret = hash_piece(m, slot * e->chunk, len, NULL);
		if (ret)
			return ret;
		begin = clock_now_ns();
		reader_release(e->reader);
		ret = reader_next(e->reader, &slot, &len, &eof);
		m->stats->wait_ns += clock_now_ns() - begin;
		if (ret)
			return ret == -EINTR ? check_interrupt(m) : ret;
	}
	return hash_piece(m, slot * e->chunk, len, out);
}

static int stream_threaded(struct message *m, size_t len, uint8_t *out)
{
	struct engine *e = m->engine;
	int ret;

	if (!e->reader) {
		ret = reader_create(&e->reader, e->buffer.data, e->chunk,
				    e->slots, m->err);
		if (ret)
			return ret;
	}
	reader_start(e->reader, &m->source, 1);
	m->err->code = 0;
	ret = stream_pieces(m, len, out);
	/* Who was interrupted leaves without waiting for a read to end. */
	if (ret == -EINTR)
		interrupt_exit();
	reader_stop(e->reader);
	e->stats.reader_runq_ns = reader_runq_ns(e->reader);
	/* The backend's errors are in m->err, the reader's are plain. */
	if (ret && !m->err->code)
		source_fill_error(&m->source, ret, m->err);
	return ret;
}

/* len bytes are in the first slot and the end is not in sight. */
static int stream(struct message *m, size_t len, bool eof, uint8_t *out)
{
	struct engine *e = m->engine;
	int ret;

	ret = begin_stream(m);
	if (ret)
		return ret;
	if (eof)
		return hash_piece(m, 0, len, out);
	if (len > e->chunk) {
		/* A file in one call that was longer than it said. */
		ret = hash_piece(m, 0, len, NULL);
		len = 0;
		if (ret)
			return ret;
	}
	return e->slots > 1 ? stream_threaded(m, len, out) :
			      stream_inline(m, len, out);
}

/*
 * Has the source ended just where the buffer is full? A byte too many goes
 * back.
 */
static int ends_here(struct message *m, bool *eof)
{
	size_t len;
	uint8_t c;
	int ret = source_fill(&m->source, &c, 1, &len, eof);

	if (ret)
		return source_fill_error(&m->source, ret, m->err);
	/* From a pipe it can't go back, but then the message is too long. */
	if (len && m->source.regular) {
		m->source.bytes -= len;
		if (lseek(m->source.fd, -1, SEEK_CUR) < 0)
			return error_set(m->err, -errno, "cannot seek: %s",
					 strerror(errno));
	}
	return 0;
}

/* How much to read before deciding for one call or a stream. */
static int first_size(struct message *m, size_t *size)
{
	struct engine *e = m->engine;
	uint64_t limit = e->oneshot_limit;
	uint64_t left = source_size(&m->source);
	uint64_t begin = clock_now_ns();
	int ret;

	/* A buffer for calls that were refused is of no use. */
	if (e->buffer.size > e->slots * e->chunk &&
	    e->buffer.size > limit / PAGE * PAGE + PAGE) {
		ret = engine_get_slots(e, m->err);
		if (ret) {
			e->broken = true;
			return ret;
		}
	}
	*size = e->chunk;
	if (e->config.mode == MODE_STREAM || e->config.mode == MODE_TMPREF)
		return 0;
	if (e->config.mode == MODE_ONESHOT) {
		if (left > limit)
			return error_set(m->err, -EFBIG,
					 "%" PRIu64 " bytes are more than the "
					 "%" PRIu64 " of --oneshot-limit",
					 left, limit);
		/* A pipe does not say how much is to come. */
		if (!left)
			left = limit;
	}
	if (left > limit)
		return 0;
	if (left <= e->slots * e->chunk) {
		*size = left > e->chunk ? (size_t)left : e->chunk;
		return 0;
	}
	*size = (size_t)left;
	if (left <= e->buffer.size)
		return 0;
	ret = engine_get_buffer(e, ((size_t)left + PAGE - 1) / PAGE * PAGE,
				m->err);
	if (ret == -ENOMEM && e->config.mode == MODE_AUTO) {
		/* There may be room for smaller slots only. */
		ret = engine_get_slots(e, m->err);
		*size = e->chunk;
	}
	if (ret)
		e->broken = true;
	m->stats->setup_ns += clock_now_ns() - begin;
	return ret;
}

static int hash_source(struct message *m, uint8_t *out)
{
	enum hash_mode mode = m->engine->config.mode;
	struct engine *e = m->engine;
	size_t size;
	size_t len;
	bool eof;
	int ret;

	ret = first_size(m, &size);
	if (!ret)
		ret = fill(m, size, &len, &eof);
	/* Only a file that told its size can be known to end at a full slot. */
	if (!ret && !eof &&
	    (mode == MODE_ONESHOT || len == source_size(&m->source)))
		ret = ends_here(m, &eof);
	if (ret)
		return ret;
	if (mode == MODE_STREAM || mode == MODE_TMPREF)
		return stream(m, len, eof, out);
	if (eof && len <= e->oneshot_limit) {
		m->stats->way = WAY_ONESHOT;
		ret = call_digest(m, len, out);
		return take_less(m, ret, len) ? stream(m, len, eof, out) : ret;
	}
	if (mode == MODE_ONESHOT) {
		ret = source_unchanged(&m->source, m->err);
		if (ret)
			return ret;
		return error_set(m->err, -EFBIG,
				 "more than the %zu bytes of --oneshot-limit",
				 e->config.oneshot_limit);
	}
	return stream(m, len, eof, out);
}

static void ask_page_cache(struct message *m)
{
	struct page_cache cache;

	source_ask_cache(&m->source, &cache);
	m->stats->pages = cache.pages;
	m->stats->pages_cached = cache.cached > cache.pages ? cache.pages :
							      cache.cached;
	m->stats->pages_source = cache.source;
	m->stats->pages_reason = cache.reason;
}

/*
 * After calls that were refused in the midst of a message, or by a session
 * that is dead now: once more from the beginning, where it can be read again.
 * Every time less is taken at a time, so this ends.
 */
static int hash_again(struct message *m, int ret, uint8_t *out)
{
	struct engine *e = m->engine;

	while (ret && m->refused) {
		m->refused = false;
		if (ret == -EINTR || source_rewind(&m->source))
			return ret;
		if (e->config.progress)
			e->config.progress(e->config.progress_ctx,
					   0 - m->hashed);
		m->hashed = 0;
		memset(m->err, 0, sizeof(*m->err));
		ret = engine_ensure_session(e, m->err);
		if (!ret)
			ret = hash_source(m, out);
	}
	return ret;
}

/*
 * Who tries again, here or in another engine, must find standard input where
 * it was. True: that can't be.
 */
static bool give_back(struct message *m, int ret)
{
	if (ret != -ENOMEM && !engine_lost(m->engine))
		return m->source.bytes != 0;
	return source_rewind(&m->source) != 0;
}

int engine_hash(struct engine *engine, const char *name,
		const struct algorithm *alg, uint8_t *digest,
		struct file_stats *stats, struct error *err)
{
	uint8_t out[ALG_DIGEST_MAX_BYTES];
	uint64_t begin = clock_now_ns();
	struct message m = {
		.engine = engine,
		.alg = alg,
		.stats = stats,
		.err = err,
	};
	uint64_t hash_begin;
	int ret;

	*stats = (struct file_stats){ .pages = -1 };
	ret = source_open(&m.source, name, err);
	if (ret) {
		stats->missing = ret == -ENOENT;
		goto out;
	}
	if (engine->config.cold)
		source_drop_cache(&m.source);
	if (engine->config.ask_page_cache)
		ask_page_cache(&m);
	stats->open_ns = clock_now_ns() - begin;

	hash_begin = clock_now_ns();
	ret = engine_ensure_session(engine, err);
	stats->setup_ns += clock_now_ns() - hash_begin;
	if (ret)
		goto out;

	hash_begin = clock_now_ns();
	ret = hash_again(&m, hash_source(&m, out), out);
	if (!ret)
		ret = source_unchanged(&m.source, err);
	stats->hash_ns = clock_now_ns() - hash_begin;
	stats->bytes = m.source.bytes;
	stats->read_ns = m.source.read_ns;
	stats->reads = m.source.reads;
	if (!ret)
		memcpy(digest, out, alg->out_bytes);
out:
	if (ret)
		stats->consumed = give_back(&m, ret);
	source_close(&m.source);
	stats->total_ns = clock_now_ns() - begin;
	return ret;
}
