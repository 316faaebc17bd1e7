/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "pool.h"
#include "prng.h"
#include "stop.h"

/* Bytes of the message that are made between two checks for a signal; a multiple of 8. */
enum { MESSAGE_STEP = 1 << 20 };

static const struct {
	enum backend_use by;
	bool in, out, message;
	size_t room; /* bytes beyond the size that was reserved */
} uses[DESK_USES] = {
	[DESK_DIGEST] = { USE_DIGESTS, true, false, true, 0 },
	[DESK_PIECES] = { USE_DIGESTS, true, false, false, 0 },
	[DESK_SHM] = { USE_DIGESTS, false, false, false, 0 },
	[DESK_KEYED] = { USE_KEYS, true, true, false, ALG_DIGEST_MAX_BYTES },
	[DESK_SAME_CODE] = { USE_KEYS, true, false, true, 0 },
	[DESK_STORAGE] = { USE_KEYS, true, true, false, 0 },
	[DESK_RANDOM] = { USE_RANDOM, false, true, false, 0 },
	[DESK_ASYM] = { USE_ASYM, true, true, false, 0 },
};

void pool_message(uint8_t *data, size_t len)
{
	struct prng prng = { 0x7465656d61726bu }; /* "teemark" in ASCII */

	while (len && !stop_asked()) {
		size_t n = len < MESSAGE_STEP ? len : MESSAGE_STEP;

		prng_fill(&prng, data, n);
		data += n;
		len -= n;
	}
}

static struct desk *find(struct pool *pool, const struct backend *backend, enum desk_use use)
{
	struct desk *desk = pool->desks;

	for (; desk < pool->desks + pool->count; desk++)
		if (desk->backend == backend && desk->use == use)
			return desk;
	if (pool->count == POOL_MAX)
		return NULL;
	pool->count++;
	desk->backend = backend;
	desk->use = use;
	return desk;
}

static int too_many(struct error *err)
{
	return error_set(err, -ENOMEM, "too many kinds of sessions");
}

int pool_reserve(struct pool *pool, const struct backend *backend, enum desk_use use, size_t size,
		 struct error *err)
{
	struct desk *desk = find(pool, backend, use);

	if (!desk)
		return too_many(err);
	if (desk->reserved < size)
		desk->reserved = size;
	return 0;
}

static void drop(struct desk *desk, struct buffer *buffer)
{
	buffer_free(desk->backend, desk->session, buffer);
}

static int alloc(struct desk *desk, bool wanted, size_t size, struct buffer *buffer,
		 struct error *err)
{
	return wanted ? buffer_alloc(desk->backend, desk->session, size, buffer, err) : 0;
}

/* Replaces the desk's buffers by new ones of `size` bytes; after an error the old ones stay. */
static int take_buffers(struct desk *desk, size_t size, struct error *err)
{
	struct buffer in = { 0 }, out = { 0 };
	int ret;

	size += uses[desk->use].room;
	ret = alloc(desk, uses[desk->use].in, size, &in, err);
	if (!ret)
		ret = alloc(desk, uses[desk->use].out, size, &out, err);
	if (ret) {
		drop(desk, &in);
		return ret;
	}
	/* Writing maps all pages now, so that no page fault falls into a measurement. */
	if (out.data)
		memset(out.data, 0, size);
	if (in.data && uses[desk->use].message)
		pool_message(in.data, size);
	else if (in.data)
		memset(in.data, 0, size);
	drop(desk, &desk->in);
	drop(desk, &desk->out);
	desk->in = in;
	desk->out = out;
	desk->owner = NULL;
	return 0;
}

static bool has_room(const struct desk *desk, size_t need)
{
	const struct buffer *some = uses[desk->use].in ? &desk->in : &desk->out;

	need += uses[desk->use].room;
	return some->data ? some->size >= need : !uses[desk->use].in && !uses[desk->use].out;
}

int pool_desk(struct pool *pool, const struct backend *backend, enum desk_use use, size_t need,
	      struct desk **result, struct error *err)
{
	struct desk *desk = find(pool, backend, use);

	*result = NULL;
	if (!desk)
		return too_many(err);
	if (!desk->tried) {
		desk->tried = true;
		if (!backend_open(backend, uses[use].by, &desk->session, &desk->error))
			take_buffers(desk, desk->reserved, &desk->memory_error);
	}
	/* If there was no memory for the reserved size, the size that this case needs may do. */
	if (desk->session && !has_room(desk, need))
		take_buffers(desk, need, &desk->memory_error);
	if (!desk->session || !has_room(desk, need)) {
		const struct error *why = desk->session ? &desk->memory_error : &desk->error;

		if (err)
			*err = *why;
		return why->code;
	}
	*result = desk;
	return 0;
}

struct tee_session *desk_ta(const struct desk *desk)
{
	return desk && desk->backend->tee ? desk->backend->tee(desk->session) : NULL;
}

void pool_close(struct pool *pool)
{
	for (size_t i = 0; i < pool->count; i++) {
		struct desk *desk = &pool->desks[i];

		drop(desk, &desk->in);
		drop(desk, &desk->out);
		backend_close(desk->backend, desk->session);
	}
	memset(pool, 0, sizeof(*pool));
}
