/* SPDX-License-Identifier: BSD-2-Clause */
#include "pool.h"
#include "prng.h"
#include "stop.h"

/* Bytes of the message that are made between two checks for a signal; a multiple of 8. */
enum { MESSAGE_STEP = 1 << 20 };

static const struct {
	enum backend_use by;
	bool in, out, message;
	size_t room; /* bytes beyond the size that was reserved */
} uses[WORKPLACE_USES] = {
	[WORKPLACE_DIGEST] = { USE_DIGESTS, true, false, true, 0 },
	[WORKPLACE_PIECES] = { USE_DIGESTS, true, false, false, 0 },
	[WORKPLACE_SHM] = { USE_DIGESTS, false, false, false, 0 },
	[WORKPLACE_KEYED] = { USE_KEYS, true, true, false, ALG_DIGEST_MAX_BYTES },
	[WORKPLACE_SAME_CODE] = { USE_KEYS, true, false, true, 0 },
	[WORKPLACE_STORAGE] = { USE_KEYS, true, true, false, 0 },
	[WORKPLACE_RANDOM] = { USE_RANDOM, false, true, false, 0 },
	[WORKPLACE_ASYM] = { USE_ASYM, true, true, false, 0 },
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

static struct workplace *find(struct pool *pool, const struct backend *backend,
			      enum workplace_use use)
{
	struct workplace *workplace = pool->workplaces;

	for (; workplace < pool->workplaces + pool->count; workplace++)
		if (workplace->backend == backend && workplace->use == use)
			return workplace;
	if (pool->count == POOL_MAX)
		return NULL;
	pool->count++;
	workplace->backend = backend;
	workplace->use = use;
	return workplace;
}

static int too_many(struct error *err)
{
	return error_set(err, -ENOMEM, "too many kinds of sessions");
}

int pool_reserve(struct pool *pool, const struct backend *backend, enum workplace_use use,
		 size_t size, struct error *err)
{
	struct workplace *workplace = find(pool, backend, use);

	if (!workplace)
		return too_many(err);
	if (workplace->reserved < size)
		workplace->reserved = size;
	return 0;
}

static void drop(struct workplace *workplace, struct buffer *buffer)
{
	buffer_free(workplace->backend, workplace->session, buffer);
}

static int alloc(struct workplace *workplace, bool wanted, size_t size, struct buffer *buffer,
		 struct error *err)
{
	return wanted ? buffer_alloc(workplace->backend, workplace->session, size, buffer, err) : 0;
}

/*
 * Replaces the workplace's buffers by new ones of `size` bytes. The old ones go first, since shared memory
 * may be a small pool; after an error it takes the old size again, which somebody else may have taken.
 */
static void take_buffers(struct workplace *workplace, size_t size, struct error *err)
{
	struct buffer *in = &workplace->in, *out = &workplace->out;
	size_t before = in->data ? in->size : out->size;

	drop(workplace, in);
	drop(workplace, out);
	workplace->owner = NULL;
	size += uses[workplace->use].room;
	if (alloc(workplace, uses[workplace->use].in, size, in, err) ||
	    alloc(workplace, uses[workplace->use].out, size, out, err)) {
		drop(workplace, in);
		if (before)
			take_buffers(workplace, before - uses[workplace->use].room, NULL);
		return;
	}
	/* Writing maps all pages now, so that no page fault falls into a measurement. */
	if (out->data)
		memset(out->data, 0, size);
	if (in->data && uses[workplace->use].message)
		pool_message(in->data, size);
	else if (in->data)
		memset(in->data, 0, size);
}

bool workplace_has_room(const struct workplace *workplace, size_t need)
{
	const struct buffer *some = uses[workplace->use].in ? &workplace->in : &workplace->out;

	need += uses[workplace->use].room;
	return some->data ? some->size >= need :
			    !uses[workplace->use].in && !uses[workplace->use].out;
}

int pool_workplace(struct pool *pool, const struct backend *backend, enum workplace_use use,
		   size_t need, struct workplace **result, struct error *err)
{
	struct workplace *workplace = find(pool, backend, use);

	*result = NULL;
	if (!workplace)
		return too_many(err);
	if (!workplace->tried) {
		workplace->tried = true;
		if (!backend_open(backend, uses[use].by, &workplace->session, &workplace->error))
			take_buffers(workplace, workplace->reserved, &workplace->memory_error);
	}
	/* If there was no memory for the reserved size, the size that this case needs may do. */
	if (workplace->session && !workplace_has_room(workplace, need))
		take_buffers(workplace, need, &workplace->memory_error);
	if (!workplace->session || !workplace_has_room(workplace, need)) {
		const struct error *why = workplace->session ? &workplace->memory_error :
							       &workplace->error;

		if (err)
			*err = *why;
		return why->code;
	}
	*result = workplace;
	return 0;
}

struct tee_session *workplace_ta(const struct workplace *workplace)
{
	return workplace && workplace->backend->tee ? workplace->backend->tee(workplace->session) :
						      NULL;
}

void pool_close(struct pool *pool)
{
	for (size_t i = 0; i < pool->count; i++) {
		struct workplace *workplace = &pool->workplaces[i];

		drop(workplace, &workplace->in);
		drop(workplace, &workplace->out);
		backend_close(workplace->backend, workplace->session);
	}
	memset(pool, 0, sizeof(*pool));
}
