/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of a file is in the kernel's page cache. */
#ifndef TEEHASH_PAGE_CACHE_H
#define TEEHASH_PAGE_CACHE_H

#include <stdint.h>
#include <sys/stat.h>

struct page_cache {
	int64_t pages;      /* of the file; -1: not asked or not known */
	int64_t cached;     /* of these in the cache */
	const char *source; /* the system call that told */
	const char *reason; /* why it is not known */
};

/* st: what fstat() says of fd. */
void page_cache_ask(int fd, const struct stat *st, struct page_cache *cache);

#endif
