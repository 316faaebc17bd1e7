/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of MQTT-TZ: it seals what it publishes and opens what it receives. Its MQTT library
 * stays as it is. The protocol: docs/broker.md.
 *
 * Functions return 0 or -errno and fill *err. A struct tz_client serves one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <teemark/tz_message.h>

#include "error.h"

/* A sealed message is longer than its plaintext by this. */
#define TZ_OVERHEAD(id_len) (TZ_FIXED + (id_len) + TZ_TAG_BYTES)

/* Senders whose last counters an opening client remembers. */
#define TZ_SENDERS 64

struct tz_client {
	char path[4096];
	char id[TZ_ID_MAX + 1];
	uint8_t key[TZ_KEY_BYTES];
	uint32_t epoch;   /* of the last start that sealed something */
	uint32_t counter; /* 0: nothing sealed since this start */
	uint8_t salt[TZ_NONCE_BYTES - 4];
	/* The TA that this key is for: the administrator's file has it, and an agreed key's. */
	bool has_identity;
	uint8_t identity[TZ_PUBLIC_BYTES];
	/* The key was agreed with the TA; `public` is then the client's public half. */
	bool is_agreed;
	uint8_t public[TZ_PUBLIC_BYTES];
	struct tz_seen {
		char sender[TZ_ID_MAX + 1];
		struct tz_last last;
		uint64_t window;
	} seen[TZ_SENDERS];
	unsigned int next_seen;
};

/* Callers who can't say sizeof, such as teemq.py, ask for the size here. */
size_t tz_client_size(void);

/*
 * Makes a client in a new file that only its owner reads. Its key is random, and is wrapped to enrol
 * it; or `identity`, 64 hexadecimal digits, is a TA's enrolment key, and the client's is agreed with
 * it: then path.pub, which is no secret, enrols it, and nobody but that TA has the key, too.
 */
int tz_client_make(struct tz_client *client, const char *id, const char *path, const char *identity,
		   struct error *err);
int tz_client_load(struct tz_client *client, const char *path, struct error *err);
/* Loads path.pub, too, which has no key: to enrol the client. */
int tz_client_load_public(struct tz_client *client, const char *path, struct error *err);
int tz_client_save(const struct tz_client *client, struct error *err);
void tz_client_wipe(struct tz_client *client);

/*
 * Seals for the broker; out has room for len + TZ_OVERHEAD(). The first call
 * after a start begins an epoch, and writes it to the client's file first.
 */
int tz_seal(struct tz_client *client, const char *topic, const void *plain, size_t len,
	    uint8_t *out, struct error *err);

/* Seals an order of the administrator's: `plain` is as ta_broker.h says. */
int tz_seal_order(struct tz_client *admin, const void *plain, size_t len, uint8_t *out,
		  struct error *err);

struct tz_opened {
	char sender[TZ_ID_MAX + 1];
	size_t len;    /* of the plaintext */
	bool repeated; /* this client opened the message, or 64 later ones, before */
};

/*
 * Opens what came from the broker; out has room for len bytes. -EBADMSG: not sealed for this client
 * and topic, or changed on the way. What the sender sent once may come twice (QoS 1, retained, or a
 * broker that means harm): `repeated` says so.
 */
int tz_open(struct tz_client *client, const char *topic, const uint8_t *message, size_t len,
	    uint8_t *out, struct tz_opened *opened, struct error *err);

/*
 * Computes what a TA and whoever has the key pair of `secret`, 32 random bytes, agree on, and its
 * public half (ta_broker.h). TZ_AGREE: it is the client's key. It may take the secret's place.
 */
int tz_agree(const uint8_t secret[TZ_KEY_BYTES], enum tz_order order, const char *id,
	     const uint8_t identity[TZ_PUBLIC_BYTES], uint8_t public[TZ_PUBLIC_BYTES],
	     uint8_t key[TZ_KEY_BYTES], struct error *err);

/* Wraps the client's key to a TA's enrolment key. */
int tz_wrap(const struct tz_client *client, const uint8_t identity[TZ_PUBLIC_BYTES],
	    uint8_t wrapped[TZ_WRAPPED_BYTES], struct error *err);

/*
 * Does the TA's work in the normal world, to measure it and to show what a broker without a TEE
 * holds: opens the sender's message and seals it for the receiver.
 */
int tz_reencrypt(struct tz_client *sender, struct tz_client *receiver, const char *topic,
		 const uint8_t *message, size_t len, uint8_t *plain, uint8_t *out,
		 struct error *err);
