/* SPDX-License-Identifier: BSD-2-Clause */
/* A message comes from a file, a pipe or standard input. */
#pragma once

#include <stdatomic.h>
#include <sys/stat.h>

#include "error.h"

struct source {
	int fd;
	bool regular;
	struct stat before; /* the file's state when it was opened */
	uint64_t start;     /* offset of the first byte read */
	uint64_t bytes;     /* bytes delivered so far */
	uint64_t read_ns;   /* time in read() */
	uint64_t reads;     /* calls of read() */
	bool has_ahead;     /* source_at_end() read this byte ahead: */
	uint8_t ahead;
	atomic_bool given_up; /* set to end a thread that waits for data */
};

/* Opens a file; "-" is standard input. Returns 0, or -errno with the reason. */
int source_open(struct source *source, const char *name, struct error *err);
void source_close(struct source *source);

/*
 * Returns true if all readers of `name` share one reading position, as with standard input or a
 * pipe. Each reader of a regular file has its own position.
 */
bool source_is_shared(const char *name);

/* Returns how many bytes are left according to the file's size; 0: not known. */
uint64_t source_size(const struct source *source);

/*
 * Reads up to `size` bytes into buf; *len says how many, *eof whether the end was reached. Returns
 * 0, or -errno with the reason: -EINTR when told to stop.
 */
int source_fill(struct source *source, uint8_t *buf, size_t size, size_t *len, bool *eof,
		struct error *err);
/*
 * Finds out whether the source is at its end, by reading one byte ahead; the next source_fill()
 * delivers this byte.
 */
int source_at_end(struct source *source, bool *end, struct error *err);

/* Returns -ESTALE if the file changed since it was opened. */
int source_unchanged(const struct source *source, struct error *err);

void source_drop_cache(const struct source *source);
/* Starts reading len bytes from the current place into the page cache. */
void source_will_need(const struct source *source, size_t len);
