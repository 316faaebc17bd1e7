/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions on a message of MQTT-TZ (ta_broker.h) that its client and the TA share. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include <teemark/ta_broker.h>

static inline void tz_put32(uint8_t *p, uint32_t x)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(x >> (24 - 8 * i));
}

static inline uint32_t tz_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Returns the length of a message's head; 0 if the message isn't valid in that direction. */
static inline size_t tz_head_len(const uint8_t *head, size_t len, enum tz_direction direction)
{
	size_t head_len = 0;

	if (len < TZ_FIXED + 1 + TZ_TAG_BYTES || len > TZ_MESSAGE_MAX)
		return 0;
	head_len = TZ_FIXED + head[TZ_FIXED - 1];
	if (head[0] != 'T' || head[1] != 'Z' || head[2] != TZ_VERSION || head[3] != direction ||
	    head_len == TZ_FIXED || head_len > TZ_HEAD_MAX || len < head_len + TZ_TAG_BYTES)
		return 0;
	return head_len;
}

#define TZ_AUTHENTICATED_MAX (TZ_HEAD_MAX + 2 + TZ_TOPIC_MAX + TZ_ID_MAX)

/*
 * Writes the data that is authenticated besides the ciphertext, and returns its length in bytes.
 * The head must be complete, and topic and receiver's id within their bounds.
 */
static inline size_t tz_authenticated(uint8_t out[TZ_AUTHENTICATED_MAX], const uint8_t *head,
				      const void *topic, size_t topic_len, const void *receiver,
				      size_t receiver_len)
{
	size_t len = TZ_FIXED + head[TZ_FIXED - 1];

	memcpy(out, head, len);
	out[len++] = (uint8_t)(topic_len >> 8);
	out[len++] = (uint8_t)topic_len;
	if (topic_len)
		memcpy(out + len, topic, topic_len);
	if (receiver_len)
		memcpy(out + len + topic_len, receiver, receiver_len);
	return len + topic_len + receiver_len;
}

#define TZ_INFO_MAX (sizeof(TZ_INFO_LABEL) + 2 * TZ_PUBLIC_BYTES + TZ_ID_MAX)

/* Writes HKDF's info (label, order's letter, public halves, id); returns its length in bytes. */
static inline size_t tz_info(uint8_t out[TZ_INFO_MAX], enum tz_order order,
			     const uint8_t client[TZ_PUBLIC_BYTES],
			     const uint8_t ta[TZ_PUBLIC_BYTES], const void *id, size_t id_len)
{
	size_t len = sizeof(TZ_INFO_LABEL);

	memcpy(out, TZ_INFO_LABEL, len);
	out[len - 1] = (uint8_t)order;
	memcpy(out + len, client, TZ_PUBLIC_BYTES);
	memcpy(out + len + TZ_PUBLIC_BYTES, ta, TZ_PUBLIC_BYTES);
	memcpy(out + len + 2 * TZ_PUBLIC_BYTES, id, id_len);
	return len + 2 * TZ_PUBLIC_BYTES + id_len;
}

/* Epoch and counter of a sender's last message; zeros: there was none. */
struct tz_last {
	uint32_t epoch, counter;
};

/* Returns true if the sender sealed `now` after `before`. */
static inline bool tz_is_later(const struct tz_last *now, const struct tz_last *before)
{
	return now->epoch != before->epoch ? now->epoch > before->epoch :
					     now->counter > before->counter;
}

/*
 * Returns true if the message `now` came before, or is too old to tell. Bit i of `window` is set if
 * the message with counter last->counter - i came.
 */
static inline bool tz_came_before(const struct tz_last *last, uint64_t window,
				  const struct tz_last *now)
{
	uint32_t back = last->counter - now->counter;

	if (now->epoch != last->epoch)
		return now->epoch < last->epoch;
	if (now->counter > last->counter)
		return false;
	return back >= TZ_WINDOW || window >> back & 1;
}

/* Remembers a message for which tz_came_before() returned false. */
static inline void tz_remember(struct tz_last *last, uint64_t *window, const struct tz_last *now)
{
	uint32_t ahead = now->counter - last->counter;

	if (now->epoch == last->epoch && now->counter <= last->counter) {
		*window |= UINT64_C(1) << (last->counter - now->counter);
		return;
	}
	if (now->epoch != last->epoch || ahead >= TZ_WINDOW)
		*window = 1;
	else
		*window = *window << ahead | 1;
	*last = *now;
}
