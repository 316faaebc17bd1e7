/* SPDX-License-Identifier: BSD-2-Clause */
/* Many sessions at once, all kinds of calls. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/digest.h>
#include <teemark/kernels.h>
#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "board.h"
#include "torture.h"

enum { MAX_SESSIONS = 64 };

struct worker {
	pthread_t thread;
	unsigned int number, calls;
	uint64_t random;
	TEEC_Session bench, digest;
	TEEC_SharedMemory shared;
	uint8_t in[MAX_LEN + TAG], out[MAX_LEN + TAG], want[MAX_LEN + TAG];
	unsigned int made;
	char finding[160];
};

static uint32_t next(struct worker *w)
{
	w->random = w->random * UINT64_C(6364136223846793005) + 1;
	return w->random >> 33;
}

static void fill(struct worker *w, uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)next(w);
}

/* Any row of a class, or of one of two. */
static const struct algorithm *any(struct worker *w, int class, int other)
{
	for (;;) {
		const struct algorithm *alg = &algorithms[next(w) % algorithms_count];

		if (alg->class == class || alg->class == other)
			return alg;
	}
}

/* Any digest that there is portable C for, to compare with. */
static const struct algorithm *any_digest(struct worker *w, const struct digest_class **class)
{
	const struct algorithm *alg;

	do {
		alg = any(w, ALG_DIGEST, ALG_DIGEST);
		*class = digest_class_find(DIGEST_CODE_C, alg->id);
	} while (!*class);
	return alg;
}

static TEEC_Result do_digest(struct worker *w)
{
	const struct digest_class *class;
	const struct algorithm *alg = any_digest(w, &class);
	size_t len = next(w) % MAX_LEN;
	uint32_t impl = next(w) % 2;
	union digest_ctx ctx;
	TEEC_Result res;

	fill(w, w->in, len);
	class->init(&ctx);
	class->update(&ctx, w->in, len);
	class->final(&ctx, w->want);
	res = INVOKE(&w->digest, TA_DIGEST_CMD_ONESHOT, TYPES(VALUE, IN, OUT, VALUE),
		     value(alg->id, impl), memref(w->in, len), memref(w->out, alg->out_bytes),
		     value(1 + next(w) % 2, 0));
	w->made += 1;
	if (!res && memcmp(w->out, w->want, alg->out_bytes))
		return TEEC_ERROR_GENERIC;
	return res;
}

static TEEC_Result do_stream(struct worker *w)
{
	const struct digest_class *class;
	const struct algorithm *alg = any_digest(w, &class);
	size_t len = next(w) % MAX_LEN;
	union digest_ctx ctx;
	TEEC_Result res = INVOKE(&w->digest, TA_DIGEST_CMD_INIT, TYPES(VALUE, NONE, NONE, NONE),
				 value(alg->id, next(w) % 2));

	class->init(&ctx);
	for (int i = 0; i < 4 && !res; i++) {
		fill(w, w->in, len);
		class->update(&ctx, w->in, len);
		res = INVOKE(&w->digest, TA_DIGEST_CMD_UPDATE, TYPES(IN, NONE, NONE, NONE),
			     memref(w->in, len));
	}
	class->final(&ctx, w->want);
	if (!res)
		res = INVOKE(&w->digest, TA_DIGEST_CMD_FINAL, TYPES(NONE, OUT, NONE, NONE),
			     value(0, 0), memref(w->out, alg->out_bytes));
	w->made += 6;
	if (!res && memcmp(w->out, w->want, alg->out_bytes))
		return TEEC_ERROR_GENERIC;
	return res;
}

static TEEC_Result do_cipher(struct worker *w)
{
	const struct algorithm *alg = any(w, ALG_CIPHER, ALG_AEAD);
	size_t len = (1 + next(w) % (MAX_LEN / 16)) * 16, out_len, in_len;
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	bool aead = alg->class == ALG_AEAD;
	TEEC_Result res;

	fill(w, key, sizeof(key));
	fill(w, iv, sizeof(iv));
	fill(w, w->in, len);
	encrypt_here(alg, key, iv, w->in, len, w->want);
	in_len = len + (aead ? TAG : 0);

	res = prepare(&w->bench, alg, true, key);
	out_len = in_len;
	if (!res)
		res = message(&w->bench, alg, iv, w->in, len, w->out, &out_len, 1 + next(w) % 3);
	w->made += 3;
	if (!res && (out_len != in_len || memcmp(w->out, w->want, in_len)))
		return TEEC_ERROR_GENERIC;
	if (!res)
		res = prepare(&w->bench, alg, false, key);
	memset(w->out, 0, len);
	out_len = len;
	if (!res)
		res = message(&w->bench, alg, iv, w->want, in_len, w->out, &out_len, 1);
	w->made += 3;
	if (!res && (out_len != len || memcmp(w->out, w->in, len)))
		return TEEC_ERROR_GENERIC;
	return res;
}

