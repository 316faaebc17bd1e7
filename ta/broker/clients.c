/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TA's storage: one object with the enrolment key, the table, and a record for each row. OP-TEE's
 * writes are atomic, also if the power fails. Each change ends with one write of the table, and takes
 * effect only by this write.
 *
 * Everything is in one object, so that nobody can bring back or take away a part of it. If a byte of
 * it is changed outside, OP-TEE removes it; the TA that begins anew then has another enrolment key,
 * and no order, claim or client's key of the old one is worth anything to it.
 */
#include "broker.h"

#define FORMAT 0x325a5154u /* "TQZ2" */

/* Number of messages after which the table, with the last counters, is stored. */
#define SAVE_EVERY 16384u

static char name[] = "registry and enrolment key";

static size_t place_of(uint32_t row)
{
	return sizeof(struct table) + row * sizeof(struct record);
}

/* To be called with each result of the object. A corrupt one is closed and removed by OP-TEE. */
static TEE_Result checked(TEE_Result res)
{
	if (res == TEE_ERROR_CORRUPT_OBJECT) {
		broker.registry = TEE_HANDLE_NULL;
		broker.broken = true;
	}
	return res;
}

static TEE_Result seek(size_t at)
{
	if (broker.registry == TEE_HANDLE_NULL)
		return TEE_ERROR_CORRUPT_OBJECT;
	return TEE_SeekObjectData(broker.registry, (intmax_t)at, TEE_DATA_SEEK_SET);
}

static TEE_Result write_at(size_t at, const void *data, size_t len)
{
	TEE_Result res = seek(at);

	return res ? res : checked(TEE_WriteObjectData(broker.registry, data, len));
}

static TEE_Result read_at(size_t at, void *data, size_t len)
{
	tee_size count = 0;
	TEE_Result res = seek(at);

	if (!res)
		res = checked(TEE_ReadObjectData(broker.registry, data, len, &count));
	return !res && count != len ? TEE_ERROR_CORRUPT_OBJECT : res;
}

static TEE_Result save(void)
{
	TEE_Result res = write_at(0, &broker.table, sizeof(broker.table));

	broker.statistics.table_writes++;
	if (!res)
		broker.unsaved = 0;
	return res;
}

TEE_Result clients_open(void)
{
	TEE_Result res = TEE_SUCCESS;

	if (broker.broken)
		return TEE_ERROR_CORRUPT_OBJECT;
	if (broker.registry != TEE_HANDLE_NULL)
		return TEE_SUCCESS;
	/* Replay windows aren't stored: after a start, all counters in them count as seen. */
	TEE_MemFill(broker.windows, 0xff, sizeof(broker.windows));
	res = checked(TEE_OpenPersistentObject(TEE_STORAGE_PRIVATE, name, sizeof(name) - 1,
					       ACCESS_ALL, &broker.registry));
	if (res == TEE_ERROR_ITEM_NOT_FOUND)
		return TEE_SUCCESS;
	if (!res)
		res = read_at(0, &broker.table, sizeof(broker.table));
	if (!res && (broker.table.format != FORMAT || broker.table.used > TZ_CLIENTS_MAX))
		res = TEE_ERROR_CORRUPT_OBJECT;
	if (res) {
		TEE_CloseObject(broker.registry);
		broker.registry = TEE_HANDLE_NULL;
		wipe(&broker.table, sizeof(broker.table));
	}
	return res;
}

void clients_close(void)
{
	if (broker.unsaved)
		save();
	TEE_CloseObject(broker.registry);
	wipe(&broker, sizeof(broker));
}

void clients_count_message(void)
{
	if (++broker.unsaved >= SAVE_EVERY)
		save(); /* if it fails, the next message tries again */
}

/* Returns the FNV-1a hash of an id, but never 0. */
static uint32_t tag_of(const struct text *id)
{
	uint32_t tag = 2166136261u;

	for (size_t i = 0; i < id->len; i++)
		tag = (tag ^ id->at[i]) * 16777619u;
	return tag ? tag : 1;
}

/* Returns the first row >= `row` with that tag; TZ_CLIENTS_MAX if there is none. */
static uint32_t find(uint32_t tag, uint32_t row)
{
	for (; row < broker.table.used; row++)
		if (broker.table.rows[row].tag == tag)
			return row;
	return TZ_CLIENTS_MAX;
}

TEE_Result clients_read(uint32_t row, struct record *record)
{
	TEE_Result res = read_at(place_of(row), record, sizeof(*record));

	if (!res &&
	    (!record->id_len || record->id_len > TZ_ID_MAX || record->rules_len > TZ_RULES_MAX))
		res = TEE_ERROR_CORRUPT_OBJECT;
	return res;
}

static void forget_row(uint32_t row)
{
	for (size_t i = 0; i < CACHED_KEYS; i++)
		if (broker.cache[i].stamp && broker.cache[i].row == row)
			wipe(&broker.cache[i], sizeof(broker.cache[i]));
}

