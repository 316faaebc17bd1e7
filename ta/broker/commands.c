/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of ta_broker.h. The administrator is set once by a claim, and gives all other
 * orders.
 */
#include "broker.h"

#define ORDER_MAX (2 + TZ_ID_MAX + TZ_WRAPPED_BYTES + TZ_RULES_MAX)

struct broker broker;

const size_t session_bytes = sizeof(struct session);

TEE_Result session_open(struct session *session)
{
	TEE_Result res = clients_open();

	session->class = &gcm_ct;
	broker.sessions += !res;
	return res;
}

/*
 * Ends the instance with its last session. The table is stored here, because OP-TEE doesn't wait
 * for an instance that stores it in its destructor.
 */
void session_close(struct session *session)
{
	if (!--broker.sessions)
		clients_close();
}

static TEE_Result info(struct session *session, TEE_Param *params)
{
	params[0].value.a = TA_BROKER_ABI;
	params[0].value.b = 0;
	for (uint32_t row = 0; row < broker.table.used; row++)
		params[0].value.b += broker.table.rows[row].tag != 0;
	return TEE_SUCCESS;
}

static TEE_Result extensions(struct session *session, TEE_Param *params)
{
	if (!gcm_ce)
		return TEE_ERROR_NOT_SUPPORTED;
	session->class = gcm_ce;
	return TEE_SUCCESS;
}

static TEE_Result statistics(struct session *session, TEE_Param *params)
{
	TEE_Result res = check_output(&params[0], sizeof(broker.statistics));

	if (!res)
		put_output(&params[0], &broker.statistics, sizeof(broker.statistics));
	return res;
}

/*
 * Parses the client in a claim or an order: length of the id, id, wrapped key or public half,
 * rules. `text` is in the TA's own memory.
 */
static TEE_Result parse_client(struct session *session, struct text text, enum tz_order order,
			       struct record *record)
{
	size_t id_len = text.len ? text.at[0] : 0;
	size_t before = 1 + id_len +
			(order == TZ_ENROL ? TZ_WRAPPED_BYTES :
			 order == TZ_AGREE ? TZ_PUBLIC_BYTES :
					     0);
	const struct text id = { text.at + 1, id_len };

	if (!id_len || id_len > TZ_ID_MAX || before > text.len || text.len - before > TZ_RULES_MAX)
		return TEE_ERROR_BAD_FORMAT;
	record->id_len = (uint8_t)id_len;
	TEE_MemMove(record->id, id.at, id_len);
	record->rules_len = (uint8_t)(text.len - before);
	TEE_MemMove(record->rules, text.at + before, record->rules_len);
	if (!policy_is_valid(record->rules, record->rules_len))
		return TEE_ERROR_BAD_FORMAT;
	if (order == TZ_ENROL)
		return identity_unwrap(session->class, &id, id.at + id_len, record->key);
	if (order == TZ_AGREE)
		return identity_agree(order, &id, id.at + id_len, record->key);
	return TEE_SUCCESS;
}

static TEE_Result claim(struct session *session, TEE_Param *params)
{
	uint8_t bytes[1 + TZ_ID_MAX + TZ_WRAPPED_BYTES];
	const struct input in = input_of(&params[0]);
	struct record record = { .admin = 1 };
	TEE_Result res = TEE_SUCCESS;

	if (in.len > sizeof(bytes))
		return TEE_ERROR_BAD_PARAMETERS;
	if (broker.table.used)
		return TEE_ERROR_ACCESS_DENIED;
	if (in.len)
		TEE_MemMove(bytes, in.data, in.len);
	res = clients_make();
	if (!res)
		res = parse_client(session, (struct text){ bytes, in.len }, TZ_ENROL, &record);
	if (!res && record.rules_len)
		res = TEE_ERROR_BAD_FORMAT;
	if (!res)
		res = clients_put(&record, TZ_CLIENTS_MAX, false);
	wipe(&record, sizeof(record));
	return res;
}

/* Finds a client's row and reads its record, with the key. */
static TEE_Result look_up(struct session *session, const struct record *who, uint32_t *row,
			  struct record *record)
{
	const struct text id = { who->id, who->id_len };
	struct cached *cached = NULL;
	TEE_Result res = cache_get(session, &id, &cached);

	if (res)
		return res;
	*row = cached->row;
	return clients_read(*row, record);
}

