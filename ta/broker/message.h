/* SPDX-License-Identifier: BSD-2-Clause */
/* A message's head, what is authenticated with it, and its nonce. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "broker.h"

/* A message as it came: head and tag are copies, the ciphertext is not. */
struct message {
	uint8_t head[TZ_HEAD_MAX];
	size_t head_len;
	struct text id; /* in head */
	uint32_t epoch, counter;
	const uint8_t *sealed; /* memory of the normal world */
	size_t len;
	uint8_t tag[TZ_TAG_BYTES];
};

/* TEE_ERROR_BAD_FORMAT: no message in that direction. */
TEE_Result message_parse(const struct input *in, enum tz_direction direction,
			 struct message *message);

/* Begins to open or to seal. receiver: NULL, or whom it is sealed for. */
void message_begin(struct gcm_message *gcm, const struct cached *key,
		   const uint8_t *head, const struct text *topic,
		   const struct record *receiver);

/* A nonce that this TA never made before, and never makes again. */
void message_nonce(struct broker *broker, uint8_t nonce[TZ_NONCE_BYTES]);

/* Takes as long for any two. */
bool same_tag(const uint8_t *a, const uint8_t *b);

/* Did this counter of the sender come before, or is it too old to tell? */
bool message_came_before(const struct broker *broker, uint32_t row,
			 const struct message *message);
/* Remembers it; only once the tag was found right. */
void message_remember(struct broker *broker, uint32_t row,
		      const struct message *message);

#endif
