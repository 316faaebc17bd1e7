/* SPDX-License-Identifier: BSD-2-Clause */
#include "broker.h"

static uint32_t get32(const uint8_t *p)
{
	uint32_t x = 0;

	memcpy(&x, p, sizeof(x));
	return BYTES_BE32(x);
}

TEE_Result message_parse(struct input in, enum tz_direction direction,
			 struct message *message)
{
	uint8_t *head = message->head;

	if (in.len < TZ_FIXED + 1 + TZ_TAG_BYTES || in.len > TZ_MESSAGE_MAX)
		return TEE_ERROR_BAD_FORMAT;
	TEE_MemMove(head, in.data, TZ_FIXED);
	message->id.at = head + TZ_FIXED;
	message->id.len = head[TZ_FIXED - 1];
	message->head_len = TZ_FIXED + message->id.len;
	if (head[0] != 'T' || head[1] != 'Z' || head[2] != TZ_VERSION ||
	    head[3] != direction || !message->id.len ||
	    message->id.len > TZ_ID_MAX ||
	    in.len < message->head_len + TZ_TAG_BYTES)
		return TEE_ERROR_BAD_FORMAT;
	TEE_MemMove(head + TZ_FIXED, in.data + TZ_FIXED, message->id.len);
	message->epoch = get32(head + TZ_EPOCH);
	message->counter = get32(head + TZ_COUNTER);
	message->sealed = in.data + message->head_len;
	message->len = in.len - message->head_len - TZ_TAG_BYTES;
	TEE_MemMove(message->tag, message->sealed + message->len, TZ_TAG_BYTES);
	if (!message->counter || head[TZ_NONCE] & 0x80)
		return TEE_ERROR_BAD_FORMAT;
	return TEE_SUCCESS;
}

void message_begin(struct gcm_message *gcm, const struct cached *key,
		   const uint8_t *head, const struct text *topic,
		   const struct record *receiver)
{
	uint8_t all[TZ_HEAD_MAX + 2 + TZ_TOPIC_MAX + TZ_ID_MAX];
	size_t len = TZ_FIXED + head[TZ_FIXED - 1];

	TEE_MemMove(all, head, len);
	all[len++] = (uint8_t)(topic->len >> 8);
	all[len++] = (uint8_t)topic->len;
	TEE_MemMove(all + len, topic->at, topic->len);
	len += topic->len;
	if (receiver) {
		TEE_MemMove(all + len, receiver->id, receiver->id_len);
		len += receiver->id_len;
	}
	key->class->begin(gcm, head + TZ_NONCE);
	key->class->authenticate(gcm, &key->key, all, len);
}

void message_nonce(uint8_t nonce[TZ_NONCE_BYTES])
{
	uint32_t number = 0;

	if (!broker.nonces) {
		TEE_GenerateRandom(broker.salt, sizeof(broker.salt));
		broker.salt[0] |= 0x80;
	}
	broker.nonces++; /* to 0 after 2^32: then the salt is a new one */
	TEE_MemMove(nonce, broker.salt, sizeof(broker.salt));
	number = BYTES_BE32(broker.nonces);
	memcpy(nonce + sizeof(broker.salt), &number, sizeof(number));
}

bool same_tag(const uint8_t *a, const uint8_t *b)
{
	uint8_t difference = 0;

	for (size_t i = 0; i < TZ_TAG_BYTES; i++)
		difference |= a[i] ^ b[i];
	return !difference;
}

bool message_came_before(uint32_t row, const struct message *message)
{
	const struct row *last = &broker.table.rows[row];
	uint32_t back = last->counter - message->counter;

	if (message->epoch != last->epoch)
		return message->epoch < last->epoch;
	if (message->counter > last->counter)
		return false;
	return back >= TZ_WINDOW || broker.windows[row] >> back & 1;
}

void message_remember(uint32_t row, const struct message *message)
{
	struct row *last = &broker.table.rows[row];
	uint64_t *window = &broker.windows[row];
	uint32_t ahead = message->counter - last->counter;

	if (message->epoch == last->epoch &&
	    message->counter <= last->counter) {
		*window |= UINT64_C(1) << (last->counter - message->counter);
		return;
	}
	if (message->epoch != last->epoch || ahead >= TZ_WINDOW)
		*window = 1;
	else
		*window = *window << ahead | 1;
	last->epoch = message->epoch;
	last->counter = message->counter;
}
