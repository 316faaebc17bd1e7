/* SPDX-License-Identifier: BSD-2-Clause */
#include "broker.h"

TEE_Result message_parse(struct input in, enum tz_direction direction, struct message *message)
{
	uint8_t *head = message->head;

	if (in.len < TZ_HEAD_MAX)
		TEE_MemFill(head, 0, TZ_HEAD_MAX);
	if (in.len)
		TEE_MemMove(head, in.data, in.len < TZ_HEAD_MAX ? in.len : TZ_HEAD_MAX);
	message->head_len = tz_head_len(head, in.len, direction);
	if (!message->head_len)
		return TEE_ERROR_BAD_FORMAT;
	message->id = (struct text){ head + TZ_FIXED, message->head_len - TZ_FIXED };
	message->is.epoch = tz_get32(head + TZ_EPOCH);
	message->is.counter = tz_get32(head + TZ_COUNTER);
	message->sealed = in.data + message->head_len;
	message->len = in.len - message->head_len - TZ_TAG_BYTES;
	TEE_MemMove(message->tag, message->sealed + message->len, TZ_TAG_BYTES);
	if (!message->is.counter || head[TZ_NONCE] & 0x80)
		return TEE_ERROR_BAD_FORMAT;
	return TEE_SUCCESS;
}

void message_begin(struct gcm_message *gcm, const struct cached *key, const uint8_t *head,
		   struct text topic, struct text receiver)
{
	uint8_t all[TZ_AUTHENTICATED_MAX];
	size_t len = tz_authenticated(all, head, topic.at, topic.len, receiver.at, receiver.len);

	gcm_begin(gcm, head + TZ_NONCE);
	key->class->authenticate(gcm, &key->key, all, len);
}

bool message_is_right(struct gcm_message *gcm, const struct cached *key,
		      const struct message *message)
{
	uint8_t tag[TZ_TAG_BYTES];

	key->class->tag(gcm, &key->key, tag);
	return same_bytes(tag, message->tag, TZ_TAG_BYTES);
}

void message_nonce(uint8_t nonce[TZ_NONCE_BYTES])
{
	if (!broker.nonces) {
		TEE_GenerateRandom(broker.salt, sizeof(broker.salt));
		broker.salt[0] |= 0x80;
	}
	broker.nonces++; /* after 2^32 it is 0, which makes a new salt */
	TEE_MemMove(nonce, broker.salt, sizeof(broker.salt));
	tz_put32(nonce + sizeof(broker.salt), broker.nonces);
}

bool same_bytes(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint8_t difference = 0;

	for (size_t i = 0; i < len; i++)
		difference |= a[i] ^ b[i];
	return !difference;
}
