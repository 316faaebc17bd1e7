/* SPDX-License-Identifier: BSD-2-Clause */
/* The state that all sessions of the instance share, and what each file offers. */
#pragma once

#include <teemark/gcm.h>
#include <teemark/tz_message.h>

#include <bytes.h>

#include "command.h"

/* Number of expanded keys kept; one call needs fewer. */
#define CACHED_KEYS 64u

/* Bytes of a copy that are sealed at a time, before they leave the TA. */
#define CHUNK 2048u

/* A client as it is stored, with its key. */
struct record {
	uint8_t id_len;
	uint8_t admin;
	uint8_t rules_len;
	uint8_t zero;
	uint8_t id[TZ_ID_MAX];
	uint8_t key[TZ_KEY_BYTES];
	char rules[TZ_RULES_MAX];
};

/* The rows of all clients, kept in memory too; the table is stored by one write. */
struct table {
	uint32_t format;
	uint32_t used; /* rows that have ever held a client */
	struct row {
		uint32_t tag; /* hash of the client's id; 0: the row is free */
		struct tz_last last;
	} rows[TZ_CLIENTS_MAX];
};

struct cached {
	uint32_t stamp; /* number of the call that used it last; 0: free */
	uint32_t row, tag;
	const struct gcm_class *class; /* class that expanded the key */
	struct gcm_key key;
	struct record client; /* the key in it is wiped */
};

/* The state of the only instance. */
extern struct broker {
	unsigned int sessions;
	/* The only object: the enrolment key, the table and the records. Null: there is none yet. */
	TEE_ObjectHandle registry;
	bool broken; /* the object was changed from outside, and OP-TEE removed it */
	struct table table;
	uint64_t windows[TZ_CLIENTS_MAX]; /* of each row, for tz_came_before() */
	uint32_t unsaved;                 /* messages since the table was last stored */
	struct cached cache[CACHED_KEYS];
	uint32_t stamp;
	uint8_t salt[TZ_NONCE_BYTES - 4]; /* first bytes of the TA's nonces */
	uint32_t nonces;                  /* nonces made with this salt; 0: make a new salt */
	struct tz_statistics statistics;
	/* Working memory of one call; holds nothing afterwards. */
	uint8_t names[2 + TZ_TOPIC_MAX + TZ_RECEIVERS_MAX * (1 + TZ_ID_MAX)];
	_Alignas(16) uint8_t text[TZ_MESSAGE_MAX]; /* the message, which is opened in place */
	_Alignas(16) uint8_t sealed[CHUNK];
} broker;

struct session {
	struct clock clock;
	const struct gcm_class *class;
};
COMMAND_SESSION(struct session);

/* A text in the TA's own memory. */
struct text {
	const uint8_t *at;
	size_t len;
};

/* -- forward.c ------------------------------------------------------------ */

handler forward;

/* -- message.c: a message's head, what is authenticated with it, its nonce - */

/* A received message: head and tag are copied, the ciphertext is not. */
struct message {
	uint8_t head[TZ_HEAD_MAX];
	size_t head_len;
	struct text id; /* sender's id, in head */
	struct tz_last is;
	const uint8_t *sealed; /* ciphertext, in memory of the normal world */
	size_t len;
	uint8_t tag[TZ_TAG_BYTES];
};

/* Parses a message; returns TEE_ERROR_BAD_FORMAT if it isn't valid in that direction. */
TEE_Result message_parse(struct input in, enum tz_direction direction, struct message *message);

/*
 * Begins to open or seal a message. `receiver`: the id that it is sealed for, in an order the TA's
 * enrolment key, in other messages empty.
 */
void message_begin(struct gcm_message *gcm, const struct cached *key, const uint8_t *head,
		   struct text topic, struct text receiver);

/* Ends a message that was opened; returns true if its tag is right, in constant time. */
bool message_is_right(struct gcm_message *gcm, const struct cached *key,
		      const struct message *message);

/* Makes a nonce that this TA has never made before. */
void message_nonce(uint8_t nonce[TZ_NONCE_BYTES]);

/* Compares in constant time. */
bool same_bytes(const uint8_t *a, const uint8_t *b, size_t len);

/* -- identity.c: the key pair on X25519 in the registry, which never leaves the TEE -- */

handler identity;

/* Writes the public half of the enrolment key. */
TEE_Result identity_public(uint8_t public[TZ_PUBLIC_BYTES]);

/*
 * Writes the first 32 bytes of HKDF-SHA-256 (RFC 5869) without a salt; overwrites info[info_len].
 */
TEE_Result hkdf(const void *secret, size_t len, uint8_t *info, size_t info_len,
		uint8_t key[TZ_KEY_BYTES]);

/*
 * Computes the key that the TA and the client agree on (ta_broker.h). Returns TEE_ERROR_BAD_FORMAT
 * if `theirs` is a point of small order, as then everybody would know the key.
 */
TEE_Result identity_agree(enum tz_order order, const struct text *id,
			  const uint8_t theirs[TZ_PUBLIC_BYTES], uint8_t key[TZ_KEY_BYTES]);

/*
 * Unwraps a client's key (ta_broker.h describes the wrapping). Returns TEE_ERROR_MAC_INVALID if it
 * was wrapped for another client or another TA.
 */
TEE_Result identity_unwrap(const struct gcm_class *class, const struct text *id,
			   const uint8_t wrapped[TZ_WRAPPED_BYTES], uint8_t key[TZ_KEY_BYTES]);

/* -- policy.c: who may read or publish what, by MQTT's topic filters -------- */

/* Returns true if each line is 'r' or 'w', a space and a valid MQTT filter. */
bool policy_is_valid(const char *rules, size_t len);

/* Returns true if the client may read ('r') or publish ('w') on the topic. */
bool policy_allows(const struct record *client, char what, const struct text *topic);

/* -- clients.c: the clients as they are stored, and their expanded keys ----- */

/*
 * Reads the table, if there is one. Returns TEE_ERROR_CORRUPT_OBJECT if it was changed from outside;
 * so does each function that needs the registry afterwards, until the instance ends.
 */
TEE_Result clients_open(void);
/* Makes the registry, with a new enrolment key, if there is none. */
TEE_Result clients_make(void);
/* Stores the table if messages came since it was stored, and wipes the instance's state. */
void clients_close(void);

/* To be called for each message: stores the table after every SAVE_EVERY messages. */
void clients_count_message(void);

TEE_Result clients_read(uint32_t row, struct record *record);

/*
 * Puts a client into a free row and frees its row `old` (TZ_CLIENTS_MAX: it had none), in one step.
 * keep_seen: the replay window is kept, because the key is the same.
 */
TEE_Result clients_put(const struct record *record, uint32_t old, bool keep_seen);
TEE_Result clients_drop(uint32_t row);

/* Begins a call: keys that cache_get() returns stay valid until the next cache_begin(). */
void cache_begin(void);

/*
 * Gets the client's expanded key; if the cache is full, the least recently used key is evicted.
 * Returns TEE_ERROR_ITEM_NOT_FOUND if there is no such client.
 */
TEE_Result cache_get(struct session *session, const struct text *id, struct cached **cached);
