/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of a backend with its fixed set of buffers. No other file of
 * teehash calls a backend to hash.
 *
 * The buffers are slots of one shared allocation, made once a session. With a
 * reader thread there are two: while the backend hashes one, the other is
 * read. Without (no CPU to spare) there is one, and the kernel is asked to
 * read ahead meanwhile. A message that fits goes in one call out of the same
 * memory.
 */
#pragma once

#include "backend.h"
#include "reader.h"
#include "ta_counter.h"
#include "timeline.h"

#define SESSION_CHUNK_MIN 4096u
#define SESSION_CHUNK_MAX (256u << 20)

struct session_settings {
	const struct backend *backend;
	size_t chunk;  /* asked for; 0: a default, which may shrink */
	bool plain;    /* ordinary memory, passed as a temporary reference */
	bool threaded; /* with a reader thread */
	/* Time inside the TA is counted with it; NULL: is not counted. */
	const struct ta_counter *counter;
	/* NULL: none is recorded. */
	struct timeline *timeline;
};

/* Times in ns of the client's clock. */
struct session_stats {
	uint64_t open_ns;       /* all of opening it: library … buffers */
	uint64_t context_ns;    /* TEEC_InitializeContext(); 0: none */
	uint64_t session_ns;    /* TEEC_OpenSession(), loads the TA */
	uint64_t buffer_ns;     /* allocation of the shared memory */
	uint64_t first_call_ns; /* the first call into the session */
	uint64_t call_ns;       /* in calls that hash */
	uint64_t calls;         /* how many these were */
	size_t buffer_bytes;
	unsigned int slots;
	unsigned int sessions;   /* opened so far */
	uint64_t inside_ns;      /* in the TA's commands, by its counter */
	unsigned int uncounted;  /* sessions that this is not known of */
	uint64_t reader_runq_ns; /* run-queue wait of the reader threads */
};

/* All may read it; session.c alone writes it. */
struct hash_session {
	const struct session_settings *settings;
	struct session *open;    /* the backend's; NULL: there is none */
	struct tee_session *tee; /* with the TA behind it; NULL: there is no TA */
	bool broken;             /* it is of no use any more */
	struct buffer buffer;    /* all slots */
	size_t slot_bytes;
	size_t most;   /* that a call may carry, as far as is known */
	bool counting; /* the TA counts the time inside */
	struct session_stats stats;
};

/* Returns how many bytes of a slot a call may carry. */
static inline size_t session_call_max(const struct hash_session *session)
{
	return session->slot_bytes < session->most ? session->slot_bytes : session->most;
}

/* Returns 0, or -errno with the reason; then there is nothing to close. */
int session_open(struct hash_session **session, const struct session_settings *settings,
		 struct error *err);
void session_close(struct hash_session *session);

/* Ends the TA's counting of the time inside: stats is complete then. */
void session_settle(struct hash_session *session);

/* Opens a new session in place of one that a failure of the backend broke. */
int session_ensure(struct hash_session *session, struct error *err);

/*
 * Makes the buffer one of at least size bytes that begins with the first `keep` bytes of the
 * present one. After a failure the slots are back, or the session is broken.
 */
int session_grow(struct hash_session *session, size_t size, size_t keep, struct error *err);

/*
 * Hash a message in one call, out of the buffer's beginning; or in pieces of the buffer. They
 * return 0, or -errno with the reason.
 */
int session_digest(struct hash_session *session, const struct algorithm *alg, size_t len,
		   uint8_t *out, struct error *err);
int session_begin(struct hash_session *session, const struct algorithm *alg, struct error *err);
/* `out` takes the digest of the last piece; NULL: others follow. */
int session_piece(struct hash_session *session, size_t offset, size_t len, uint8_t *out,
		  struct error *err);

/*
 * Returns true if len bytes were refused for lack of memory and are worth another try, less at a
 * time. A TEE may have memory for a buffer and none to map it for a call, which it then refuses
 * before the TA sees anything of it. What the user asked for isn't made smaller.
 */
bool session_take_less(struct hash_session *session, size_t len, const struct error *err);

/*
 * Returns true if the TEE has no memory for what a first message needs, in one
 * call and as a stream. It is tried: a session that isn't starved keeps it.
 */
bool session_is_starved(struct hash_session *session, const struct algorithm *alg,
			struct error *err);
