/* SPDX-License-Identifier: BSD-2-Clause */
/* A message comes from a file, a pipe or standard input. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "error.h"

/* The part of a file that is in the kernel's page cache. */
struct page_cache {
	int64_t pages;      /* of the file; -1: not asked or not known */
	int64_t cached;     /* of these in the cache */
	const char *reason; /* why it is not known */
};

struct source {
	int fd;
	bool regular;
	struct stat before; /* as it was when it was opened */
	uint64_t start;     /* offset of the first byte read */
	uint64_t bytes;     /* filled so far */
	uint64_t read_ns;   /* time in read() */
	uint64_t reads;     /* calls of read() */
	bool has_ahead;     /* source_at_end() found a byte: */
	uint8_t ahead;
	atomic_bool given_up; /* nobody wants the rest: who waits for it ends */
};

/* Opens a file; "-" is standard input. 0, or -errno with the reason. */
int source_open(struct source *source, const char *name, struct error *err);
void source_close(struct source *source);

/*
 * Returns true if all who open `name` read from one place together, as with
 * standard input or a pipe. A regular file has a place of its own for each.
 */
bool source_is_shared(const char *name);

/* Returns how many bytes are left by the file's size; 0: not known. */
uint64_t source_size(const struct source *source);

/*
 * Fills buf up to size bytes; *eof says that the end was reached. 0, or -errno with the reason:
 * -EINTR when told to stop.
 */
int source_fill(struct source *source, uint8_t *buf, size_t size, size_t *len, bool *eof,
		struct error *err);
/*
 * Looks whether there is more, by reading one byte: the next source_fill()
 * begins with it.
 */
int source_at_end(struct source *source, bool *end, struct error *err);

/* Returns -ESTALE if the file isn't what it was when it was opened. */
int source_unchanged(const struct source *source, struct error *err);

void source_drop_cache(const struct source *source);
void source_ask_cache(const struct source *source, struct page_cache *cache);
/* Starts reading len bytes from the current place into the page cache. */
void source_will_need(const struct source *source, size_t len);
