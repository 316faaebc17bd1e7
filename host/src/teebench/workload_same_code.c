/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * same-code/KERNEL/BACKEND/BYTES: one portable source (common/src), compiled
 * for both worlds: sha256, memcpy, memtouch, intloop; in the normal world (c)
 * and in the TA (ta-c). What differs is the world and not the code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/digest.h>
#include <teemark/kernels.h>
#include <teemark/ta_bench.h>

#include "backend.h"
#include "listing.h"
#include "tee_share.h"
#include "workload.h"

enum { BYTES_MAX = 1 << 28 };

static const char *const kernels[] = {
	[TA_BENCH_KERNEL_MEMCPY] = "memcpy",
	[TA_BENCH_KERNEL_MEMTOUCH] = "memtouch",
	[TA_BENCH_KERNEL_INTLOOP] = "intloop",
	[TA_BENCH_KERNEL_SHA256] = "sha256",
};

enum { KERNELS = sizeof(kernels) / sizeof(*kernels) };

struct same_code {
	uint32_t kernel;
	size_t bytes;
	struct buffer in, copy; /* of the normal world */
	const struct digest_class *sha256;
	uint64_t result, want;
	bool in_ta;
#ifdef HAVE_TEEC
	struct desk *desk;
#endif
};

#ifdef HAVE_TEEC
/*
 * What the cases share: one buffer with the message, since the TEE keeps a
 * list of the pages of all memory that is shared, and its heap is small.
 */
struct desk {
	struct tee_session *tee;
	TEEC_SharedMemory *shm;
};

static void close_desk(void *value)
{
	struct desk *desk = value;

	if (desk->tee)
		tee_shm_free(desk->tee, desk->shm);
	tee_session_close(desk->tee);
	free(desk);
}

static int open_desk(const void *kind, size_t size, void **value,
		     struct error *err)
{
	struct desk *desk = calloc(1, sizeof(*desk));
	int ret;

	(void)kind;
	*value = NULL;
	if (!desk)
		return error_set(err, -ENOMEM, "out of memory");
	ret = ta_session_open_greeted(&ta_bench_name, &desk->tee, NULL, err);
	if (!ret)
		ret = tee_shm_alloc(desk->tee, size ? size : 1, TEEC_MEM_INPUT,
				    &desk->shm, err);
	if (ret) {
		close_desk(desk);
		return ret;
	}
	pool_message(desk->shm->buffer, size);
	*value = desk;
	return 0;
}
#endif

static int kernel_by_name(const char *name)
{
	for (int i = 0; i < KERNELS; i++)
		if (!strcmp(kernels[i], name))
			return i;
	return -1;
}

static int same_parse(struct bench_case *c, struct pool *pool,
		      struct error *err)
{
	uint64_t bytes;
	int ret;

	if (kernel_by_name(c->algorithm_name) < 0)
		return error_set(err, -EINVAL,
				 "there is no code \"%s\" for both worlds "
				 "(sha256, memcpy, memtouch, intloop)",
				 c->algorithm_name);
	if (strcmp(c->backend_name, "c") && strcmp(c->backend_name, "ta-c"))
		return error_set(err, -EINVAL,
				 "the same code runs in backends c and ta-c, "
				 "not in \"%s\"",
				 c->backend_name);
	ret = case_number(c->parameters, "the number of bytes", BYTES_MAX,
			  &bytes, err);
	if (ret)
		return ret;
	c->bytes = (int64_t)bytes;
	ret = case_need_work(c, err);
	if (ret)
		return ret;
	return strcmp(c->backend_name, "ta-c") ?
		       0 :
		       pool_share_reserve(pool, kernels, (size_t)bytes, err);
}

static uint64_t sha256(const struct same_code *s)
{
	uint8_t digest[ALG_DIGEST_MAX_BYTES];
	union digest_ctx ctx;
	uint64_t result = 0;

	s->sha256->init(&ctx);
	s->sha256->update(&ctx, s->in.data, s->bytes);
	s->sha256->final(&ctx, digest);
	for (int i = 7; i >= 0; i--)
		result = result << 8 | digest[i];
	return result;
}

static uint64_t run_here(const struct same_code *s)
{
	switch ((enum ta_bench_kernel)s->kernel) {
	case TA_BENCH_KERNEL_MEMCPY:
		return kernel_memcpy(s->copy.data, KERNEL_COPY_BYTES,
				     s->in.data, s->bytes);
	case TA_BENCH_KERNEL_MEMTOUCH:
		return kernel_memtouch(s->in.data, s->bytes);
	case TA_BENCH_KERNEL_INTLOOP:
		return kernel_intloop(s->bytes);
	case TA_BENCH_KERNEL_SHA256:
		break;
	}
	return sha256(s);
}