void cache_begin(void)
{
	if (++broker.stamp)
		return;
	/* After 2^32 calls the stamps begin anew. */
	wipe(broker.cache, sizeof(broker.cache));
	broker.stamp = 1;
}

static bool is(const struct cached *cached, const struct text *id)
{
	return cached->client.id_len == id->len &&
	       !TEE_MemCompare(cached->client.id, id->at, id->len);
}

static TEE_Result load(struct session *session, uint32_t row, uint32_t tag, struct cached **out)
{
	struct cached *cached = &broker.cache[0];
	TEE_Result res = TEE_SUCCESS;

	for (size_t i = 1; i < CACHED_KEYS; i++)
		if (broker.cache[i].stamp < cached->stamp)
			cached = &broker.cache[i];
	if (cached->stamp == broker.stamp)
		return TEE_ERROR_OUT_OF_MEMORY; /* this call uses all of them */
	broker.statistics.keys_evicted += cached->stamp != 0;
	wipe(cached, sizeof(*cached));
	res = clients_read(row, &cached->client);
	if (res) {
		wipe(cached, sizeof(*cached));
		return res;
	}
	broker.statistics.keys_loaded++;
	cached->row = row;
	cached->tag = tag;
	cached->class = session->class;
	cached->class->set_key(&cached->key, cached->client.key);
	wipe(cached->client.key, sizeof(cached->client.key));
	cached->stamp = broker.stamp;
	*out = cached;
	return TEE_SUCCESS;
}

TEE_Result cache_get(struct session *session, const struct text *id, struct cached **out)
{
	uint32_t tag = tag_of(id), row = 0;

	if (broker.broken)
		return TEE_ERROR_CORRUPT_OBJECT;
	for (size_t i = 0; i < CACHED_KEYS; i++) {
		struct cached *cached = &broker.cache[i];

		if (!cached->stamp || cached->tag != tag || cached->class != session->class ||
		    !is(cached, id))
			continue;
		cached->stamp = broker.stamp;
		broker.statistics.keys_cached++;
		*out = cached;
		return TEE_SUCCESS;
	}
	for (; (row = find(tag, row)) != TZ_CLIENTS_MAX; row++) {
		TEE_Result res = load(session, row, tag, out);

		if (res || is(*out, id))
			return res;
	}
	return TEE_ERROR_ITEM_NOT_FOUND;
}

TEE_Result clients_make(void)
{
	TEE_ObjectHandle pair = TEE_HANDLE_NULL;
	TEE_Result res = clients_open();

	if (res || broker.registry != TEE_HANDLE_NULL)
		return res;
	res = TEE_AllocateTransientObject(TEE_TYPE_X25519_KEYPAIR, 256, &pair);
	if (res)
		return res;
	broker.table.format = FORMAT;
	res = TEE_GenerateKey(pair, 256, NULL, 0);
	if (!res)
		res = TEE_CreatePersistentObject(TEE_STORAGE_PRIVATE, name, sizeof(name) - 1,
						 ACCESS_ALL, pair, &broker.table,
						 sizeof(broker.table), &broker.registry);
	TEE_FreeTransientObject(pair);
	return res;
}

TEE_Result clients_put(const struct record *record, uint32_t old, bool keep_seen)
{
	struct table *table = &broker.table;
	const struct text id = { record->id, record->id_len };
	struct row before = { 0 };
	uint32_t used = table->used, row = find(0, 0);
	TEE_Result res = TEE_SUCCESS;

	if (row == TZ_CLIENTS_MAX)
		row = used;
	if (row == TZ_CLIENTS_MAX)
		return TEE_ERROR_STORAGE_NO_SPACE;
	res = write_at(place_of(row), record, sizeof(*record));
	if (res)
		return res;
	if (old != TZ_CLIENTS_MAX) {
		before = table->rows[old];
		table->rows[old] = (struct row){ 0 };
	}
	if (keep_seen)
		table->rows[row] = before;
	table->rows[row].tag = tag_of(&id);
	if (row == used)
		table->used++;
	res = save();
	if (res) { /* restore the table */
		table->rows[row] = (struct row){ 0 };
		table->used = used;
		if (old != TZ_CLIENTS_MAX)
			table->rows[old] = before;
		return res;
	}
	broker.windows[row] = keep_seen ? broker.windows[old] : ~UINT64_C(0);
	forget_row(old);
	forget_row(row);
	return TEE_SUCCESS;
}

TEE_Result clients_drop(uint32_t row)
{
	static const struct record nobody;
	struct row before = broker.table.rows[row];
	TEE_Result res = TEE_SUCCESS;

	broker.table.rows[row] = (struct row){ 0 };
	res = save();
	if (res) {
		broker.table.rows[row] = before;
		return res;
	}
	forget_row(row);
	/* This wipes the stored key. The order is obeyed already, so it doesn't fail by this. */
	write_at(place_of(row), &nobody, sizeof(nobody));
	return TEE_SUCCESS;
}
