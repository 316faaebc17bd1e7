/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm/KIND/tee/DIRECTION/BYTES: an empty call that carries a buffer, which the
 * TA does not touch: what the crossing itself costs, by how the client made
 * the buffer.
 *
 *   temporary      ordinary memory, registered and released by every call
 *   registered     ordinary memory, registered once
 *   allocated      memory that libteec allocated, shared from the beginning
 *   registered-ro  memory that may be read only, as a constant: it cannot be
 *                  registered, so libteec copies it at every call
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <teemark/ta_digest.h>

#include "known_answer.h"
#include "tee_client.h"
#include "workload.h"

enum { TEMPORARY, REGISTERED, ALLOCATED, READ_ONLY };

static const char *const kinds[] = {
	[TEMPORARY] = "temporary",
	[REGISTERED] = "registered",
	[ALLOCATED] = "allocated",
	[READ_ONLY] = "registered-ro",
	NULL,
};

enum { IN, OUT, INOUT }; /* in the order of .parameters */

static int shm_parse(struct bench_case *c, struct pool *pool, struct error *err)
{
	(void)pool;
	if (c->part[0].word != IN && c->name == READ_ONLY)
		return case_wrong(err, "memory that can only be read has "
				       "direction in");
	return 0;
}

/*
 * Only one case has a buffer at a time, the owner of the desk: the TEE keeps a
 * list of the pages of all memory that is shared, and its heap is small.
 */
struct shm {
	struct pool *pool;
	struct desk *desk;
	struct tee_session *tee;
	int kind;
	bool into, back; /* the directions in which bytes cross */
	size_t bytes, mapped;
	uint8_t *plain; /* mmap()ed; NULL for allocated */
	TEEC_SharedMemory shm;
	bool registered;
	bool crossed; /* once at least */
	uint8_t *data;
	TEEC_Operation op;
};

static void set_temporary(TEEC_Operation *op, unsigned i, uint32_t type,
			  void *data, size_t len)
{
	tee_set_type(op, i, type);
	op->params[i].tmpref.buffer = data;
	op->params[i].tmpref.size = len;
}

/* Parameter `i` of op becomes our buffer, with these of its directions. */
static void set_buffer(struct shm *s, TEEC_Operation *op, unsigned i, bool in,
		       bool out)
{
	static const uint32_t types[2][3] = {
		{ TEEC_MEMREF_TEMP_INPUT, TEEC_MEMREF_TEMP_OUTPUT,
		  TEEC_MEMREF_TEMP_INOUT },
		{ TEEC_MEMREF_PARTIAL_INPUT, TEEC_MEMREF_PARTIAL_OUTPUT,
		  TEEC_MEMREF_PARTIAL_INOUT },
	};
	uint32_t type = types[s->kind != TEMPORARY][in && out ? INOUT : out];

	if (s->kind == TEMPORARY)
		set_temporary(op, i, type, s->data, s->bytes);
	else
		tee_set_memref(op, i, type, &s->shm, 0, s->bytes);
}

static int map_plain(struct shm *s, struct error *err)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t unit = page > 0 ? (size_t)page : 4096;
	void *memory;

	s->mapped = (s->bytes + unit - 1) / unit * unit;
	memory = mmap(NULL, s->mapped, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return error_set(err, -ENOMEM, "no memory for %zu bytes",
				 s->bytes);
	s->plain = memory;
	s->data = s->plain;
	pool_message(s->data, s->bytes);
	if (s->kind == READ_ONLY && mprotect(s->plain, s->mapped, PROT_READ))
		return error_set(err, -errno, "mprotect: %s", strerror(errno));
	return 0;
}

/*
 * Is the size to blame? Memory that the TEE's driver cannot pin or map comes
 * back from libteec as TEEC_ERROR_GENERIC, without a word of its reason; so
 * see whether the same works with a page.
 */
static void blame_size(struct shm *s, struct error *err)
{
	TEEC_SharedMemory page = { .size = 4096, .flags = TEEC_MEM_INPUT };

	if (!err || err->tee_result != TEEC_ERROR_GENERIC ||
	    err->tee_origin != TEEC_ORIGIN_API || s->bytes <= page.size)
		return;
	page.buffer = aligned_alloc(page.size, page.size);
	if (page.buffer &&
	    s->tee->api->register_memory(&s->tee->context, &page) ==
		    TEEC_SUCCESS) {
		s->tee->api->release_memory(&page);
		error_skip_word(err, "no-memory");
		error_hint(err, "the TEE's driver shares a page, but not as "
				"much as this: use a smaller buffer");
	}
	free(page.buffer);
}

static int make_buffer(struct shm *s, struct error *err)
{
	bool allocated = s->kind == ALLOCATED;
	TEEC_Result res;
	int ret;

	if (!allocated) {
		ret = map_plain(s, err);
		if (ret || s->kind == TEMPORARY)
			return ret;
	}
	s->shm.size = s->bytes;
	s->shm.flags = (s->into ? TEEC_MEM_INPUT : 0u) |
		       (s->back ? TEEC_MEM_OUTPUT : 0u);
	s->shm.buffer = s->plain;
	res = allocated ?
		      s->tee->api->allocate_memory(&s->tee->context, &s->shm) :
		      s->tee->api->register_memory(&s->tee->context, &s->shm);
	if (res == TEEC_ERROR_NOT_SUPPORTED)
		return error_skip(err, -EOPNOTSUPP, "no-registering",
				  "the TEE's driver cannot register memory of "
				  "a client");
	if (res != TEEC_SUCCESS) {
		ret = error_tee(err, res, TEEC_ORIGIN_API,
				"cannot %s %zu bytes of shared memory",
				allocated ? "allocate" : "register", s->bytes);
		blame_size(s, err);
		return ret;
	}
	s->registered = true;
	if (allocated) {
		s->data = s->shm.buffer;
		pool_message(s->data, s->bytes);
	}
	return 0;
}