static TEEC_Result do_cipher_steps(struct worker *w)
{
	const struct algorithm *alg = algorithm_by_name("aes-256-cbc");
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	TEEC_Result res;

	fill(w, key, sizeof(key));
	fill(w, iv, sizeof(iv));
	fill(w, w->in, 2048);
	encrypt_here(alg, key, iv, w->in, 2048, w->want);
	res = prepare(&w->bench, alg, true, key);
	if (!res)
		res = set_iv(&w->bench, alg, iv);
	for (size_t i = 0; i < 2048 && !res; i += 512)
		res = update(&w->bench, w->in + i, w->out + i, 512);
	w->made += 7;
	if (!res && memcmp(w->out, w->want, 2048))
		return TEEC_ERROR_GENERIC;
	return res;
}

static TEEC_Result do_mac(struct worker *w)
{
	const struct algorithm *alg = any(w, ALG_MAC, ALG_MAC);
	uint8_t key[ALG_KEY_MAX_BYTES];
	size_t len = next(w) % MAX_LEN;
	TEEC_Result res;

	fill(w, key, sizeof(key));
	fill(w, w->in, len);
	mac_here(alg, key, w->in, len, w->want);
	res = mac(&w->bench, alg, key, alg->key_bytes, w->in, len, w->out);
	w->made += 2;
	if (!res && memcmp(w->out, w->want, alg->out_bytes))
		return TEEC_ERROR_GENERIC;
	return res;
}

/* An object of this worker's own, made, read, written, renamed, deleted. */
static TEEC_Result do_storage(struct worker *w)
{
	char name[32], other[32];
	size_t len = 256 + next(w) % 1000;
	TEEC_Parameter p[4] = { 0 };
	TEEC_Result res;

	snprintf(name, sizeof(name), "torture-%u", w->number);
	snprintf(other, sizeof(other), "torture-%u-renamed", w->number);
	fill(w, w->in, len);
	res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_CREATE, TYPES(IN, IN, VALUE, NONE),
		     memref(name, strlen(name)), memref(w->in, len), value(0, 0));
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_WRITE, TYPES(IN, VALUE, NONE, NONE),
			     memref("written", 7), value(100, 0));
	memcpy(w->in + 100, "written", 7);
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_RENAME, TYPES(IN, NONE, NONE, NONE),
			     memref(other, strlen(other)));
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_CLOSE, 0, value(0, 0));
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_OPEN, TYPES(IN, VALUE, RESULT, NONE),
			     memref(other, strlen(other)), value(0, 0));
	p[0] = memref(w->out, MAX_LEN);
	p[1] = value(0, 0);
	if (!res)
		res = invoke(&w->bench, TA_BENCH_CMD_STORAGE_READ, TYPES(OUT, VALUE, NONE, NONE),
			     p);
	if (!res && (p[0].tmpref.size != len || memcmp(w->out, w->in, len)))
		return TEEC_ERROR_GENERIC;
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_DELETE, 0, value(0, 0));
	w->made += 7;
	return res;
}

static TEEC_Result do_random(struct worker *w)
{
	size_t len = 500 + next(w) % 2000, zeros = 0;
	TEEC_Result res;

	memset(w->out, 0, len);
	res = INVOKE(&w->bench, TA_BENCH_CMD_RANDOM, TYPES(OUT, VALUE, NONE, NONE),
		     memref(w->out, len), value(1, 0));
	for (size_t i = 0; i < len; i++)
		zeros += !w->out[i];
	w->made += 1;
	/* One in 256; nine standard deviations beyond, it is none. */
	return !res && zeros > len / 256 + 30 ? TEEC_ERROR_GENERIC : res;
}

static TEEC_Result do_kernel(struct worker *w)
{
	uint8_t room[KERNEL_COPY_BYTES];
	size_t len = next(w) % MAX_LEN;
	uint32_t kernel = next(w) % 3;
	TEEC_Parameter p[4] = { value(kernel, 2), memref(w->in, len) };
	TEEC_Result res;
	uint64_t want;

	fill(w, w->in, len);
	want = kernel == TA_BENCH_KERNEL_MEMCPY   ? kernel_memcpy(room, sizeof(room), w->in, len) :
	       kernel == TA_BENCH_KERNEL_MEMTOUCH ? kernel_memtouch(w->in, len) :
						    kernel_intloop(len);
	res = invoke(&w->bench, TA_BENCH_CMD_KERNEL, TYPES(VALUE, IN, RESULT, NONE), p);
	w->made += 1;
	if (!res && ((uint64_t)p[2].value.b << 32 | p[2].value.a) != want)
		return TEEC_ERROR_GENERIC;
	return res;
}

static const struct {
	const char *name;
	TEEC_Result (*run)(struct worker *w);
	unsigned int share; /* of a hundred */
} jobs[] = {
	{ "digest", do_digest, 15 }, { "stream", do_stream, 10 },
	{ "cipher", do_cipher, 25 }, { "cipher-steps", do_cipher_steps, 15 },
	{ "mac", do_mac, 15 },       { "storage", do_storage, 2 },
	{ "random", do_random, 5 },  { "kernel", do_kernel, 13 },
};