static int same_prepare(struct bench_case *c, struct pool *pool,
			struct error *err)
{
	struct same_code *s = calloc(1, sizeof(*s));
#ifdef HAVE_TEEC
	void *desk;
#endif
	int ret;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	c->state = s;
	s->kernel = (uint32_t)kernel_by_name(c->algorithm_name);
	s->bytes = (size_t)c->bytes;
	s->in_ta = !strcmp(c->backend_name, "ta-c");
	s->sha256 = digest_class_find(DIGEST_CODE_C,
				      algorithm_by_name("sha256")->id);
	ret = buffer_alloc_plain(NULL, s->bytes, &s->in, err);
	if (!ret)
		ret = buffer_alloc_plain(NULL, KERNEL_COPY_BYTES, &s->copy,
					 err);
	if (ret)
		return ret;
	pool_message(s->in.data, s->bytes);
	if (!s->in_ta)
		return 0;
#ifdef HAVE_TEEC
	ret = pool_share(pool, kernels, open_desk, close_desk, &desk, err);
	s->desk = desk;
	return ret;
#else
	(void)pool;
	return tee_probe(err);
#endif
}

#ifdef HAVE_TEEC
static int invoke(struct same_code *s, uint32_t repeat, struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT,
					       TEEC_MEMREF_PARTIAL_INPUT,
					       TEEC_VALUE_OUTPUT, TEEC_NONE),
	};
	int ret;

	op.params[0].value.a = s->kernel;
	op.params[0].value.b = repeat;
	op.params[1].memref.parent = s->desk->shm;
	op.params[1].memref.size = s->bytes;
	ret = tee_invoke(s->desk->tee, TA_BENCH_CMD_KERNEL, &op,
			 "run code in the bench TA", err);
	s->result = op.params[2].value.a | (uint64_t)op.params[2].value.b << 32;
	return ret;
}
#endif

static int same_run(void *state, uint32_t loops, uint32_t repeat,
		    struct error *err)
{
	struct same_code *s = state;
	int ret = 0;

#ifdef HAVE_TEEC
	if (s->in_ta) {
		for (uint32_t i = 0; !ret && i < loops; i++)
			ret = invoke(s, repeat, err);
		return ret;
	}
#endif
	(void)err;
	for (uint32_t i = 0; i < loops; i++)
		for (uint32_t k = 0; k < repeat; k++)
			s->result = run_here(s);
	return ret;
}

static int same_check(void *state, struct error *err)
{
	struct same_code *s = state;
	uint64_t result = s->result;

	s->result = ~s->want;
	if (result == s->want)
		return 0;
	return error_set(err, -EBADMSG,
			 "%s of %zu bytes gives %016llx in %s, and %016llx "
			 "here",
			 kernels[s->kernel], s->bytes,
			 (unsigned long long)result,
			 s->in_ta ? "the TA" : "a run",
			 (unsigned long long)s->want);
}

/* What code that is written otherwise comes to, byte by byte. */
static uint64_t expected(const struct same_code *s)
{
	const uint8_t *p = s->in.data;
	uint64_t x = 0, first = 0, last = 0;
	size_t n = s->bytes;
	size_t tail = n ? (n - 1) % KERNEL_COPY_BYTES + 1 : 0;

	switch ((enum ta_bench_kernel)s->kernel) {
	case TA_BENCH_KERNEL_MEMCPY:
		p += n - tail;
		for (size_t i = 0; i < 8 && i < tail; i++) {
			first |= (uint64_t)p[i] << 8 * i;
			last |= (uint64_t)p[tail < 8 ? i : tail - 8 + i]
				<< 8 * i;
		}
		return first + 3 * last;
	case TA_BENCH_KERNEL_MEMTOUCH:
		for (size_t i = 0; i < n; i++)
			if (i % 64 < 8 && i / 64 * 64 + 8 <= n)
				x += (uint64_t)p[i] << 8 * (i % 64);
		return x;
	case TA_BENCH_KERNEL_INTLOOP:
		while (n--)
			x = 6364136223846793005u * x + 1442695040888963407u;
		return x;
	case TA_BENCH_KERNEL_SHA256:
		break;
	}
	return sha256(s);
}

static int same_verify(void *state, struct error *err)
{
	struct same_code *s = state;

	s->want = expected(s);
	return same_check(s, err);
}

static struct tee_session *same_ta(const void *state)
{
#ifdef HAVE_TEEC
	const struct same_code *s = state;

	return s->in_ta ? s->desk->tee : NULL;
#else
	(void)state;
	return NULL;
#endif
}

static void same_teardown(void *state)
{
	struct same_code *s = state;

	if (!s)
		return;
	buffer_free_plain(NULL, &s->in);
	buffer_free_plain(NULL, &s->copy);
	free(s);
}

static void same_list(struct listing *listing, struct pool *pool)
{
	struct session *session;
	struct error why = { 0 };

	pool_session(pool, backend_by_name("ta-c"), &session, &why);
	for (int i = 0; i < KERNELS; i++) {
		listing_add(listing, kernels[i], "c", NULL);
		listing_add(listing, kernels[i], "ta-c", &why);
	}
}

const struct workload workload_same_code = {
	.name = "same-code",
	.summary = "one source compiled for both worlds",
	.parameters = "BYTES",
	.repeats = true,
	.parse = same_parse,
	.prepare = same_prepare,
	.run = same_run,
	.verify = same_verify,
	.check = same_check,
	.ta = same_ta,
	.teardown = same_teardown,
	.list = same_list,
};