static void drop_buffer(struct shm *s)
{
	if (s->registered)
		s->tee->api->release_memory(&s->shm);
	if (s->plain)
		munmap(s->plain, s->mapped);
	s->registered = false;
	s->plain = s->data = NULL;
	memset(&s->shm, 0, sizeof(s->shm));
	if (s->desk->owner == s)
		s->desk->owner = NULL;
}

static int claim(struct shm *s, struct error *err)
{
	int ret;

	if (s->desk->owner == s)
		return 0;
	if (s->desk->owner)
		drop_buffer((struct shm *)s->desk->owner);
	s->desk->owner = s;
	ret = make_buffer(s, err);
	if (ret)
		return ret;
	set_buffer(s, &s->op, 0, s->into, s->back);
	return 0;
}

static int shm_prepare(struct bench_case *c, struct pool *pool,
		       struct error *err)
{
	struct shm *s = c->state;

	s->pool = pool;
	s->desk = c->desk;
	s->tee = desk_ta(s->desk);
	s->kind = c->name;
	s->into = c->part[0].word != OUT;
	s->back = c->part[0].word != IN;
	s->bytes = (size_t)c->bytes;
	return claim(s, err);
}

static int shm_ready(void *state, uint32_t loops, struct error *err)
{
	(void)loops;
	return claim(state, err);
}

static int shm_run(void *state, uint32_t loops, uint32_t repeat,
		   struct error *err)
{
	struct shm *s = state;
	int ret;

	(void)repeat;
	ret = tee_invoke_times(s->tee, TA_DIGEST_CMD_NOP, &s->op, loops,
			       "carry a buffer to the digest TA and back", err);
	if (ret && !s->crossed) /* temporary: now it is registered */
		blame_size(s, err);
	return ret;
}

/*
 * Does the TA see what is in the buffer, and do its bytes come back? It is
 * asked for the digest of one through the buffer, or of other bytes into it.
 */
static int cross(struct shm *s, bool out, struct error *err)
{
	const struct algorithm *alg = algorithm_by_name("sha256");
	uint8_t other[ALG_DIGEST_MAX_BYTES] = { 0 };
	uint8_t want[ALG_DIGEST_MAX_BYTES];
	TEEC_Operation op = { 0 };
	int ret;

	tee_set_value(&op, 0, alg->id, TA_DIGEST_IMPL_C);
	tee_set_value(&op, 3, 1, 0);
	if (out) {
		set_temporary(&op, 1, TEEC_MEMREF_TEMP_INPUT, other,
			      sizeof(other));
		set_buffer(s, &op, 2, false, true);
		ret = known_answer_digest(s->pool, NULL, alg, other,
					  sizeof(other), want, NULL, err);
	} else {
		set_buffer(s, &op, 1, true, false);
		set_temporary(&op, 2, TEEC_MEMREF_TEMP_OUTPUT, other,
			      sizeof(other));
		ret = known_answer_digest(s->pool, NULL, alg, s->data, s->bytes,
					  want, NULL, err);
	}
	if (!ret)
		ret = tee_invoke(s->tee, TA_DIGEST_CMD_ONESHOT, &op,
				 "hash through a shared buffer", err);
	if (!ret)
		ret = known_answer_compare(alg, out ? s->data : other, want,
					   out ? "a buffer that comes back" :
						 "a buffer that crosses",
					   err);
	return ret;
}

/* An empty call leaves the buffer as it was. */
static int unchanged(const struct shm *s, struct error *err)
{
	uint8_t *message = malloc(s->bytes);
	int differs;

	if (!message)
		return no_memory(err);
	pool_message(message, s->bytes);
	differs = memcmp(message, s->data, s->bytes);
	free(message);
	return differs ? error_set(err, -EBADMSG,
				   "an empty call has changed the buffer that "
				   "it carried") :
			 0;
}

static int shm_verify(void *state, struct error *err)
{
	struct shm *s = state;
	int ret = unchanged(s, err);

	s->crossed = true;
	if (!ret && s->into)
		ret = cross(s, false, err);
	if (!ret && s->back)
		ret = cross(s, true, err);
	if (!ret && s->kind == READ_ONLY && s->shm.buffer != s->plain)
		ret = error_set(err, -EPROTO,
				"registering moved the buffer of the client");
	return ret;
}

static void shm_teardown(void *state)
{
	struct shm *s = state;

	if (s->desk)
		drop_buffer(s);
}

const struct workload workload_shm = {
	.name = "shm",
	.summary = "an empty call that carries a buffer, by kind of memory",
	.parameters = "in|out|inout/BYTES",
	.names = kinds,
	.what = "a kind of memory",
	.backend = "tee",
	.least = ALG_DIGEST_MAX_BYTES,
	.most = 64 << 20,
	.desk = DESK_SHM,
	.state_size = sizeof(struct shm),
	.parse = shm_parse,
	.prepare = shm_prepare,
	.ready = shm_ready,
	.run = shm_run,
	.verify = shm_verify,
	.teardown = shm_teardown,
};
