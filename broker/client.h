/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of MQTT-TZ: it seals messages that it publishes and opens messages that it receives. The
 * client keeps using its own MQTT library. The protocol: docs/broker.md.
 *
 * Functions return 0 or -errno and fill in *err. One thread at a time may use a struct tz_client.
 */
#pragma once

#include <teemark/tz_message.h>

#include "error.h"

/* Bytes by which a sealed message is longer than its plaintext. */
#define TZ_OVERHEAD(id_len) (TZ_FIXED + (id_len) + TZ_TAG_BYTES)

/* Number of senders whose last counters a client remembers, to detect replays. */
#define TZ_SENDERS 64

struct tz_client {
	char path[4096];
	char id[TZ_ID_MAX + 1];
	uint8_t key[TZ_KEY_BYTES];
	uint32_t epoch;   /* number of the last start in which it sealed a message */
	uint32_t counter; /* 0: nothing sealed since this start */
	uint8_t salt[TZ_NONCE_BYTES - 4];
	/* The TA that this key is for; set in an administrator's file and for an agreed key. */
	bool has_identity;
	uint8_t identity[TZ_PUBLIC_BYTES];
	/* The key was agreed with the TA; `public` is the client's public half. */
	bool is_agreed;
	uint8_t public[TZ_PUBLIC_BYTES];
	struct tz_seen {
		char sender[TZ_ID_MAX + 1];
		struct tz_last last;
		uint64_t window;
	} seen[TZ_SENDERS];
	unsigned int next_seen;
};

/* Returns sizeof(struct tz_client), for callers in other languages, such as teemq.py. */
size_t tz_client_size(void);

/*
 * Makes a client in a new file that only its owner can read. If `identity` is NULL, the key is
 * random and is wrapped for enrolment. Otherwise `identity` is a TA's enrolment key (64 hexadecimal
 * digits), and the client agrees on a key with that TA: path.pub, which isn't secret, enrols the
 * client, and only the client and the TA know the key.
 */
int tz_client_make(struct tz_client *client, const char *id, const char *path, const char *identity,
		   struct error *err);
int tz_client_load(struct tz_client *client, const char *path, struct error *err);
/* Loads a client's file or its path.pub, which has no key but can enrol the client. */
int tz_client_load_public(struct tz_client *client, const char *path, struct error *err);
int tz_client_save(const struct tz_client *client, struct error *err);
void tz_client_wipe(struct tz_client *client);

/*
 * Seals a message for the broker; `out` has room for len + TZ_OVERHEAD() bytes. The first call
 * after a start begins a new epoch and writes the epoch to the client's file before sealing.
 */
int tz_seal(struct tz_client *client, const char *topic, const void *plain, size_t len,
	    uint8_t *out, struct error *err);

/*
 * Seals an order from the administrator for the TA that `admin` claimed; `plain` has the format given
 * in ta_broker.h.
 */
int tz_seal_order(struct tz_client *admin, const void *plain, size_t len, uint8_t *out,
		  struct error *err);

struct tz_opened {
	char sender[TZ_ID_MAX + 1];
	size_t len;    /* length of the plaintext in bytes */
	bool repeated; /* opened before, or too old for the replay window */
};

/*
 * Opens a message from the broker; `out` has room for len bytes. Returns -EBADMSG if the message
 * isn't sealed for this client and topic, or was changed. A message may arrive twice (QoS 1,
 * retained, or replayed by a malicious broker): opened->repeated says so.
 */
int tz_open(struct tz_client *client, const char *topic, const uint8_t *message, size_t len,
	    uint8_t *out, struct tz_opened *opened, struct error *err);

/*
 * Agrees on a key with the TA whose enrolment key is `identity` (ta_broker.h). Sets `public` to the
 * public half of `secret` (32 random bytes), and `key` to the shared key; `key` may be `secret`.
 * For TZ_AGREE the shared key becomes the client's key.
 */
int tz_agree(const uint8_t secret[TZ_KEY_BYTES], enum tz_order order, const char *id,
	     const uint8_t identity[TZ_PUBLIC_BYTES], uint8_t public[TZ_PUBLIC_BYTES],
	     uint8_t key[TZ_KEY_BYTES], struct error *err);

/* Wraps the client's key to a TA's enrolment key. */
int tz_wrap(const struct tz_client *client, const uint8_t identity[TZ_PUBLIC_BYTES],
	    uint8_t wrapped[TZ_WRAPPED_BYTES], struct error *err);

/*
 * Does the TA's work in the normal world: opens the sender's message and seals it for the receiver.
 * This is for measuring, and shows which keys a broker without a TEE holds.
 */
int tz_reencrypt(struct tz_client *sender, struct tz_client *receiver, const char *topic,
		 const uint8_t *message, size_t len, uint8_t *plain, uint8_t *out,
		 struct error *err);
