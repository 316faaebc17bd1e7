// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "source.h"
#include "teehash.h"

#ifndef __NR_cachestat
#define __NR_cachestat 451 /* the same on every architecture */
#endif

/* mincore() takes a vector of a byte a page; this much at a time. */
#define MINCORE_PAGES 16384u

static int explain_open(int code, struct error *err)
{
	/* As sha256sum says it, so that scripts recognise it. */
	return error_set(err, code, "%s", strerror(-code));
}

int source_open(struct source *source, const char *name, struct error *err)
{
	off_t place;

	*source = (struct source){ .fd = -1 };
	if (!strcmp(name, "-")) {
		source->fd = STDIN_FILENO;
	} else {
		do
			source->fd =
				open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		while (source->fd < 0 && errno == EINTR && !interrupted());
		if (source->fd < 0)
			return explain_open(-errno, err);
		source->owned = true;
	}
	if (fstat(source->fd, &source->before)) {
		int code = -errno;

		source_close(source);
		return explain_open(code, err);
	}
	if (S_ISDIR(source->before.st_mode)) {
		source_close(source);
		return explain_open(-EISDIR, err);
	}
	source->regular = S_ISREG(source->before.st_mode);
	place = source->regular ? lseek(source->fd, 0, SEEK_CUR) : 0;
	source->start = place > 0 ? (uint64_t)place : 0;
	/* Advice only: a pipe refuses it, and that is fine. */
	posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

void source_close(struct source *source)
{
	if (source->owned && source->fd >= 0)
		close(source->fd);
	source->fd = -1;
	source->owned = false;
}

void source_find_common(const char *name, struct common_source *common)
{
	bool is_stdin = !strcmp(name, "-");
	struct stat st;

	*common = (struct common_source){ .is = false };
	if (is_stdin ? fstat(STDIN_FILENO, &st) : stat(name, &st))
		return;
	common->is = is_stdin || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
	common->dev = st.st_dev;
	common->ino = st.st_ino;
}

bool source_same(const struct common_source *a, const struct common_source *b)
{
	return a->is && b->is && a->dev == b->dev && a->ino == b->ino;
}

int source_rewind(struct source *source)
{
	if (!source->bytes)
		return 0;
	if (!source->regular)
		return -ESPIPE;
	if (lseek(source->fd, (off_t)source->start, SEEK_SET) < 0)
		return -errno;
	source->bytes = 0;
	return 0;
}

uint64_t source_size(const struct source *source)
{
	uint64_t size = (uint64_t)source->before.st_size;

	return source->regular && size > source->start ? size - source->start :
							 0;
}

int source_fill(struct source *source, uint8_t *buf, size_t size, size_t *len,
		bool *eof)
{
	uint64_t begin = clock_now_ns();
	size_t n = 0;
	int ret = 0;

	*eof = false;
	while (n < size) {
		ssize_t got = read(source->fd, buf + n, size - n);

		source->reads++;
		if (got > 0) {
			n += (size_t)got;
		} else if (got == 0) {
			*eof = true;
			break;
		} else if (errno != EINTR) {
			ret = -errno;
			break;
		}
		if (n < size && interrupted()) {
			ret = -EINTR;
			break;
		}
	}
	source->bytes += n;
	source->read_ns += clock_now_ns() - begin;
	*len = n;
	return ret;
}

int source_fill_error(const struct source *source, int code, struct error *err)
{
	if (code == -EINTR)
		return error_set(err, code, "interrupted");
	return error_set(err, code, "read error after %" PRIu64 " bytes: %s",
			 source->bytes, strerror(-code));
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

int source_unchanged(const struct source *source, struct error *err)
{
	struct stat now;

	if (!source->regular)
		return 0;
	if (fstat(source->fd, &now))
		return error_set(err, -errno, "cannot ask for its size: %s",
				 strerror(errno));
	if (now.st_size == source->before.st_size &&
	    same_time(&now.st_mtim, &source->before.st_mtim))
		return 0;
	error_set(err, -ESTALE,
		  "changed while being read (size %" PRId64 " before, %" PRId64
		  " after): no digest",
		  (int64_t)source->before.st_size, (int64_t)now.st_size);
	error_hint(err, "try again when nothing writes to it");
	return -ESTALE;
}

void source_drop_cache(struct source *source)
{
	if (!source->regular)
		return;
	/* Pages not yet on the disk would stay. */
	fdatasync(source->fd);
	posix_fadvise(source->fd, 0, 0, POSIX_FADV_DONTNEED);
}

void source_will_need(const struct source *source, size_t len)
{
	if (source->regular)
		posix_fadvise(source->fd,
			      (off_t)(source->start + source->bytes),
			      (off_t)len, POSIX_FADV_WILLNEED);
}

static bool ask_cachestat(int fd, struct page_cache *cache)
{
	struct {
		uint64_t offset;
		uint64_t len;
	} range = { 0, 0 }; /* to the end of the file */
	struct {
		uint64_t cached;
		uint64_t dirty;
		uint64_t writeback;
		uint64_t evicted;
		uint64_t recently_evicted;
	} found = { 0 };

	if (syscall(__NR_cachestat, fd, &range, &found, 0u))
		return false;
	cache->cached = (int64_t)found.cached;
	cache->source = "cachestat";
	return true;
}

static bool ask_mincore(const struct source *source, uint64_t page,
			struct page_cache *cache)
{
	uint64_t size = (uint64_t)source->before.st_size;
	uint64_t window = MINCORE_PAGES * page;
	unsigned char *seen = malloc(MINCORE_PAGES);
	int64_t cached = 0;
	bool good = seen;

	for (uint64_t at = 0; good && at < size; at += window) {
		uint64_t len = size - at < window ? size - at : window;
		uint64_t pages = (len + page - 1) / page;
		void *map = mmap(NULL, len, PROT_READ, MAP_SHARED, source->fd,
				 (off_t)at);

		if (map == MAP_FAILED) {
			good = false;
			break;
		}
		good = !mincore(map, len, seen);
		for (uint64_t i = 0; good && i < pages; i++)
			cached += seen[i] & 1;
		munmap(map, len);
	}
	free(seen);
	if (!good)
		return false;
	cache->cached = cached;
	cache->source = "mincore";
	return true;
}

void source_ask_cache(const struct source *source, struct page_cache *cache)
{
	long size = sysconf(_SC_PAGESIZE);
	uint64_t page = size > 0 ? (uint64_t)size : 4096;

	*cache = (struct page_cache){ .pages = -1 };
	if (!source->regular) {
		cache->reason = "not a regular file";
		return;
	}
	if (ask_cachestat(source->fd, cache)) {
		cache->pages = (source->before.st_size + (int64_t)page - 1) /
			       (int64_t)page;
	} else if (source->before.st_uid != geteuid() && geteuid() != 0) {
		/* The kernel would call everything cached, for privacy. */
		cache->reason = "the file belongs to another user";
	} else if (ask_mincore(source, page, cache)) {
		cache->pages = (source->before.st_size + (int64_t)page - 1) /
			       (int64_t)page;
	} else {
		cache->reason = "the file system has no mincore()";
	}
}
