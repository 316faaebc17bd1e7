/* SPDX-License-Identifier: BSD-2-Clause */
/* The state that all sessions of the instance share, and each file's part. */
#pragma once

#include <teemark/gcm.h>
#include <teemark/tz_message.h>

#include <bytes.h>

#include "command.h"

/* Expanded keys that are kept; more than one call can want. */
#define CACHED_KEYS 64u

/* A message is opened so many bytes at a time: there is no more plaintext. */
#define CHUNK 2048u

/* A client as it is stored. */
struct record {
	uint8_t id_len;
	uint8_t admin;
	uint8_t rules_len;
	uint8_t zero;
	uint8_t id[TZ_ID_MAX];
	uint8_t key[TZ_KEY_BYTES];
	char rules[TZ_RULES_MAX];
};

/* Every client has a row, in memory too; the table is stored in one write. */
struct table {
	uint32_t format;
	uint32_t used; /* rows that ever held a client */
	struct row {
		uint32_t tag; /* of the id; 0: free */
		struct tz_last last;
	} rows[TZ_CLIENTS_MAX];
};

struct cached {
	uint32_t stamp; /* of the call that used it last; 0: free */
	uint32_t row, tag;
	const struct gcm_class *class; /* that expanded the key */
	struct gcm_key key;
	struct record client; /* without its key */
};

/* A message on its way to one receiver. */
struct copy {
	struct cached *receiver; /* NULL: may not have it */
	struct gcm_message gcm;
	uint8_t head[TZ_HEAD_MAX];
};

/* The one instance's; sessions share it. */
extern struct broker {
	unsigned int sessions;
	TEE_ObjectHandle registry; /* null: nobody claimed this TA */
	struct table table;
	uint64_t windows[TZ_CLIENTS_MAX]; /* tz_came_before() */
	uint32_t unsaved;                 /* messages since the table was stored */
	struct cached cache[CACHED_KEYS];
	uint32_t stamp;
	uint8_t salt[TZ_NONCE_BYTES - 4]; /* of the nonces that the TA makes */
	uint32_t nonces;                  /* made with it; 0: a new salt first */
	struct tz_statistics statistics;
	/* Buffers of one call; nothing is left in them. */
	uint8_t names[2 + TZ_TOPIC_MAX + TZ_RECEIVERS_MAX * (1 + TZ_ID_MAX)];
	uint8_t sealed[CHUNK], plain[CHUNK];
	struct copy copies[TZ_RECEIVERS_MAX];
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

/* A message as it came: head and tag are copies, the ciphertext is not. */
struct message {
	uint8_t head[TZ_HEAD_MAX];
	size_t head_len;
	struct text id; /* in head */
	struct tz_last is;
	const uint8_t *sealed; /* memory of the normal world */
	size_t len;
	uint8_t tag[TZ_TAG_BYTES];
};

/* Parses a message; TEE_ERROR_BAD_FORMAT if it is none in that direction. */
TEE_Result message_parse(struct input in, enum tz_direction direction, struct message *message);

/* Begins to open or to seal. receiver: NULL, or whom it is sealed for. */
void message_begin(struct gcm_message *gcm, const struct cached *key, const uint8_t *head,
		   const struct text *topic, const struct record *receiver);

/* Makes a nonce that this TA never made before, and never makes again. */
void message_nonce(uint8_t nonce[TZ_NONCE_BYTES]);

/* Takes as long for any two. */
bool same_bytes(const uint8_t *a, const uint8_t *b, size_t len);

/* -- identity.c: a key pair on X25519 that never leaves the TEE ------------- */

handler identity;

/*
 * Computes HKDF-SHA-256 (RFC 5869) without a salt, its first 32 bytes; info[info_len] is
 * overwritten.
 */
TEE_Result hkdf(const void *secret, size_t len, uint8_t *info, size_t info_len,
		uint8_t key[TZ_KEY_BYTES]);

/*
 * Computes what the TA and that client agree on (ta_broker.h). TEE_ERROR_BAD_FORMAT: everybody
 * would know it, as `theirs` is a point of small order.
 */
TEE_Result identity_agree(enum tz_order order, const struct text *id,
			  const uint8_t theirs[TZ_PUBLIC_BYTES], uint8_t key[TZ_KEY_BYTES]);

/*
 * Unwraps the key of that client (ta_broker.h says how it was wrapped). TEE_ERROR_MAC_INVALID: for
 * another client or another TA.
 */
TEE_Result identity_unwrap(const struct gcm_class *class, const struct text *id,
			   const uint8_t wrapped[TZ_WRAPPED_BYTES], uint8_t key[TZ_KEY_BYTES]);

/* -- policy.c: who may read or publish what, by MQTT's topic filters -------- */

/* Returns whether each line holds 'r' or 'w', a space and a filter that MQTT allows. */
bool policy_is_valid(const char *rules, size_t len);

/* Returns whether the client may do this ('r': read, 'w': publish) with the topic. */
bool policy_allows(const struct record *client, char what, const struct text *topic);

/* -- clients.c: the clients as they are stored, and their expanded keys ----- */

/* Reads the table, if anybody claimed this TA. */
TEE_Result clients_open(void);
/* Stores the table if something came since, and forgets all. */
void clients_close(void);

/* Stores the table now and then; to be called for each message. */
void clients_count_message(void);

TEE_Result clients_read(uint32_t row, struct record *record);

/*
 * Puts a client into a free row and frees its old one (TZ_CLIENTS_MAX: it had none), in one step.
 * keep_seen: what was seen of the client stays known, as its key is the same.
 */
TEE_Result clients_put(const struct record *record, uint32_t old, bool keep_seen);
TEE_Result clients_drop(uint32_t row);

/* Begins a call: what it gets by cache_get() stays until it ends. */
void cache_begin(void);

/*
 * Gets the client's expanded key; the one that wasn't used for longest makes room.
 * TEE_ERROR_ITEM_NOT_FOUND: there is no such client.
 */
TEE_Result cache_get(struct session *session, const struct text *id, struct cached **cached);
