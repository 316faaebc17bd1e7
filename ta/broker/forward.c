/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens a message and seals it for its receivers.
 *
 * The ciphertext is copied to the TA's own memory once, opened there, and its tag is checked over all
 * of it. Only then is it sealed, so that the normal world gets no byte that depends on a message whose
 * sender, topic or content isn't what it claims to be: a copy without a tag would still show its
 * plaintext to whoever has the receiver's key. Copies are sealed in the TA's memory, too, since
 * nobody else may write to what is being hashed.
 */
#include <teemark/ta_work.h>

#include "broker.h"

_Static_assert((1 + TZ_RECEIVERS_MAX) * TZ_MESSAGE_MAX <= TA_WORK_MAX, "a call does too much");

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

/* Opens the message into broker.text. Returns true if its tag is right. */
static bool open_message(const struct cached *sender, const struct message *message,
			 struct text topic)
{
	struct gcm_message gcm;

	sender->class->copy(broker.text, message->sealed, message->len);
	message_begin(&gcm, sender, message->head, topic, (struct text){ 0 });
	sender->class->crypt(&gcm, &sender->key, false, broker.text, broker.text, message->len);
	return message_is_right(&gcm, sender, message);
}

/* Wipes the message in broker.text. OP-TEE's memset() takes five instructions a byte. */
static void forget_text(const struct gcm_class *class, size_t len)
{
	static const uint8_t zeros[CHUNK];

	for (size_t at = 0; at < len; at += CHUNK)
		class->copy(broker.text + at, zeros, len - at < CHUNK ? len - at : CHUNK);
}

/* Seals the message in broker.text for a receiver. *done: the receiver may read it. */
static TEE_Result seal_copy(struct session *session, const struct message *message,
			    struct text topic, struct text receiver, uint8_t *out, bool *done)
{
	uint8_t head[TZ_HEAD_MAX], tag[TZ_TAG_BYTES];
	struct gcm_message gcm;
	struct cached *key = NULL;
	TEE_Result res = cache_get(session, &receiver, &key);

	*done = !res && policy_allows(&key->client, 'r', &topic);
	if (!*done) {
		broker.statistics.refused++;
		return res == TEE_ERROR_ITEM_NOT_FOUND ? TEE_SUCCESS : res;
	}
	TEE_MemMove(head, message->head, message->head_len);
	head[3] = TZ_FROM_BROKER;
	message_nonce(head + TZ_NONCE);
	message_begin(&gcm, key, head, topic, receiver);
	TEE_MemMove(out, head, message->head_len);
	out += message->head_len;
	for (size_t at = 0; at < message->len; at += CHUNK) {
		size_t n = message->len - at < CHUNK ? message->len - at : CHUNK;

		key->class->crypt(&gcm, &key->key, true, broker.text + at, broker.sealed, n);
		key->class->copy(out + at, broker.sealed, n);
	}
	key->class->tag(&gcm, &key->key, tag);
	TEE_MemMove(out + message->len, tag, TZ_TAG_BYTES);
	broker.statistics.copies++;
	return TEE_SUCCESS;
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
	TEE_Result res = cache_get(session, &message->id, &sender);
	bool made = false;

	if (res)
		return res == TEE_ERROR_ITEM_NOT_FOUND ? drop(TZ_DROP_UNKNOWN) : res;
	if (!policy_allows(&sender->client, 'w', &names->topic))
		return drop(TZ_DROP_POLICY);
	if (fresh && tz_came_before(&broker.table.rows[sender->row].last,
				    broker.windows[sender->row], &message->is))
		return drop(TZ_DROP_REPLAYED);
	if (!open_message(sender, message, names->topic))
		return drop(TZ_DROP_FORGED);
	for (size_t i = 0; i < names->count; i++) {
		res = seal_copy(session, message, names->topic, names->receivers[i], out + i * step,
				&made);
		if (res)
			return res;
		*done |= (uint32_t)made << i;
	}
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
	forget_text(session->class, message.len);
	if (res)
		done = 0;
	params[2].memref.size = done ? names.count * step : 0;
	params[3].value.a = done;
	return res;
}