static void *work(void *arg)
{
	struct worker *w = arg;

	while (w->made < w->calls && !w->finding[0]) {
		unsigned int at = next(w) % 100, i = 0;
		TEEC_Result res;

		while (at >= jobs[i].share)
			at -= jobs[i++].share;
		/* One in four by temporary references. */
		shared = next(w) % 4 ? &w->shared : NULL;
		res = jobs[i].run(w);
		if (res)
			snprintf(w->finding, sizeof(w->finding),
				 "session %u, call %u, %s: 0x%08x%s", w->number, w->made,
				 jobs[i].name, res,
				 res == TEEC_ERROR_GENERIC ? " (wrong result)" : "");
	}
	return NULL;
}

/* Makes CALLS calls in COUNT sessions; the findings. */
static unsigned int run_sessions(unsigned int count, unsigned int calls, unsigned int *made)
{
	struct worker *workers = calloc(count, sizeof(*workers));
	unsigned int findings = 0;

	if (!workers)
		die("no memory");
	for (unsigned int i = 0; i < count; i++) {
		TEEC_Result res;

		workers[i].number = i;
		workers[i].random = i + 1;
		workers[i].calls = (calls + count - 1) / count;
		res = open_session(&workers[i].bench, (TEEC_UUID)TA_BENCH_UUID);
		if (!res)
			res = open_session(&workers[i].digest, (TEEC_UUID)TA_DIGEST_UUID);
		workers[i].shared.size = SHARED_SIZE;
		workers[i].shared.flags = TEEC_MEM_INPUT | TEEC_MEM_OUTPUT;
		if (!res)
			res = TEEC_AllocateSharedMemory(&context, &workers[i].shared);
		if (res)
			die("opening session %u: 0x%08x", i, res);
	}
	for (unsigned int i = 0; i < count; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("no thread");
	for (unsigned int i = 0; i < count; i++) {
		pthread_join(workers[i].thread, NULL);
		*made += workers[i].made;
		if (workers[i].finding[0]) {
			printf("%s\n", workers[i].finding);
			findings++;
		}
		TEEC_CloseSession(&workers[i].bench);
		TEEC_CloseSession(&workers[i].digest);
		TEEC_ReleaseSharedMemory(&workers[i].shared);
	}
	free(workers);
	return findings;
}

/* The layout is that of OP-TEE's pta_stats.h. */
struct pool {
	char name[32];
	uint32_t allocated, max_allocated, size;
	uint32_t failures, biggest_failure, biggest_failure_used;
};

enum { POOLS = 8, PTA_STATS_ALLOC = 1 };

/*
 * OP-TEE keeps the addresses of the pages it is given on its heap while it
 * answers: a buffer over two pages takes 16 bytes more of what is counted than
 * one in a single page. So all looks use one buffer, in a page of its own.
 */
static _Alignas(4096) struct pool looked_at[POOLS];

static unsigned int read_pools(struct pool pools[POOLS])
{
	TEEC_UUID uuid = {
		0xd96a5b40, 0xe2c7, 0xb1af, { 0x87, 0x94, 0x10, 0x02, 0xa5, 0xd5, 0xc6, 0x1b }
	};
	TEEC_Parameter p[4] = { value(0, 0), memref(looked_at, sizeof(looked_at)) };
	TEEC_Session session;
	unsigned int n;

	if (open_session(&session, uuid))
		die("this OP-TEE was built without CFG_WITH_STATS");
	if (invoke(&session, PTA_STATS_ALLOC, TYPES(VALUE, OUT, NONE, NONE), p))
		die("OP-TEE does not tell of its memory");
	TEEC_CloseSession(&session);
	n = p[1].tmpref.size / sizeof(*pools);
	if (n > POOLS)
		die("OP-TEE tells of %u pools of memory", n);
	memcpy(pools, looked_at, n * sizeof(*pools));
	return n;
}

int check_sessions(char **argv)
{
	unsigned int count = atoi(argv[0]), calls = atoi(argv[1]);
	unsigned int made = 0, settling = 0, findings, n, other;
	struct pool before[POOLS] = { 0 }, after[POOLS] = { 0 };

	if (!count || count > MAX_SESSIONS || !calls)
		die("COUNT is 1 to %d, CALLS at least 1", MAX_SESSIONS);
	/*
	 * What OP-TEE makes at the first use and keeps (the list of objects)
	 * takes some bytes more or less, by where in the heap it lies. So the
	 * last thing before both looks is the same: one session.
	 */
	findings = run_sessions(1, 200, &settling);
	n = read_pools(before);
	findings += run_sessions(count, calls, &made);
	findings += run_sessions(1, 200, &settling);
	other = read_pools(after);
	printf("%u sessions, %u calls, %u findings\n", count, made, findings);
	if (n != other || !n)
		die("OP-TEE has %u pools of memory, and then %u", n, other);
	for (unsigned int i = 0; i < n; i++) {
		if (!after[i].size)
			continue; /* not of this OP-TEE */
		printf("%.32s: %u bytes before, %u after, %u at most, of %u; %u refused\n",
		       after[i].name, before[i].allocated, after[i].allocated,
		       after[i].max_allocated, after[i].size, after[i].failures);
		findings += after[i].allocated != before[i].allocated;
	}
	return findings != 0;
}
