/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of a backend, with its fixed set of buffers. All hashing calls of teehash to a backend
 * are in session.c.
 *
 * The buffers are slots of one shared allocation, made once a session. With a reader thread there
 * are two: the backend hashes one while the thread fills the other. Without a thread (no CPU to
 * spare) there is one, and the kernel is asked to read ahead meanwhile. A message that fits in the
 * buffer goes in one call.
 */
#pragma once

#include "backend.h"
#include "reader.h"
#include "ta_counter.h"

#define SESSION_CHUNK_MIN 4096u
#define SESSION_CHUNK_MAX (256u << 20)

struct session_settings {
	const struct backend *backend;
	size_t chunk;  /* bytes asked for; 0: a default, which may shrink */
	bool threaded; /* with a reader thread */
	/* The counter that measures the time inside the TA; NULL: it isn't measured. */
	const struct ta_counter *counter;
};

/* Times in ns of the client's clock. */
struct session_stats {
	uint64_t open_ns;       /* opening in all, from the library to the buffers */
	uint64_t context_ns;    /* TEEC_InitializeContext(); 0: none */
	uint64_t session_ns;    /* TEEC_OpenSession(), which loads the TA */
	uint64_t buffer_ns;     /* allocation of the shared memory */
	uint64_t first_call_ns; /* duration of the first call in the session */
	uint64_t call_ns;       /* sum over the calls that hash */
	uint64_t calls;         /* number of the calls that hash */
	size_t buffer_bytes;
	unsigned int slots;
	unsigned int sessions;   /* number opened so far */
	uint64_t inside_ns;      /* in the TA's commands, by the TA's counter */
	unsigned int uncounted;  /* sessions that are missing in inside_ns */
	uint64_t reader_runq_ns; /* run-queue wait of the reader threads */
};

/* A session; only session.c writes to it, others may read. */
struct hash_session {
	const struct session_settings *settings;
	struct session *open;    /* the backend's session; NULL: none */
	struct tee_session *tee; /* its session with the TA; NULL: no TA */
	bool broken;             /* a failed call made it unusable */
	struct buffer buffer;    /* all slots */
	size_t slot_bytes;
	size_t most;   /* most bytes that a call may carry, as far as known */
	bool counting; /* the TA's counter is running */
	struct session_stats stats;
};

/* Returns the most bytes of a slot that one call may carry. */
static inline size_t session_call_max(const struct hash_session *session)
{
	return session->slot_bytes < session->most ? session->slot_bytes : session->most;
}

/* Opens a session. Returns 0, or -errno with the reason and nothing to close. */
int session_open(struct hash_session **session, const struct session_settings *settings,
		 struct error *err);
void session_close(struct hash_session *session);

/* Ends the counting in the TA, which completes `stats`. */
void session_complete(struct hash_session *session);

/* Opens a new session if a failure of the backend broke the old one. */
int session_ensure(struct hash_session *session, struct error *err);

/*
 * Replaces the buffer by one of at least `size` bytes, and copies the first `keep` bytes. After a
 * failure the slots are allocated anew, or the session is broken.
 */
int session_grow(struct hash_session *session, size_t size, size_t keep, struct error *err);

/*
 * Hash a message: session_digest() in one call, from the buffer's beginning; session_begin() and
 * session_piece() in pieces of the buffer. Each returns 0, or -errno with the reason.
 */
int session_digest(struct hash_session *session, const struct algorithm *alg, size_t len,
		   uint8_t *out, struct error *err);
int session_begin(struct hash_session *session, const struct algorithm *alg, struct error *err);
/* `out` gets the digest after the last piece; it is NULL while more pieces follow. */
int session_piece(struct hash_session *session, size_t offset, size_t len, uint8_t *out,
		  struct error *err);

/*
 * Returns true if a call with len bytes was refused for lack of memory and a smaller call may work;
 * it lowers the session's limit. A TEE may have memory for a buffer but not to map it for a call;
 * it then refuses the call before the TA sees it. A size that the user chose isn't reduced.
 */
bool session_take_less(struct hash_session *session, size_t len, const struct error *err);

/*
 * Returns true if the TEE lacks memory to hash a first message, in one call or as a stream. It
 * tries both; a session that isn't starved keeps the memory.
 */
bool session_is_starved(struct hash_session *session, const struct algorithm *alg,
			struct error *err);
