/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of the broker TA (ta/broker): messages, commands, parameters. docs/broker.md says
 * what the protocol guarantees and what it doesn't.
 *
 * The TA is one instance with any number of sessions, because all sessions must share the replay
 * windows of the senders. The instance lives as long as a session is open.
 *
 * A message is a head, the ciphertext, and a tag of 16 bytes. The head, by offset:
 *
 *	 0  "TZ"
 *	 2  TZ_VERSION
 *	 3  enum tz_direction
 *	 4  the sender's epoch, 4 bytes, big-endian: larger after each start
 *	 8  the sender's counter in the epoch, 4 bytes: from 1 on
 *	12  the nonce of AES-256-GCM, 12 bytes
 *	24  length of the sender's id: 1 … TZ_ID_MAX
 *	25  the sender's id
 *
 * Also authenticated are the head, the length of the topic in 2 bytes, the topic and, in messages
 * to a receiver, the receiver's id; in an order, the enrolment key of the TA that it is for. The
 * highest bit of the nonce is 1 in messages that the TA seals and 0 in all others, so that the two
 * users of a key never use the same nonce.
 */
#pragma once

#include <stdint.h>

/* clang-format off */
#define TA_BROKER_UUID \
	{ 0x3d8e61f7, 0x50ba, 0x4c2d, \
	  { 0x91, 0x7e, 0xb2, 0x0c, 0x6a, 0xf4, 0x18, 0xd5 } }
/* clang-format on */

#define TA_BROKER_ABI 3

#define TZ_VERSION     1
#define TZ_FIXED       25u /* bytes of the head before the sender's id */
#define TZ_EPOCH       4u
#define TZ_COUNTER     8u
#define TZ_NONCE       12u
#define TZ_NONCE_BYTES 12u
#define TZ_TAG_BYTES   16u
#define TZ_KEY_BYTES   32u
#define TZ_ID_MAX      32u
#define TZ_HEAD_MAX    (TZ_FIXED + TZ_ID_MAX)
#define TZ_TOPIC_MAX   512u
#define TZ_RULES_MAX   188u
/* Bound of a plaintext: the TA takes the whole message into its memory before it opens it. */
#define TZ_TEXT_MAX    (64u << 10)
#define TZ_MESSAGE_MAX (TZ_HEAD_MAX + TZ_TEXT_MAX + TZ_TAG_BYTES)

/* Bounds of the clients that a TA knows, and of the receivers in one call. */
#define TZ_CLIENTS_MAX   1024u
#define TZ_RECEIVERS_MAX 32u

/* The replay window: how many last counters of an epoch are remembered. */
#define TZ_WINDOW 64u

enum tz_direction {
	TZ_TO_BROKER = 1,   /* sealed by the sender */
	TZ_FROM_BROKER = 2, /* sealed by the TA, for one receiver */
	TZ_ORDER = 3,       /* sealed by the administrator, for the TA */
};

/*
 * The TA, and whoever enrols a client, have a key pair on X25519 each. From the X25519 secret,
 * HKDF-SHA-256 (RFC 5869, no salt; tz_info() gives its info) derives 32 bytes. For TZ_AGREE these
 * are the client's key. For TZ_ENROL they wrap the client's key by AES-256-GCM, with a nonce of
 * zeros and the client's id authenticated. A wrapped key is the public half of a key pair made only
 * for this, the ciphertext and the tag.
 */
#define TZ_PUBLIC_BYTES  32u
#define TZ_WRAPPED_BYTES (TZ_PUBLIC_BYTES + TZ_KEY_BYTES + TZ_TAG_BYTES)
#define TZ_INFO_LABEL    "teemark MQTT-TZ enrolment 2"

/*
 * An order's plaintext: its letter; the length of a client's id; the id; for TZ_ENROL the wrapped
 * key, for TZ_AGREE the client's public half; and, except for TZ_REVOKE, the rules up to the end. A
 * rule is "r FILTER\n" (may read) or "w FILTER\n" (may publish), with MQTT's wildcards. An
 * order's topic is empty. Epoch and counter of the orders only rise: the TA refuses an order that is
 * older than one that it obeyed.
 */
