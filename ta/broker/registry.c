/* SPDX-License-Identifier: BSD-2-Clause */
#include "registry.h"

#include <bytes.h>

#define NAME   "registry"
#define FORMAT 0x315a5154u /* "TQZ1" */

#define FLAGS                                                     \
	(TEE_DATA_FLAG_ACCESS_READ | TEE_DATA_FLAG_ACCESS_WRITE | \
	 TEE_DATA_FLAG_ACCESS_WRITE_META)

static TEE_Result write_at(struct broker *broker, size_t at, const void *data,
			   size_t len)
{
	TEE_Result res = TEE_SeekObjectData(broker->registry, (intmax_t)at,
					    TEE_DATA_SEEK_SET);

	return res ? res : TEE_WriteObjectData(broker->registry, data, len);
}

static TEE_Result read_at(struct broker *broker, size_t at, void *data,
			  size_t len)
{
	tee_size count = 0;
	TEE_Result res = TEE_SeekObjectData(broker->registry, (intmax_t)at,
					    TEE_DATA_SEEK_SET);

	if (!res)
		res = TEE_ReadObjectData(broker->registry, data, len, &count);
	return res          ? res :
	       count == len ? TEE_SUCCESS :
			      TEE_ERROR_CORRUPT_OBJECT;
}

static size_t place_of(uint32_t row)
{
	return sizeof(struct table) + row * sizeof(struct record);
}

static TEE_Result save(struct broker *broker)
{
	TEE_Result res =
		write_at(broker, 0, &broker->table, sizeof(broker->table));

	broker->statistics.table_writes++;
	if (!res)
		broker->unsaved = 0;
	return res;
}

TEE_Result registry_open(struct broker *broker)
{
	char name[] = NAME;
	TEE_Result res = TEE_SUCCESS;

	if (broker->registry != TEE_HANDLE_NULL)
		return TEE_SUCCESS;
	/* What was seen within a window isn't stored: all of it counts. */
	TEE_MemFill(broker->windows, 0xff, sizeof(broker->windows));
	res = TEE_OpenPersistentObject(TEE_STORAGE_PRIVATE, name,
				       sizeof(name) - 1, FLAGS,
				       &broker->registry);
	if (res == TEE_ERROR_ITEM_NOT_FOUND)
		return TEE_SUCCESS;
	if (!res)
		res = read_at(broker, 0, &broker->table, sizeof(broker->table));
	if (!res && (broker->table.format != FORMAT ||
		     broker->table.used > TZ_CLIENTS_MAX))
		res = TEE_ERROR_CORRUPT_OBJECT;
	if (res)
		registry_close(broker);
	return res;
}

void registry_close(struct broker *broker)
{
	if (broker->registry != TEE_HANDLE_NULL)
		TEE_CloseObject(broker->registry);
	broker->registry = TEE_HANDLE_NULL;
	TEE_MemFill(&broker->table, 0, sizeof(broker->table));
}

TEE_Result registry_save(struct broker *broker)
{
	return broker->unsaved ? save(broker) : TEE_SUCCESS;
}

/* FNV-1a; never 0. */
uint32_t registry_tag(const struct text *id)
{
	uint32_t tag = 2166136261u;

	for (size_t i = 0; i < id->len; i++)
		tag = (tag ^ id->at[i]) * 16777619u;
	return tag ? tag : 1;
}

uint32_t registry_find(const struct broker *broker, uint32_t tag, uint32_t from)
{
	for (uint32_t row = from; row < broker->table.used; row++)
		if (broker->table.rows[row].tag == tag)
			return row;
	return TZ_CLIENTS_MAX;
}

TEE_Result registry_read(struct broker *broker, uint32_t row,
			 struct record *record)
{
	TEE_Result res =
		read_at(broker, place_of(row), record, sizeof(*record));

	if (!res && (!record->id_len || record->id_len > TZ_ID_MAX ||
		     record->rules_len > TZ_RULES_MAX))
		res = TEE_ERROR_CORRUPT_OBJECT;
	return res;
}

static TEE_Result create(struct broker *broker)
{
	char name[] = NAME;

	broker->table.format = FORMAT;
	return TEE_CreatePersistentObject(TEE_STORAGE_PRIVATE, name,
					  sizeof(name) - 1, FLAGS,
					  TEE_HANDLE_NULL, &broker->table,
					  sizeof(broker->table),
					  &broker->registry);
}

TEE_Result registry_put(struct broker *broker, const struct record *record,
			uint32_t old, bool keep_seen, uint32_t *row)
{
	struct table *table = &broker->table;
	const struct text id = { record->id, record->id_len };
	struct row before = { 0 }, *at = NULL;
	uint32_t used = table->used;
	TEE_Result res = TEE_SUCCESS;

	*row = registry_find(broker, 0, 0);
	if (*row == TZ_CLIENTS_MAX)
		*row = used;
	if (*row == TZ_CLIENTS_MAX)
		return TEE_ERROR_STORAGE_NO_SPACE;
	if (broker->registry == TEE_HANDLE_NULL)
		res = create(broker);
	if (!res)
		res = write_at(broker, place_of(*row), record, sizeof(*record));
	if (res)
		return res;
	at = &table->rows[*row];
	if (old != TZ_CLIENTS_MAX)
		before = table->rows[old];
	if (keep_seen)
		*at = before;
	at->tag = registry_tag(&id);
	if (old != TZ_CLIENTS_MAX)
		table->rows[old] = (struct row){ 0 };
	if (*row == used)
		table->used++;
	res = save(broker);
	if (res) { /* as it was */
		*at = (struct row){ 0 };
		table->used = used;
		if (old != TZ_CLIENTS_MAX)
			table->rows[old] = before;
		return res;
	}
	broker->windows[*row] = keep_seen ? broker->windows[old] : ~UINT64_C(0);
	return TEE_SUCCESS;
}

TEE_Result registry_drop(struct broker *broker, uint32_t row)
{
	static const struct record nobody;
	struct row before = broker->table.rows[row];
	TEE_Result res = TEE_SUCCESS;

	broker->table.rows[row] = (struct row){ 0 };
	res = save(broker);
	if (res) {
		broker->table.rows[row] = before;
		return res;
	}
	/* The key goes too; the client is gone already. */
	return write_at(broker, place_of(row), &nobody, sizeof(nobody));
}
