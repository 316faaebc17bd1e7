// SPDX-License-Identifier: BSD-2-Clause
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "page_cache.h"

#ifndef __NR_cachestat
#define __NR_cachestat 451 /* the same on every architecture */
#endif

/* mincore() takes a vector of a byte a page; this much at a time. */
#define MINCORE_PAGES 16384u

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

static bool ask_mincore(int fd, uint64_t size, uint64_t page,
			struct page_cache *cache)
{
	uint64_t window = MINCORE_PAGES * page;
	unsigned char *seen = malloc(MINCORE_PAGES);
	int64_t cached = 0;
	bool good = seen;

	for (uint64_t at = 0; good && at < size; at += window) {
		uint64_t len = size - at < window ? size - at : window;
		uint64_t pages = (len + page - 1) / page;
		void *map =
			mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)at);

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

void page_cache_ask(int fd, const struct stat *st, struct page_cache *cache)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t size = (uint64_t)st->st_size;

	*cache = (struct page_cache){ .pages = -1 };
	if (!S_ISREG(st->st_mode)) {
		cache->reason = "not a regular file";
		return;
	}
	if (!ask_cachestat(fd, cache)) {
		/* For privacy, the kernel calls all of another's cached. */
		if (st->st_uid != geteuid() && geteuid() != 0) {
			cache->reason = "the file belongs to another user";
			return;
		}
		if (!ask_mincore(fd, size, page, cache)) {
			cache->reason = "the file system has no mincore()";
			return;
		}
	}
	cache->pages = (int64_t)((size + page - 1) / page);
	/* The file may have grown meanwhile. */
	if (cache->cached > cache->pages)
		cache->cached = cache->pages;
}