enum tz_order {
	TZ_ENROL = 'E',  /* adds a client, or gives one a new key */
	TZ_AGREE = 'A',  /* the same, with a key from a key agreement */
	TZ_POLICY = 'P', /* gives an enrolled client new rules */
	TZ_REVOKE = 'R',
};

/* The reasons why the TA drops a message. */
enum tz_drop {
	TZ_DROP_FORMAT,   /* TEE_ERROR_BAD_FORMAT: malformed or too long */
	TZ_DROP_UNKNOWN,  /* TEE_ERROR_ITEM_NOT_FOUND: the sender isn't enrolled */
	TZ_DROP_FORGED,   /* TEE_ERROR_MAC_INVALID: the tag is wrong */
	TZ_DROP_REPLAYED, /* TEE_ERROR_ACCESS_CONFLICT: it came before */
	TZ_DROP_POLICY,   /* TEE_ERROR_ACCESS_DENIED: the sender mustn't publish there */
	TZ_DROP_REASONS,
};

/* Counters since the instance began. */
struct tz_statistics {
	uint64_t messages; /* messages opened */
	uint64_t copies;   /* copies sealed for receivers */
	uint64_t dropped[TZ_DROP_REASONS];
	uint64_t refused; /* receivers that are unknown or have no rule */
	uint64_t keys_cached, keys_loaded, keys_evicted;
	uint64_t table_writes;
};

/* Flag of TA_BROKER_CMD_FORWARD: the message has just come from its sender. */
#define TZ_FRESH 1u

enum ta_broker_cmd {
	/* Does nothing, with any parameters. */
	TA_BROKER_CMD_NOP = 0,

	/* [0] value out: a = TA_BROKER_ABI, b = number of enrolled clients */
	TA_BROKER_CMD_INFO = 1,

	/*
	 * [0] memref out: the enrolment key's public half. The key is made at the first call, and
	 * kept in one object with the clients: without them there is another key.
	 */
	TA_BROKER_CMD_IDENTITY = 2,

	/*
	 * Makes a client the administrator; works once.
	 * [0] memref in: length of the id, id, wrapped key
	 * TEE_ERROR_ACCESS_DENIED: the TA has an administrator already
	 */
	TA_BROKER_CMD_CLAIM = 3,

	/*
	 * [0] memref in: a message of direction TZ_ORDER from the administrator. An order takes
	 * effect only once, and is stored before this returns.
	 */
	TA_BROKER_CMD_ORDER = 4,

	/*
	 * Opens a message and seals a copy for each receiver that may read it. Nothing is written
	 * before the message's tag is found right.
	 * [0] memref in: the message
	 * [1] memref in: length of the topic in 2 bytes, big-endian, the topic;
	 *     for each receiver the length of its id and the id
	 * [2] memref out: receiver i's copy, of the message's length, at offset i times
	 *     the message's length rounded up to 16
	 * [3] value inout: in: a = flags; out: a = bit i set if receiver i's copy
	 *     was made
	 * With TZ_FRESH the message is remembered, and dropped if it came before.
	 * Without TZ_FRESH a message may be opened again, for later receivers.
	 */
	TA_BROKER_CMD_FORWARD = 5,

	/* [0] memref out: a struct tz_statistics */
	TA_BROKER_CMD_STATISTICS = 6,

	/*
	 * Lists the clients, one in each call.
	 * [0] value inout: in: a = position, 0 at first; out: a = the next position
	 * [1] memref out: length of the id, id, 1 for the administrator or 0, rules
	 * TEE_ERROR_ITEM_NOT_FOUND: there are no more clients
	 */
	TA_BROKER_CMD_LIST = 7,

	/*
	 * Uses the CPU's AES and PMULL for this session's messages. If the client enables this on a
	 * CPU without them, the next message kills the instance. TEE_ERROR_NOT_SUPPORTED: not
	 * compiled in
	 */
	TA_BROKER_CMD_EXTENSIONS = 8,
};
