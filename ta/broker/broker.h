/* SPDX-License-Identifier: BSD-2-Clause */
/* What the instance has, for all of its sessions. */
#ifndef BROKER_H
#define BROKER_H

#include <tee_internal_api.h>

#include <teemark/gcm.h>
#include <teemark/ta_broker.h>

#include "command.h"

/* Expanded keys that are kept; more than one call can want. */
#define CACHED_KEYS 64u

/* Bytes of a message that are opened at a time: all the plaintext there is. */
#define CHUNK 2048u

/* Messages after which the table of what was seen is stored. */
#define SAVE_EVERY 16384u

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

/* What is kept in memory of every client; stored as one, at once. */
struct table {
	uint32_t format;
	uint32_t used; /* rows that ever held a client */
	struct row {
		uint32_t tag; /* of the id; 0: free */
		uint32_t epoch, counter;
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

struct broker {
	unsigned int sessions;
	TEE_ObjectHandle registry; /* null: nobody claimed this TA */
	struct table table;
	uint64_t windows[TZ_CLIENTS_MAX]; /* bit i: the last counter - i came */
	uint32_t unsaved; /* messages since the table was stored */
	struct cached cache[CACHED_KEYS];
	uint32_t stamp;
	uint8_t salt[TZ_NONCE_BYTES - 4]; /* of the nonces that the TA makes */
	uint32_t nonces; /* made with it; 0: a new salt first */
	struct tz_statistics statistics;
	/* Of one call; nothing is left in them. */
	uint8_t names[2 + TZ_TOPIC_MAX + TZ_RECEIVERS_MAX * (1 + TZ_ID_MAX)];
	uint8_t sealed[CHUNK], plain[CHUNK];
	struct copy copies[TZ_RECEIVERS_MAX];
};

struct session {
	struct clock clock;
	struct broker *broker;
	const struct gcm_class *class;
};
COMMAND_SESSION(struct session);

/* Bytes of the TA's own memory. */
struct text {
	const uint8_t *at;
	size_t len;
};

#endif
