/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "pool.h"
#include "prng.h"
#include "stop.h"

/* So many bytes between two looks at whether to stop; a multiple of 8. */
enum { MESSAGE_STEP = 1 << 20 };

void pool_message(uint8_t *data, size_t len)
{
	struct prng prng;

	prng_seed(&prng, 0x7465656d61726bu); /* "teemark" */
	while (len && !stop_asked()) {
		size_t n = len < MESSAGE_STEP ? len : MESSAGE_STEP;

		prng_fill(&prng, data, n);
		data += n;
		len -= n;
	}
}

static struct pool_entry *find(struct pool *pool, const struct backend *backend)
{
	for (size_t i = 0; i < pool->count; i++)
		if (pool->entries[i].backend == backend)
			return &pool->entries[i];
	if (pool->count == POOL_MAX)
		return NULL;
	pool->entries[pool->count].backend = backend;
	return &pool->entries[pool->count++];
}

int pool_reserve(struct pool *pool, const struct backend *backend, size_t size,
		 struct error *err)
{
	struct pool_entry *entry = find(pool, backend);

	if (!entry)
		return error_set(err, -ENOMEM, "too many backends");
	if (entry->reserved < size)
		entry->reserved = size;
	return 0;
}

int pool_session(struct pool *pool, const struct backend *backend,
		 struct session **session, struct error *err)
{
	struct pool_entry *entry = find(pool, backend);

	*session = NULL;
	if (!entry)
		return error_set(err, -ENOMEM, "too many backends");
	if (!entry->tried) {
		entry->tried = true;
		entry->code = backend->probe(&entry->error);
		if (!entry->code)
			entry->code =
				backend->open(&entry->session, &entry->error);
	}
	*session = entry->session;
	if (entry->code && err)
		*err = entry->error;
	return entry->code;
}

/* A buffer of that size instead of the entry's; after an error that stays. */
static void take_buffer(struct pool_entry *entry, size_t size)
{
	struct buffer larger = { 0 };
	struct error why = { 0 };
	int ret = entry->backend->buffer_alloc(entry->session, size, &larger,
					       &why);

	if (ret) {
		entry->buffer_code = ret;
		entry->buffer_error = why;
		return;
	}
	pool_message(larger.data, size);
	if (entry->buffer.size)
		entry->backend->buffer_free(entry->session, &entry->buffer);
	entry->buffer = larger;
}

int pool_buffer(struct pool *pool, const struct backend *backend, size_t need,
		const struct buffer **buffer, struct error *err)
{
	struct pool_entry *entry = find(pool, backend);
	struct session *session;
	int ret = pool_session(pool, backend, &session, err);

	*buffer = NULL;
	if (ret)
		return ret;
	if (!entry->filled) {
		entry->filled = true;
		take_buffer(entry, entry->reserved);
	}
	/* All of it was too much: as much as this case needs, then. */
	if (entry->buffer.size < need && need < entry->reserved)
		take_buffer(entry, need);
	if (entry->buffer.size < need) {
		if (err)
			*err = entry->buffer_error;
		return entry->buffer_code;
	}
	*buffer = &entry->buffer;
	return 0;
}

static struct pool_share *find_share(struct pool *pool, const void *kind)
{
	for (size_t i = 0; i < pool->n_shares; i++)
		if (pool->shares[i].kind == kind)
			return &pool->shares[i];
	if (pool->n_shares == POOL_MAX)
		return NULL;
	pool->shares[pool->n_shares].kind = kind;
	return &pool->shares[pool->n_shares++];
}

int pool_share_reserve(struct pool *pool, const void *kind, size_t size,
		       struct error *err)
{
	struct pool_share *share = find_share(pool, kind);

	if (!share)
		return error_set(err, -ENOMEM, "too many kinds of sessions");
	if (share->reserved < size)
		share->reserved = size;
	return 0;
}

int pool_share(struct pool *pool, const void *kind,
	       int (*open)(const void *kind, size_t size, void **value,
			   struct error *err),
	       void (*close)(void *value), void **value, struct error *err)
{
	struct pool_share *share = find_share(pool, kind);

	*value = NULL;
	if (!share)
		return error_set(err, -ENOMEM, "too many kinds of sessions");
	if (!share->tried) {
		share->tried = true;
		share->close = close;
		share->code = open(kind, share->reserved, &share->value,
				   &share->error);
	}
	*value = share->value;
	if (share->code && err)
		*err = share->error;
	return share->code;
}

void pool_close(struct pool *pool)
{
	for (size_t i = 0; i < pool->n_shares; i++)
		if (pool->shares[i].value)
			pool->shares[i].close(pool->shares[i].value);
	for (size_t i = 0; i < pool->count; i++) {
		struct pool_entry *entry = &pool->entries[i];

		if (!entry->session)
			continue;
		if (entry->buffer.size)
			entry->backend->buffer_free(entry->session,
						    &entry->buffer);
		entry->backend->close(entry->session);
	}
	memset(pool, 0, sizeof(*pool));
}
