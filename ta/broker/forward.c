/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens a message and seals it for all of its receivers in one pass, chunk by chunk. A chunk is
 * copied to the TA's own memory before it is hashed and decrypted, and copies are hashed before
 * they leave the TA: the normal world can't change either in between.
 *
 * Chunks leave before the sender's tag is checked. Each is encrypted with a key stream that no
 * other message has. If the sender's tag turns out wrong, the copies get no tag: they can't be told
 * from random bytes, and no receiver opens them.
 */
#include "broker.h"

/* The topic and the receivers' ids, in the TA's own memory. */
struct names {
	struct text topic;
	struct text receivers[TZ_RECEIVERS_MAX];
	size_t count;
};

static TEE_Result parse_names(struct input in, struct names *names)
{
	const uint8_t *at = broker.names, *end = at + in.len;

	if (in.len < 3 || in.len > sizeof(broker.names))
		return TEE_ERROR_BAD_PARAMETERS;
	TEE_MemMove(broker.names, in.data, in.len);
	names->topic.len = (size_t)at[0] << 8 | at[1];
	names->topic.at = at + 2;
	if (!names->topic.len || names->topic.len > TZ_TOPIC_MAX || names->topic.len > in.len - 2)
		return TEE_ERROR_BAD_PARAMETERS;
	at += 2 + names->topic.len;
	for (names->count = 0; at < end; names->count++) {
		struct text *id = &names->receivers[names->count];

		if (names->count == TZ_RECEIVERS_MAX || !*at || *at > TZ_ID_MAX ||
		    *at > end - at - 1)
			return TEE_ERROR_BAD_PARAMETERS;
		id->len = *at++;
		id->at = at;
		at += id->len;
	}
	return TEE_SUCCESS;
}

/* Gets the key of each receiver that may read the message, and begins its copy with the head. */
static TEE_Result begin_copies(struct session *session, const struct message *message,
			       const struct names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		struct copy *copy = &broker.copies[i];
		TEE_Result res = cache_get(session, &names->receivers[i], &copy->receiver);

		if (res && res != TEE_ERROR_ITEM_NOT_FOUND)
			return res;
		if (res || !policy_allows(&copy->receiver->client, 'r', &names->topic)) {
			copy->receiver = NULL;
			broker.statistics.refused++;
			continue;
		}
		TEE_MemMove(copy->head, message->head, message->head_len);
		copy->head[3] = TZ_FROM_BROKER;
		message_nonce(copy->head + TZ_NONCE);
		message_begin(&copy->gcm, copy->receiver, copy->head, &names->topic,
			      &copy->receiver->client);
	}
	return TEE_SUCCESS;
}

/* Decrypts the message chunk by chunk, and encrypts each chunk for every copy. Writes no tags. */
static void pass_on(const struct cached *sender, struct gcm_message *gcm,
		    const struct message *message, size_t copies, uint8_t *out, size_t step)
{
	for (size_t at = 0; at < message->len; at += CHUNK) {
		size_t n = message->len - at < CHUNK ? message->len - at : CHUNK;

		sender->class->copy(broker.sealed, message->sealed + at, n);
		sender->class->crypt(gcm, &sender->key, false, broker.sealed, broker.plain, n);
		for (size_t i = 0; i < copies; i++) {
			struct copy *copy = &broker.copies[i];

			if (!copy->receiver)
				continue;
			copy->receiver->class->crypt(&copy->gcm, &copy->receiver->key, true,
						     broker.plain, broker.sealed, n);
			sender->class->copy(out + i * step + message->head_len + at, broker.sealed,
					    n);
		}
	}
	wipe(broker.plain, message->len < CHUNK ? message->len : CHUNK);
}

static uint32_t finish_copies(const struct message *message, size_t copies, uint8_t *out,
			      size_t step)
{
	uint32_t done = 0;

	for (size_t i = 0; i < copies; i++) {
		struct copy *copy = &broker.copies[i];
		uint8_t *at = out + i * step, tag[TZ_TAG_BYTES];

		if (!copy->receiver)
			continue;
		copy->receiver->class->tag(&copy->gcm, &copy->receiver->key, tag);
		TEE_MemMove(at, copy->head, message->head_len);
		TEE_MemMove(at + message->head_len + message->len, tag, TZ_TAG_BYTES);
		broker.statistics.copies++;
		done |= UINT32_C(1) << i;
	}
	return done;
}

static TEE_Result drop(enum tz_drop reason)
{
	static const TEE_Result results[TZ_DROP_REASONS] = {
		[TZ_DROP_FORMAT] = TEE_ERROR_BAD_FORMAT,
		[TZ_DROP_UNKNOWN] = TEE_ERROR_ITEM_NOT_FOUND,
		[TZ_DROP_FORGED] = TEE_ERROR_MAC_INVALID,
		[TZ_DROP_REPLAYED] = TEE_ERROR_ACCESS_CONFLICT,
		[TZ_DROP_POLICY] = TEE_ERROR_ACCESS_DENIED,
	};

	broker.statistics.dropped[reason]++;
	return results[reason];
}

static TEE_Result open_and_seal(struct session *session, const struct message *message,
				const struct names *names, bool fresh, uint8_t *out, size_t step,
				uint32_t *done)
{
	struct cached *sender = NULL;
	struct gcm_message gcm;
	uint8_t tag[TZ_TAG_BYTES];
	TEE_Result res = cache_get(session, &message->id, &sender);

	if (res)
		return res == TEE_ERROR_ITEM_NOT_FOUND ? drop(TZ_DROP_UNKNOWN) : res;
	if (!policy_allows(&sender->client, 'w', &names->topic))
		return drop(TZ_DROP_POLICY);
	if (fresh && tz_came_before(&broker.table.rows[sender->row].last,
				    broker.windows[sender->row], &message->is))
		return drop(TZ_DROP_REPLAYED);
	res = begin_copies(session, message, names);
	if (res)
		return res;
	message_begin(&gcm, sender, message->head, &names->topic, NULL);
	pass_on(sender, &gcm, message, names->count, out, step);
	sender->class->tag(&gcm, &sender->key, tag);
	if (!same_bytes(tag, message->tag, TZ_TAG_BYTES))
		return drop(TZ_DROP_FORGED);
	*done = finish_copies(message, names->count, out, step);
	broker.statistics.messages++;
	if (!fresh)
		return TEE_SUCCESS;
	tz_remember(&broker.table.rows[sender->row].last, &broker.windows[sender->row],
		    &message->is);
	clients_count_message();
	return TEE_SUCCESS;
}

TEE_Result forward(struct session *session, TEE_Param *params)
{
	uint32_t flags = params[3].value.a, done = 0;
	size_t step = (params[0].memref.size + 15) / 16 * 16;
	struct message message;
	struct names names;
	TEE_Result res = TEE_SUCCESS;

	params[3].value.a = 0;
	if (flags & ~TZ_FRESH)
		return TEE_ERROR_BAD_PARAMETERS;
	if (message_parse(input_of(&params[0]), TZ_TO_BROKER, &message))
		return drop(TZ_DROP_FORMAT);
	res = parse_names(input_of(&params[1]), &names);
	if (!res)
		res = check_output(&params[2], names.count * step);
	if (res)
		return res;
	cache_begin();
	res = open_and_seal(session, &message, &names, flags & TZ_FRESH, params[2].memref.buffer,
			    step, &done);
	params[2].memref.size = done ? names.count * step : 0;
	params[3].value.a = done;
	wipe(broker.copies, names.count * sizeof(broker.copies[0]));
	return res;
}
