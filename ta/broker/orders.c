/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is a client: the administrator is claimed once, and orders the rest. */
#include <bytes.h>

#include "cache.h"
#include "commands.h"
#include "identity.h"
#include "message.h"
#include "policy.h"
#include "registry.h"

#define ORDER_MAX (2 + TZ_ID_MAX + TZ_WRAPPED_BYTES + TZ_RULES_MAX)

TEE_Result identity(struct session *session, TEE_Param *params)
{
	uint8_t point[TZ_POINT_BYTES];
	TEE_Result res = check_output(&params[0], sizeof(point));

	(void)session;
	if (!res)
		res = identity_public(point);
	if (!res)
		put_output(&params[0], point, sizeof(point));
	return res;
}

/* Takes bytes from the front; NULL: there are not so many. */
static const uint8_t *take(struct text *from, size_t len)
{
	const uint8_t *at = from->at;

	if (len > from->len)
		return NULL;
	from->at += len;
	from->len -= len;
	return at;
}

static bool take_id(struct text *from, struct record *record)
{
	const uint8_t *len = take(from, 1), *id = NULL;

	if (!len || !*len || *len > TZ_ID_MAX)
		return false;
	id = take(from, *len);
	if (!id)
		return false;
	record->id_len = *len;
	TEE_MemMove(record->id, id, *len);
	return true;
}

static bool take_rules(struct text *from, struct record *record)
{
	if (from->len > TZ_RULES_MAX ||
	    !policy_is_valid((const char *)from->at, from->len))
		return false;
	TEE_MemFill(record->rules, 0, sizeof(record->rules));
	TEE_MemMove(record->rules, from->at, from->len);
	record->rules_len = (uint8_t)from->len;
	return true;
}

static TEE_Result take_key(struct session *session, struct text *from,
			   struct record *record)
{
	const struct text id = { record->id, record->id_len };
	const uint8_t *wrapped = take(from, TZ_WRAPPED_BYTES);

	if (!wrapped)
		return TEE_ERROR_BAD_FORMAT;
	return identity_unwrap(session->class, &id, wrapped, record->key);
}

TEE_Result claim(struct session *session, TEE_Param *params)
{
	uint8_t bytes[1 + TZ_ID_MAX + TZ_WRAPPED_BYTES];
	struct text text = { bytes, params[0].memref.size };
	struct record record = { .admin = 1 };
	struct input in;
	uint32_t row = 0;
	TEE_Result res = get_input(&in, &params[0]);

	if (res || in.len > sizeof(bytes))
		return TEE_ERROR_BAD_PARAMETERS;
	if (session->broker->table.used)
		return TEE_ERROR_ACCESS_DENIED;
	TEE_MemMove(bytes, in.data, in.len);
	if (!take_id(&text, &record) || text.len != TZ_WRAPPED_BYTES)
		return TEE_ERROR_BAD_FORMAT;
	res = take_key(session, &text, &record);
	if (!res)
		res = registry_put(session->broker, &record, TZ_CLIENTS_MAX,
				   false, &row);
	wipe(&record, sizeof(record));
	return res;
}

/* The row of a client, and its record with the key. */
static TEE_Result look_up(struct session *session, const struct record *who,
			  uint32_t *row, struct record *record)
{
	const struct text id = { who->id, who->id_len };
	struct cached *cached = NULL;
	TEE_Result res = cache_get(session, &id, &cached);

	if (res)
		return res;
	*row = cached->row;
	return registry_read(session->broker, *row, record);
}

/* text: the order without its letter. */
static TEE_Result obey(struct session *session, uint8_t letter,
		       struct text *text)
{
	struct broker *broker = session->broker;
	struct record new = { 0 }, old = { 0 };
	uint32_t row = TZ_CLIENTS_MAX, at = 0;
	TEE_Result res = TEE_SUCCESS;

