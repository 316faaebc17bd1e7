/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash engine: one session of a backend with its fixed set of buffers,
 * and the way of one message through it.
 *
 * The buffers are slots of one shared allocation, made once per session. With
 * a reader thread there are two slots: while the backend hashes one, the next
 * is read. Without (no CPU to spare) there is one, and the kernel is asked to
 * read ahead meanwhile. A message that fits goes in one call out of the same
 * memory.
 */
#ifndef TEEHASH_ENGINE_H
#define TEEHASH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "options.h"
#include "ta_counter.h"

/*
 * Defaults chosen by measurement, see docs/teehash.md: a call costs the same
 * whatever it carries, so large is good; resident memory pays for it.
 */
#define ENGINE_CHUNK_THREAD  (1u << 20)
#define ENGINE_CHUNK_INLINE  (2u << 20)
#define ENGINE_CHUNK_TMPREF  (1u << 20)
#define ENGINE_ONESHOT_LIMIT (4u << 20)
/* When shared memory is short, default chunks are halved down to this. */
#define ENGINE_CHUNK_FLOOR (64u << 10)

/* How a message went. */
enum hash_way {
	WAY_NONE,
	WAY_ONESHOT,
	WAY_STREAM,
};

/* Of one message; times in ns of the client's clock. */
struct file_stats {
	uint64_t bytes;
	uint64_t total_ns;    /* opening the file … digest */
	uint64_t open_ns;     /* open, fstat, advice, page-cache query */
	uint64_t read_ns;     /* in read(), whichever thread */
	uint64_t inline_ns;   /* of these: in the thread that calls */
	uint64_t wait_ns;     /* waited for the reader thread */
	uint64_t call_ns;     /* in calls of the backend */
	uint64_t setup_ns;    /* enlarging the buffer, reopening a session */
	uint64_t hash_ns;     /* first byte asked for … digest there */
	uint64_t reads;       /* calls of read() */
	uint64_t calls;       /* calls of the backend */
	int64_t pages;        /* of the file; -1: not asked or not known */
	int64_t pages_cached; /* before it was read */
	const char *pages_source;
	const char *pages_reason; /* why not known */
	enum hash_way way;
	bool missing;  /* there is no such file */
	bool consumed; /* it failed, and what was read can't be read again */
};

/* Of a session, apart from the messages. */
struct engine_stats {
	uint64_t open_ns;       /* all of opening it: library … buffers */
	uint64_t context_ns;    /* TEEC_InitializeContext(); 0: none */
	uint64_t session_ns;    /* TEEC_OpenSession(), loads the TA */
	uint64_t buffer_ns;     /* allocation of the shared memory */
	uint64_t first_call_ns; /* the first call into the session */
	size_t buffer_bytes;
	size_t chunk;
	unsigned int slots;
	unsigned int sessions;   /* opened so far */
	uint64_t inside_ns;      /* in the TA's commands, by its counter */
	unsigned int uncounted;  /* sessions that this is not known of */
	uint64_t reader_runq_ns; /* run-queue wait of the reader thread */
};

struct engine_config {
	const struct backend *backend;
	size_t chunk; /* 0: the default */
	size_t oneshot_limit;
	enum hash_mode mode;
	bool reader_thread;
	bool cold;
	bool ask_page_cache; /* fill in file_stats.pages */
	/* Time inside the TA is counted with it; NULL: is not counted. */
	const struct ta_counter *counter;
	/* Called with the bytes of each piece when it is hashed. May be NULL. */
	void (*progress)(void *ctx, uint64_t bytes);
	void *progress_ctx;
};

struct engine;

int engine_open(struct engine **engine, const struct engine_config *config,
		struct error *err);
void engine_close(struct engine *engine);
/* Ends the counting of the time inside the TA: inside_ns is there. */
void engine_settle(struct engine *engine);

/*
 * Digest of a file ("-": standard input). 0, or -errno with the reason:
 * -EINTR when interrupted(), -ESTALE when the file changed meanwhile. The
 * digest is written only on success. After a failure of the backend the next
 * message gets a new session.
 */
int engine_hash(struct engine *engine, const char *name,
		const struct algorithm *alg, uint8_t *digest,
		struct file_stats *stats, struct error *err);

const struct engine_stats *engine_stats(const struct engine *engine);
/* The session is gone and no new one could be opened. */
bool engine_lost(const struct engine *engine);
/* The session, for questions to it after the work; NULL if there is none. */
struct session *engine_session(const struct engine *engine);
const struct buffer *engine_buffer(const struct engine *engine);

#endif
