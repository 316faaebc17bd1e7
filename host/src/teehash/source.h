/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a message comes from: a file, a pipe, standard input. */
#ifndef TEEHASH_SOURCE_H
#define TEEHASH_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "error.h"

struct source {
	int fd;
	bool regular;
	bool owned;         /* close it */
	struct stat before; /* as it was when opened */
	uint64_t start;     /* offset of the first byte read */
	uint64_t bytes;     /* read so far */
	uint64_t read_ns;   /* time in read() */
	uint64_t reads;     /* calls of read() */
};

struct page_cache {
	int64_t pages; /* -1: not known */
	int64_t cached;
	const char *source;
	const char *reason; /* why not known */
};

/* "-" is standard input. 0 or -errno with the reason. */
int source_open(struct source *source, const char *name, struct error *err);
void source_close(struct source *source);

/*
 * What all who have it open read from together, each getting a part: a pipe,
 * a device, standard input. A file has a place of its own for each.
 */
struct common_source {
	bool is; /* else it is not */
	dev_t dev;
	ino_t ino;
};

/* Is what `name` stands for read together with others? */
void source_find_common(const char *name, struct common_source *common);
bool source_same(const struct common_source *a, const struct common_source *b);

/*
 * Back to where it was when it was opened. -errno where that can't be; 0 also
 * where nothing has been read.
 */
int source_rewind(struct source *source);

/* How many bytes are left, told by the file's size; 0: not known. */
uint64_t source_size(const struct source *source);

/*
 * Fills buf up to size bytes; *eof when the end was reached. 0, -EINTR when
 * interrupted(), or the -errno of read().
 */
int source_fill(struct source *source, uint8_t *buf, size_t size, size_t *len,
		bool *eof);
int source_fill_error(const struct source *source, int code, struct error *err);

/* -ESTALE when the file is not what it was when it was opened. */
int source_unchanged(const struct source *source, struct error *err);

void source_drop_cache(struct source *source);
/* Starts reading len bytes from the current place into the page cache. */
void source_will_need(const struct source *source, size_t len);
void source_ask_cache(const struct source *source, struct page_cache *cache);

/* A thread that fills the slots of a buffer ahead of who uses them. */
struct reader;

int reader_create(struct reader **reader, uint8_t *base, size_t chunk,
		  unsigned int slots, struct error *err);
void reader_destroy(struct reader *reader);
/* Run-queue wait of the thread up to its last message, in ns. */
uint64_t reader_runq_ns(const struct reader *reader);

/* Begins with slot `first`; slots before it are released by reader_release. */
void reader_start(struct reader *reader, struct source *source,
		  unsigned int first);
/* Waits for the next slot. 0, -EINTR when interrupted(), or read()'s. */
int reader_next(struct reader *reader, unsigned int *slot, size_t *len,
		bool *eof);
void reader_release(struct reader *reader);
/* The reader is idle again when this returns; also after an error. */
void reader_stop(struct reader *reader);

#endif
