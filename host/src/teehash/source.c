/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <unistd.h>

#include "clock.h"
#include "source.h"
#include "stop.h"

#define LOOK_MS 100 /* interval in ms at which a wait for a pipe checks the flags */

_Static_assert(sizeof(off_t) >= 8, "files may be larger than 2 GiB");

int source_open(struct source *source, const char *name, struct error *err)
{
	off_t place;
	int code = 0;

	*source = (struct source){ .fd = -1 };
	if (!strcmp(name, "-")) {
		source->fd = STDIN_FILENO;
	} else {
		/* opening a FIFO blocks until its other end is opened */
		do
			source->fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		while (source->fd < 0 && errno == EINTR && !stop_asked());
	}
	if (source->fd < 0 || fstat(source->fd, &source->before))
		code = -errno;
	else if (S_ISDIR(source->before.st_mode))
		code = -EISDIR;
	if (code) {
		source_close(source);
		/* strerror() alone, as in sha256sum, so that scripts recognise it. */
		return error_set(err, code, "%s", strerror(-code));
	}
	source->regular = S_ISREG(source->before.st_mode);
	place = source->regular ? lseek(source->fd, 0, SEEK_CUR) : 0;
	source->start = place > 0 ? (uint64_t)place : 0;
	/* This is advice only: it fails on pipes, which does no harm. */
	posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

void source_close(struct source *source)
{
	/* fill_descriptors() in main.c made sure that no other file has number 0. */
	if (source->fd > STDIN_FILENO)
		close(source->fd);
	source->fd = -1;
}

bool source_is_shared(const char *name)
{
	struct stat st;

	if (!strcmp(name, "-"))
		return true;
	return !stat(name, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

uint64_t source_size(const struct source *source)
{
	uint64_t size = (uint64_t)source->before.st_size;

	return source->regular && size > source->start ? size - source->start : 0;
}

static bool told_to_stop(const struct source *source)
{
	return stop_asked() || atomic_load(&source->given_up);
}

/*
 * Waits for data and checks the flags meanwhile: a read from a pipe may block for ever, in a thread
 * that gets no signals. Returns false if told to stop.
 */
static bool wait_for_data(const struct source *source)
{
	struct pollfd fd = { .fd = source->fd, .events = POLLIN };

	while (!told_to_stop(source)) {
		int ready = poll(&fd, 1, LOOK_MS);

		/* After an error or a hang-up of poll(), read() reports the reason. */
		if (ready > 0 || (ready < 0 && errno != EINTR))
			return true;
	}
	return false;
}

int source_fill(struct source *source, uint8_t *buf, size_t size, size_t *len, bool *eof,
		struct error *err)
{
	uint64_t begin = clock_now_ns();
	size_t n = 0;
	int ret = 0;

	*eof = false;
	if (source->has_ahead && size) {
		source->has_ahead = false;
		buf[n++] = source->ahead;
	}
	while (n < size && !ret) {
		ssize_t got;

		if (!source->regular && !wait_for_data(source)) {
			ret = -EINTR;
			break;
		}
		got = read(source->fd, buf + n, size - n);
		source->reads++;
		if (got == 0) {
			*eof = true;
			break;
		}
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			ret = -errno;
		if (!ret && n < size && told_to_stop(source))
			ret = -EINTR;
	}
	source->bytes += n;
	source->read_ns += clock_now_ns() - begin;
	*len = n;
	if (ret == -EINTR)
		return error_set(err, ret, "interrupted");
	if (ret)
		return error_set(err, ret, "read error after %" PRIu64 " bytes: %s", source->bytes,
				 strerror(-ret));
	/* If the file's size is reached, finds the end now: no empty last piece is needed. */
	if (!*eof && source->bytes == source_size(source))
		ret = source_at_end(source, eof, err);
	return ret;
}

int source_at_end(struct source *source, bool *end, struct error *err)
{
	size_t len;
	int ret = source_fill(source, &source->ahead, 1, &len, end, err);

	source->has_ahead = len;
	source->bytes -= len;
	return ret;
}

int source_unchanged(const struct source *source, struct error *err)
{
	struct stat now;

	if (!source->regular)
		return 0;
	if (fstat(source->fd, &now))
		return error_errno(err, "cannot ask for its size");
	if (now.st_size == source->before.st_size &&
	    now.st_mtim.tv_sec == source->before.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == source->before.st_mtim.tv_nsec)
		return 0;
	return error_set(err, -ESTALE,
			 "changed while being read (size %" PRId64 " before, %" PRId64
			 " after): no digest\ntry again when nothing writes to it",
			 (int64_t)source->before.st_size, (int64_t)now.st_size);
}

void source_drop_cache(const struct source *source)
{
	if (!source->regular)
		return;
	/* Dirty pages would stay in the cache, so they are written first. */
	fdatasync(source->fd);
	posix_fadvise(source->fd, 0, 0, POSIX_FADV_DONTNEED);
}

void source_will_need(const struct source *source, size_t len)
{
	if (source->regular)
		posix_fadvise(source->fd, (off_t)(source->start + source->bytes), (off_t)len,
			      POSIX_FADV_WILLNEED);
}