/* Executes an order; `text` is the order without its letter. */
static TEE_Result obey(struct session *session, uint8_t letter, struct text text)
{
	struct record new = { 0 }, old = { 0 };
	bool enrols = letter == TZ_ENROL || letter == TZ_AGREE;
	uint32_t row = TZ_CLIENTS_MAX;
	TEE_Result res = TEE_ERROR_BAD_FORMAT;

	if (enrols || letter == TZ_POLICY || letter == TZ_REVOKE)
		res = parse_client(session, text, letter, &new);
	if (!res && letter == TZ_REVOKE && new.rules_len)
		res = TEE_ERROR_BAD_FORMAT;
	if (res)
		goto out;
	res = look_up(session, &new, &row, &old);
	if (enrols && res == TEE_ERROR_ITEM_NOT_FOUND)
		res = TEE_SUCCESS;
	if (!res && old.admin)
		res = TEE_ERROR_ACCESS_DENIED;
	if (res)
		goto out;
	if (letter == TZ_POLICY)
		TEE_MemMove(new.key, old.key, sizeof(new.key));
	if (letter == TZ_REVOKE)
		res = clients_drop(row);
	else
		res = clients_put(&new, row,
				  row != TZ_CLIENTS_MAX &&
					  same_bytes(new.key, old.key, sizeof(new.key)));
out:
	wipe(&new, sizeof(new));
	wipe(&old, sizeof(old));
	return res;
}

static TEE_Result order(struct session *session, TEE_Param *params)
{
	struct cached *admin = NULL;
	struct gcm_message gcm;
	struct message message;
	struct tz_last before, *last = NULL;
	uint8_t bytes[ORDER_MAX], public[TZ_PUBLIC_BYTES];
	TEE_Result res = TEE_SUCCESS;

	if (message_parse(input_of(&params[0]), TZ_ORDER, &message) || !message.len ||
	    message.len > ORDER_MAX)
		return TEE_ERROR_BAD_FORMAT;
	cache_begin();
	res = cache_get(session, &message.id, &admin);
	if (!res && !admin->client.admin)
		res = TEE_ERROR_ACCESS_DENIED;
	if (!res)
		res = identity_public(public);
	if (res)
		return res;
	last = &broker.table.rows[admin->row].last;
	TEE_MemMove(bytes, message.sealed, message.len);
	message_begin(&gcm, admin, message.head, (struct text){ 0 },
		      (struct text){ public, sizeof(public) });
	admin->class->crypt(&gcm, &admin->key, false, bytes, bytes, message.len);
	if (!message_is_right(&gcm, admin, &message)) {
		res = TEE_ERROR_MAC_INVALID;
	} else if (!tz_is_later(&message.is, last)) {
		res = TEE_ERROR_ACCESS_CONFLICT;
	} else {
		/* The number is stored with the order's change by one write, or neither is. */
		before = *last;
		*last = message.is;
		res = obey(session, bytes[0], (struct text){ bytes + 1, message.len - 1 });
		if (res)
			*last = before;
	}
	wipe(bytes, sizeof(bytes));
	return res;
}

static TEE_Result list(struct session *session, TEE_Param *params)
{
	uint32_t row = params[0].value.a;
	uint8_t bytes[2 + TZ_ID_MAX + TZ_RULES_MAX];
	struct record record;
	size_t len = 0;
	TEE_Result res = check_output(&params[1], sizeof(bytes));

	if (res)
		return res;
	while (row < broker.table.used && !broker.table.rows[row].tag)
		row++;
	if (row >= broker.table.used)
		return TEE_ERROR_ITEM_NOT_FOUND;
	res = clients_read(row, &record);
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

const struct command commands[] = {
	{ TA_BROKER_CMD_NOP, ANY_TYPES, command_nop },
	ROW(TA_BROKER_CMD_INFO, info, VALUE_OUT),
	ROW(TA_BROKER_CMD_IDENTITY, identity, MEMREF_OUT),
	ROW(TA_BROKER_CMD_CLAIM, claim, MEMREF_IN),
	ROW(TA_BROKER_CMD_ORDER, order, MEMREF_IN),
	ROW(TA_BROKER_CMD_FORWARD, forward, MEMREF_IN, MEMREF_IN, MEMREF_OUT, VALUE_INOUT),
	ROW(TA_BROKER_CMD_STATISTICS, statistics, MEMREF_OUT),
	ROW(TA_BROKER_CMD_EXTENSIONS, extensions, NONE),
	ROW(TA_BROKER_CMD_LIST, list, VALUE_INOUT, MEMREF_OUT),
	CLOCK_ROW,
	{ 0 },
};