	if (!take_id(text, &new))
		return TEE_ERROR_BAD_FORMAT;
	res = look_up(session, &new, &row, &old);
	if (res && (res != TEE_ERROR_ITEM_NOT_FOUND || letter != TZ_ENROL))
		goto out;
	res = TEE_ERROR_ACCESS_DENIED;
	if (old.admin)
		goto out;
	switch (letter) {
	case TZ_ENROL:
		res = take_key(session, text, &new);
		break;
	case TZ_POLICY:
		TEE_MemMove(new.key, old.key, sizeof(new.key));
		res = TEE_SUCCESS;
		break;
	case TZ_REVOKE:
		res = text->len ? TEE_ERROR_BAD_FORMAT :
				  registry_drop(broker, row);
		cache_drop(broker, row);
		goto out;
	default:
		res = TEE_ERROR_BAD_FORMAT;
	}
	if (!res && !take_rules(text, &new))
		res = TEE_ERROR_BAD_FORMAT;
	if (!res)
		res = registry_put(broker, &new, row, letter == TZ_POLICY, &at);
	cache_drop(broker, row);
	cache_drop(broker, at);
out:
	wipe(&new, sizeof(new));
	wipe(&old, sizeof(old));
	return res;
}

TEE_Result order(struct session *session, TEE_Param *params)
{
	static const struct text no_topic = { (const uint8_t *)"", 0 };
	struct broker *broker = session->broker;
	struct cached *admin = NULL;
	struct gcm_message gcm;
	struct message message;
	struct input in;
	struct row before;
	uint8_t bytes[ORDER_MAX], tag[TZ_TAG_BYTES];
	struct text text = { bytes, 0 };
	uint32_t row = 0;
	TEE_Result res = get_input(&in, &params[0]);

	if (res)
		return res;
	if (message_parse(&in, TZ_ORDER, &message) || !message.len ||
	    message.len > ORDER_MAX)
		return TEE_ERROR_BAD_FORMAT;
	cache_begin(broker);
	res = cache_get(session, &message.id, &admin);
	if (res)
		return res;
	if (!admin->client.admin)
		return TEE_ERROR_ACCESS_DENIED;
	TEE_MemMove(bytes, message.sealed, message.len);
	message_begin(&gcm, admin, message.head, &no_topic, NULL);
	admin->class->crypt(&gcm, &admin->key, false, bytes, bytes,
			    message.len);
	admin->class->tag(&gcm, &admin->key, tag);
	row = admin->row;
	if (!same_tag(tag, message.tag)) {
		res = TEE_ERROR_MAC_INVALID;
		goto out;
	}
	if (message_came_before(broker, row, &message)) {
		res = TEE_ERROR_ACCESS_CONFLICT;
		goto out;
	}
	/* Stored with the change, in the one write that makes it. */
	before = broker->table.rows[row];
	message_remember(broker, row, &message);
	text.len = message.len - 1;
	text.at++;
	res = obey(session, bytes[0], &text);
	if (res)
		broker->table.rows[row] = before;
out:
	wipe(bytes, sizeof(bytes));
	return res;
}

TEE_Result list(struct session *session, TEE_Param *params)
{
	struct broker *broker = session->broker;
	uint32_t row = params[0].value.a;
	uint8_t bytes[2 + TZ_ID_MAX + TZ_RULES_MAX];
	struct record record;
	size_t len = 0;
	TEE_Result res = check_output(&params[1], sizeof(bytes));

	if (res)
		return res;
	while (row < broker->table.used && !broker->table.rows[row].tag)
		row++;
	if (row >= broker->table.used)
		return TEE_ERROR_ITEM_NOT_FOUND;
	res = registry_read(broker, row, &record);
	if (res)
		return res;
	bytes[len++] = record.id_len;
	TEE_MemMove(bytes + len, record.id, record.id_len);
	len += record.id_len;
	bytes[len++] = record.admin;
	TEE_MemMove(bytes + len, record.rules, record.rules_len);
	len += record.rules_len;
	wipe(&record, sizeof(record));
	params[0].value.a = row + 1;
	put_output(&params[1], bytes, len);
	return TEE_SUCCESS;
}
