/* SPDX-License-Identifier: BSD-2-Clause */
#include "cache.h"

#include <bytes.h>

#include "registry.h"

static void forget(struct cached *cached)
{
	wipe(cached, sizeof(*cached));
}

void cache_begin(struct broker *broker)
{
	if (++broker->stamp)
		return;
	cache_clear(broker); /* after 2^32 calls: stamps begin anew */
	broker->stamp = 1;
}

static bool is(const struct cached *cached, const struct text *id)
{
	return cached->client.id_len == id->len &&
	       !TEE_MemCompare(cached->client.id, id->at, id->len);
}

/* A free place, or that of the key that wasn't used for longest. */
static struct cached *room(struct broker *broker)
{
	struct cached *oldest = &broker->cache[0];

	for (size_t i = 1; i < CACHED_KEYS; i++)
		if (broker->cache[i].stamp < oldest->stamp)
			oldest = &broker->cache[i];
	if (oldest->stamp == broker->stamp)
		return NULL; /* this call's own */
	broker->statistics.keys_evicted += oldest->stamp != 0;
	return oldest;
}

static TEE_Result load(struct session *session, uint32_t row, uint32_t tag,
		       struct cached **out)
{
	struct broker *broker = session->broker;
	struct cached *cached = room(broker);
	TEE_Result res = TEE_SUCCESS;

	if (!cached)
		return TEE_ERROR_OUT_OF_MEMORY;
	forget(cached);
	res = registry_read(broker, row, &cached->client);
	if (res) {
		forget(cached);
		return res;
	}
	broker->statistics.keys_loaded++;
	cached->row = row;
	cached->tag = tag;
	cached->class = session->class;
	cached->class->set_key(&cached->key, cached->client.key);
	wipe(cached->client.key, sizeof(cached->client.key));
	cached->stamp = broker->stamp;
	*out = cached;
	return TEE_SUCCESS;
}

TEE_Result cache_get(struct session *session, const struct text *id,
		     struct cached **out)
{
	struct broker *broker = session->broker;
	uint32_t tag = registry_tag(id), row = 0;

	for (size_t i = 0; i < CACHED_KEYS; i++) {
		struct cached *cached = &broker->cache[i];

		if (!cached->stamp || cached->tag != tag ||
		    cached->class != session->class || !is(cached, id))
			continue;
		cached->stamp = broker->stamp;
		broker->statistics.keys_cached++;
		*out = cached;
		return TEE_SUCCESS;
	}
	while ((row = registry_find(broker, tag, row)) != TZ_CLIENTS_MAX) {
		TEE_Result res = load(session, row, tag, out);

		if (res || is(*out, id))
			return res;
		row++;
	}
	return TEE_ERROR_ITEM_NOT_FOUND;
}

void cache_drop(struct broker *broker, uint32_t row)
{
	for (size_t i = 0; i < CACHED_KEYS; i++)
		if (broker->cache[i].stamp && broker->cache[i].row == row)
			forget(&broker->cache[i]);
}

void cache_clear(struct broker *broker)
{
	for (size_t i = 0; i < CACHED_KEYS; i++)
		forget(&broker->cache[i]);
}
