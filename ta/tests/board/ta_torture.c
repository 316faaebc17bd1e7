/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the bench and digest TAs compute on a real TEE.
 *
 *   ta_torture vectors FILE
 *	the published vectors of FILE, in both directions, whole and in steps
 *   ta_torture sessions COUNT CALLS
 *	COUNT sessions at once make CALLS calls in all, of all kinds; every
 *	result is compared with what the portable code gives here, and OP-TEE's
 *	memory with what it was before
 *   ta_torture parallel CALLS
 *	two threads make CALLS calls each in one session of the digest TA:
 *	right results or a refusal, and the TA answers afterwards
 *   ta_torture keep MARKER, kept MARKER
 *	the bench TA stores an object full of MARKER; kept: it is still so,
 *	and is removed
 *   ta_torture stranger TIME_LOW
 *	a bench TA whose UUID begins otherwise has no object of that name, and
 *	its own by that name is another
 *
 * Exit status: 0 fine, 1 a finding, 2 usage or no TEE.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tee_client_api.h>
#include <teemark/cipher.h>
#include <teemark/digest.h>
#include <teemark/hmac.h>
#include <teemark/kernels.h>
#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "board.h"
#include "vectors.h"

#define VALUE  TEEC_VALUE_INPUT
#define RESULT TEEC_VALUE_OUTPUT
#define IN     TEEC_MEMREF_TEMP_INPUT
#define OUT    TEEC_MEMREF_TEMP_OUTPUT
#define NONE   TEEC_NONE
#define TYPES  TEEC_PARAM_TYPES
#define TAG    16

enum { MAX_LEN = 2500, MAX_SESSIONS = 64 };

static TEEC_Context context;

static TEEC_Result open_session(TEEC_Session *session, TEEC_UUID uuid)
{
	return TEEC_OpenSession(&context, session, &uuid, TEEC_LOGIN_PUBLIC,
				NULL, NULL, NULL);
}

static TEEC_Parameter value(uint32_t a, uint32_t b)
{
	return (TEEC_Parameter){ .value = { a, b } };
}

static TEEC_Parameter memref(const void *data, size_t len)
{
	return (TEEC_Parameter){ .tmpref = { (void *)data, len } };
}

/* params: four, of which types says what they are. */
static TEEC_Result invoke(TEEC_Session *session, uint32_t cmd, uint32_t types,
			  TEEC_Parameter *params)
{
	TEEC_Operation op = { .paramTypes = types };
	TEEC_Result res;

	memcpy(op.params, params, sizeof(op.params));
	res = TEEC_InvokeCommand(session, cmd, &op, NULL);
	memcpy(params, op.params, sizeof(op.params));
	return res;
}

#define INVOKE(session, cmd, types, ...) \
	invoke((session), (cmd), (types), (TEEC_Parameter[4]){ __VA_ARGS__ })

static TEEC_Result prepare(TEEC_Session *s, const struct algorithm *alg,
			   bool encrypt, const uint8_t *key)
{
	TEEC_Result res = INVOKE(s, TA_BENCH_CMD_CIPHER_PREPARE,
				 TYPES(VALUE, NONE, NONE, NONE),
				 value(alg->id, !encrypt));

	if (res != TEEC_SUCCESS)
		return res;
	return INVOKE(s, TA_BENCH_CMD_CIPHER_SET_KEY,
		      TYPES(IN, NONE, NONE, NONE), memref(key, alg->key_bytes));
}

static TEEC_Result message(TEEC_Session *s, const struct algorithm *alg,
			   const uint8_t *iv, const uint8_t *in, size_t len,
			   uint8_t *out, size_t *out_len, uint32_t repeat)
{
	TEEC_Parameter p[4] = { memref(iv, alg->iv_bytes), memref(in, len),
				memref(out, *out_len), value(repeat, 0) };
	TEEC_Result res = invoke(s, TA_BENCH_CMD_CIPHER_MESSAGE,
				 TYPES(IN, IN, OUT, VALUE), p);

	*out_len = p[2].tmpref.size;
	return res;
}

static TEEC_Result set_iv(TEEC_Session *s, const struct algorithm *alg,
			  const uint8_t *iv)
{
	return INVOKE(s, TA_BENCH_CMD_CIPHER_SET_IV,
		      TYPES(IN, NONE, NONE, NONE), memref(iv, alg->iv_bytes));
}

static TEEC_Result update(TEEC_Session *s, const uint8_t *in, uint8_t *out,
			  size_t len)
{
	return INVOKE(s, TA_BENCH_CMD_CIPHER_UPDATE,
		      TYPES(IN, OUT, VALUE, NONE), memref(in, len),
		      memref(out, len), value(1, 0));
}

static TEEC_Result mac(TEEC_Session *s, const struct algorithm *alg,
		       const uint8_t *key, size_t key_len, const uint8_t *data,
		       size_t len, uint8_t *out)
{
	TEEC_Result res = INVOKE(s, TA_BENCH_CMD_MAC_SET_KEY,
				 TYPES(VALUE, IN, NONE, NONE),
				 value(alg->id, 0), memref(key, key_len));

	if (res != TEEC_SUCCESS)
		return res;
	return INVOKE(s, TA_BENCH_CMD_MAC, TYPES(IN, OUT, VALUE, NONE),
		      memref(data, len), memref(out, alg->out_bytes),
		      value(1, 0));
}

/* Vectors */

static const char *check_mac(TEEC_Session *s, const struct vector *v)
{
	uint8_t out[ALG_DIGEST_MAX_BYTES] = { 0 };
	size_t half = v->plain.len / 2;
	TEEC_Result res = mac(s, v->alg, v->key.data, v->key.len, v->plain.data,
			      v->plain.len, out);

	/* Which lengths a TEE takes is its own affair. */
	if (res == TEEC_ERROR_NOT_SUPPORTED || v->key.len > ALG_KEY_MAX_BYTES)
		return "skip";
	if (res != TEEC_SUCCESS || memcmp(out, v->cipher.data, v->cipher.len))
		return "in one piece";
	memset(out, 0, sizeof(out));
	if (INVOKE(s, TA_BENCH_CMD_MAC_INIT, 0, value(0, 0)) ||
	    INVOKE(s, TA_BENCH_CMD_MAC_UPDATE, TYPES(IN, NONE, NONE, NONE),
		   memref(v->plain.data, half)) ||
	    INVOKE(s, TA_BENCH_CMD_MAC_FINAL, TYPES(IN, OUT, NONE, NONE),
		   memref(v->plain.data + half, v->plain.len - half),
		   memref(out, v->cipher.len)) ||
	    memcmp(out, v->cipher.data, v->cipher.len))
		return "in pieces";
	return NULL;
}

static const char *check_steps(TEEC_Session *s, const struct vector *v,
			       const uint8_t *in, const uint8_t *expected,
			       bool encrypt)
{
	bool xts = !strcmp(v->alg->kernel, "xts(aes)");
	size_t len = v->plain.len, step = xts ? len : 16, at = 0;
	bool aead = v->alg->class == ALG_AEAD;
	uint8_t out[300] = { 0 }, tag[TAG] = { 0 };

	if (set_iv(s, v->alg, v->iv.data))
		return "set IV";
	if (aead && !encrypt)
		step = len + 1; /* only whole */
	for (; at + step <= len; at += step)
		if (update(s, in + at, out + at, step))
			return "update";
	if (aead) {
		TEEC_Result res;

		if (!encrypt)
			memcpy(tag, v->tag.data, TAG);
		res = INVOKE(s, TA_BENCH_CMD_CIPHER_AE_FINAL,
			     TYPES(IN, OUT, encrypt ? OUT : IN, NONE),
			     memref(in + at, len - at),
			     memref(out + at, len - at), memref(tag, TAG));
		if (res || memcmp(tag, v->tag.data, TAG))
			return "the tag in steps";
	}
	return memcmp(out, expected, len) ? "in steps" : NULL;
}

static const char *check_cipher(TEEC_Session *s, const struct vector *v,
				bool encrypt)
{
	const uint8_t *in = encrypt ? v->plain.data : v->cipher.data;
	const uint8_t *expected = encrypt ? v->cipher.data : v->plain.data;
	uint8_t with_tag[300], out[300] = { 0 };
	bool aead = v->alg->class == ALG_AEAD;
	size_t len = v->plain.len, in_len = len, out_len = sizeof(out);
	const char *what;

	memcpy(with_tag, in, len);
	if (aead && !encrypt) {
		memcpy(with_tag + len, v->tag.data, TAG);
		in_len += TAG;
	}
	if (prepare(s, v->alg, encrypt, v->key.data))
		return "prepare";
	if (message(s, v->alg, v->iv.data, with_tag, in_len, out, &out_len, 3))
		return "message";
	if (out_len != len + (aead && encrypt ? TAG : 0) ||
	    memcmp(out, expected, len))
		return "output";
	if (aead && encrypt && memcmp(out + len, v->tag.data, TAG))
		return "tag";
	what = check_steps(s, v, in, expected, encrypt);
	if (what || !aead || encrypt)
		return what;
	/* One bit wrong, wherever: nothing comes out. */
	for (size_t bit = 0; bit < 8 * in_len; bit += 13) {
		with_tag[bit / 8] ^= 1 << bit % 8;
		memset(out, 0xee, sizeof(out));
		out_len = sizeof(out);
		if (message(s, v->alg, v->iv.data, with_tag, in_len, out,
			    &out_len, 1) != TEE_ERROR_MAC_INVALID)
			return "a wrong tag was taken";
		for (size_t i = 0; i < sizeof(out); i++)
			if (out[i] != 0xee)
				return "plaintext left with a wrong tag";
		with_tag[bit / 8] ^= 1 << bit % 8;
	}
	return NULL;
}

static int check_vectors(char **argv)
{
	FILE *file = fopen(argv[0], "r");
	unsigned int right = 0, skipped = 0, wrong = 0;
	TEEC_Session session;
	struct vector v;
	int more;

	if (!file)
		die("cannot open %s", argv[0]);
	if (open_session(&session, (TEEC_UUID)TA_BENCH_UUID))
		die("cannot open a session of the bench TA");
	while ((more = vector_read(file, &v)) > 0) {
		const char *what;

		if (v.alg->class == ALG_MAC)
			what = check_mac(&session, &v);
		else if (v.aad.len)
			what = "skip"; /* the TA takes none */
		else if (!(what = check_cipher(&session, &v, true)))
			what = check_cipher(&session, &v, false);
		if (!what) {
			right++;
		} else if (!strcmp(what, "skip")) {
			skipped++;
		} else {
			printf("%s: %s\n", v.alg->name, what);
			wrong++;
		}
	}
	TEEC_CloseSession(&session);
	if (more < 0)
		die("%s: a line that is no vector", argv[0]);
	printf("%u right, %u not for a TEE, %u wrong\n", right, skipped, wrong);
	return wrong || !right;
}

/* Sessions */

struct worker {
	pthread_t thread;
	unsigned int number, calls;
	uint64_t random;
	TEEC_Session bench, digest;
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
		const struct algorithm *alg =
			&algorithms[next(w) % algorithms_count];

		if (alg->class == class || alg->class == other)
			return alg;
	}
}

static TEEC_Result do_digest(struct worker *w)
{
	const struct algorithm *alg = any(w, ALG_DIGEST, ALG_DIGEST);
	const struct digest_class *class =
		digest_class_find(DIGEST_CODE_C, alg->id);
	size_t len = next(w) % MAX_LEN;
	uint32_t impl = next(w) % 2;
	union digest_ctx ctx;
	TEEC_Result res;

	fill(w, w->in, len);
	class->init(&ctx);
	class->update(&ctx, w->in, len);
	class->final(&ctx, w->want);
	res = INVOKE(&w->digest, TA_DIGEST_CMD_ONESHOT,
		     TYPES(VALUE, IN, OUT, VALUE), value(alg->id, impl),
		     memref(w->in, len), memref(w->out, alg->out_bytes),
		     value(1 + next(w) % 2, 0));
	w->made += 1;
	if (!res && memcmp(w->out, w->want, alg->out_bytes))
		return TEEC_ERROR_GENERIC;
	return res;
}

static TEEC_Result do_stream(struct worker *w)
{
	const struct algorithm *alg = any(w, ALG_DIGEST, ALG_DIGEST);
	const struct digest_class *class =
		digest_class_find(DIGEST_CODE_C, alg->id);
	size_t len = next(w) % MAX_LEN;
	union digest_ctx ctx;
	TEEC_Result res = INVOKE(&w->digest, TA_DIGEST_CMD_INIT,
				 TYPES(VALUE, NONE, NONE, NONE),
				 value(alg->id, next(w) % 2));

	class->init(&ctx);
	for (int i = 0; i < 4 && !res; i++) {
		fill(w, w->in, len);
		class->update(&ctx, w->in, len);
		res = INVOKE(&w->digest, TA_DIGEST_CMD_UPDATE,
			     TYPES(IN, NONE, NONE, NONE), memref(w->in, len));
	}
	class->final(&ctx, w->want);
	if (!res)
		res = INVOKE(&w->digest, TA_DIGEST_CMD_FINAL,
			     TYPES(NONE, OUT, NONE, NONE), value(0, 0),
			     memref(w->out, alg->out_bytes));
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
	union cipher_ctx ctx;
	TEEC_Result res;

	fill(w, key, sizeof(key));
	fill(w, iv, sizeof(iv));
	fill(w, w->in, len);
	if (!cipher_set_key(&ctx, alg->id, true, key))
		return TEEC_ERROR_NOT_SUPPORTED;
	cipher_begin(&ctx, iv);
	cipher_update(&ctx, w->in, w->want, len);
	if (aead)
		cipher_tag(&ctx, w->want + len);
	in_len = len + (aead ? TAG : 0);

	res = prepare(&w->bench, alg, true, key);
	out_len = in_len;
	if (!res)
		res = message(&w->bench, alg, iv, w->in, len, w->out, &out_len,
			      1 + next(w) % 3);
	w->made += 3;
	if (!res && (out_len != in_len || memcmp(w->out, w->want, in_len)))
		return TEEC_ERROR_GENERIC;
	if (!res)
		res = prepare(&w->bench, alg, false, key);
	memset(w->out, 0, len);
	out_len = len;
	if (!res)
		res = message(&w->bench, alg, iv, w->want, in_len, w->out,
			      &out_len, 1);
	w->made += 3;
	if (!res && (out_len != len || memcmp(w->out, w->in, len)))
		return TEEC_ERROR_GENERIC;
	return res;
}

static TEEC_Result do_cipher_steps(struct worker *w)
{
	const struct algorithm *alg = algorithm_by_name("aes-256-cbc");
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	union cipher_ctx ctx;
	TEEC_Result res;

	fill(w, key, sizeof(key));
	fill(w, iv, sizeof(iv));
	fill(w, w->in, 2048);
	cipher_set_key(&ctx, alg->id, true, key);
	cipher_begin(&ctx, iv);
	cipher_update(&ctx, w->in, w->want, 2048);
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
	struct hmac hmac;
	TEEC_Result res;

	fill(w, key, sizeof(key));
	fill(w, w->in, len);
	hmac_set_key(&hmac, DIGEST_CODE_C, alg->id, key, alg->key_bytes);
	hmac_begin(&hmac);
	hmac_update(&hmac, w->in, len);
	hmac_final(&hmac, w->want);
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
	res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_CREATE,
		     TYPES(IN, IN, VALUE, NONE), memref(name, strlen(name)),
		     memref(w->in, len), value(0, 0));
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_WRITE,
			     TYPES(IN, VALUE, NONE, NONE), memref("written", 7),
			     value(100, 0));
	memcpy(w->in + 100, "written", 7);
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_RENAME,
			     TYPES(IN, NONE, NONE, NONE),
			     memref(other, strlen(other)));
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_CLOSE, 0,
			     value(0, 0));
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_OPEN,
			     TYPES(IN, VALUE, RESULT, NONE),
			     memref(other, strlen(other)), value(0, 0));
	p[0] = memref(w->out, MAX_LEN);
	p[1] = value(0, 0);
	if (!res)
		res = invoke(&w->bench, TA_BENCH_CMD_STORAGE_READ,
			     TYPES(OUT, VALUE, NONE, NONE), p);
	if (!res && (p[0].tmpref.size != len || memcmp(w->out, w->in, len)))
		return TEEC_ERROR_GENERIC;
	if (!res)
		res = INVOKE(&w->bench, TA_BENCH_CMD_STORAGE_DELETE, 0,
			     value(0, 0));
	w->made += 7;
	return res;
}

static TEEC_Result do_random(struct worker *w)
{
	size_t len = 500 + next(w) % 2000, zeros = 0;
	TEEC_Result res;

	memset(w->out, 0, len);
	res = INVOKE(&w->bench, TA_BENCH_CMD_RANDOM,
		     TYPES(OUT, VALUE, NONE, NONE), memref(w->out, len),
		     value(1, 0));
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
	want = kernel == TA_BENCH_KERNEL_MEMCPY ?
		       kernel_memcpy(room, sizeof(room), w->in, len) :
	       kernel == TA_BENCH_KERNEL_MEMTOUCH ?
		       kernel_memtouch(w->in, len) :
		       kernel_intloop(len);
	res = invoke(&w->bench, TA_BENCH_CMD_KERNEL,
		     TYPES(VALUE, IN, RESULT, NONE), p);
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
	{ "mac", do_mac, 15 },       { "storage", do_storage, 5 },
	{ "random", do_random, 5 },  { "kernel", do_kernel, 10 },
};

static void *work(void *arg)
{
	struct worker *w = arg;

	while (w->made < w->calls && !w->finding[0]) {
		unsigned int at = next(w) % 100, i = 0;
		TEEC_Result res;

		while (at >= jobs[i].share)
			at -= jobs[i++].share;
		res = jobs[i].run(w);
		if (res)
			snprintf(w->finding, sizeof(w->finding),
				 "session %u, call %u, %s: 0x%08x%s", w->number,
				 w->made, jobs[i].name, res,
				 res == TEEC_ERROR_GENERIC ? " (wrong result)" :
							     "");
	}
	return NULL;
}

/* Makes CALLS calls in COUNT sessions; the findings. */
static unsigned int run_sessions(unsigned int count, unsigned int calls,
				 unsigned int *made)
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
			res = open_session(&workers[i].digest,
					   (TEEC_UUID)TA_DIGEST_UUID);
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
	}
	free(workers);
	return findings;
}

/* As OP-TEE's pta_stats.h has it. */
struct pool {
	char name[32];
	uint32_t allocated, max_allocated, size;
	uint32_t failures, biggest_failure, biggest_failure_used;
};

enum { POOLS = 8, PTA_STATS_ALLOC = 1 };

static unsigned int read_pools(struct pool pools[POOLS])
{
	TEEC_UUID uuid = { 0xd96a5b40,
			   0xe2c7,
			   0xb1af,
			   { 0x87, 0x94, 0x10, 0x02, 0xa5, 0xd5, 0xc6, 0x1b } };
	TEEC_Parameter p[4] = { value(0, 0),
				memref(pools, POOLS * sizeof(*pools)) };
	TEEC_Session session;

	if (open_session(&session, uuid))
		die("this OP-TEE was built without CFG_WITH_STATS");
	if (invoke(&session, PTA_STATS_ALLOC, TYPES(VALUE, OUT, NONE, NONE), p))
		die("OP-TEE does not tell of its memory");
	TEEC_CloseSession(&session);
	return p[1].tmpref.size / sizeof(*pools);
}

static int check_sessions(char **argv)
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
		printf("%.32s: %u bytes before, %u after, %u at most, "
		       "of %u; %u refused\n",
		       after[i].name, before[i].allocated, after[i].allocated,
		       after[i].max_allocated, after[i].size,
		       after[i].failures);
		findings += after[i].allocated != before[i].allocated;
	}
	return findings != 0;
}

/* One session for two */

struct partner {
	pthread_t thread;
	TEEC_Session *session;
	bool streams;
	unsigned int calls, right, refused, wrong;
	uint32_t strange; /* a result that is neither */
};

static void count_result(struct partner *p, TEEC_Result res, bool equal)
{
	if (res == TEEC_SUCCESS && equal)
		p->right++;
	else if (res == TEEC_SUCCESS)
		p->wrong++;
	else if (res == TEEC_ERROR_BUSY || res == TEEC_ERROR_BAD_STATE)
		p->refused++;
	else
		p->strange = res;
}

static void *take_part(void *arg)
{
	struct partner *p = arg;
	const struct algorithm *alg =
		algorithm_by_name(p->streams ? "sha512" : "sha256");
	const struct digest_class *class =
		digest_class_find(DIGEST_CODE_C, alg->id);
	uint8_t in[MAX_LEN], want[ALG_DIGEST_MAX_BYTES];
	union digest_ctx ctx;

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 7 + p->streams);
	class->init(&ctx);
	class->update(&ctx, in, sizeof(in));
	class->final(&ctx, want);
	for (unsigned int i = 0; i < p->calls && !p->strange; i++) {
		uint8_t out[ALG_DIGEST_MAX_BYTES] = { 0 };
		size_t half = sizeof(in) / 2;
		TEEC_Result res;

		if (p->streams) {
			res = INVOKE(p->session, TA_DIGEST_CMD_INIT,
				     TYPES(VALUE, NONE, NONE, NONE),
				     value(alg->id, i % 2));
			if (!res)
				res = INVOKE(p->session, TA_DIGEST_CMD_UPDATE,
					     TYPES(IN, NONE, NONE, NONE),
					     memref(in, half));
			if (!res)
				res = INVOKE(p->session, TA_DIGEST_CMD_FINAL,
					     TYPES(IN, OUT, NONE, NONE),
					     memref(in + half,
						    sizeof(in) - half),
					     memref(out, alg->out_bytes));
		} else {
			res = INVOKE(p->session, TA_DIGEST_CMD_ONESHOT,
				     TYPES(VALUE, IN, OUT, VALUE),
				     value(alg->id, i % 2),
				     memref(in, sizeof(in)),
				     memref(out, alg->out_bytes), value(1, 0));
		}
		count_result(p, res, !memcmp(out, want, alg->out_bytes));
	}
	return NULL;
}

static int check_parallel(char **argv)
{
	struct partner partners[2] = { 0 };
	TEEC_Session session;
	int bad = 0;

	if (open_session(&session, (TEEC_UUID)TA_DIGEST_UUID))
		die("cannot open a session of the digest TA");
	for (int i = 0; i < 2; i++) {
		partners[i].session = &session;
		partners[i].calls = atoi(argv[0]);
		partners[i].streams = i;
		if (pthread_create(&partners[i].thread, NULL, take_part,
				   &partners[i]))
			die("no thread");
	}
	for (int i = 0; i < 2; i++) {
		struct partner *p = &partners[i];

		pthread_join(p->thread, NULL);
		printf("%s: %u right, %u refused, %u wrong, 0x%08x\n",
		       i ? "streams" : "messages", p->right, p->refused,
		       p->wrong, p->strange);
		bad |= p->wrong || p->strange || !p->right;
	}
	/* Alive, and as before. */
	partners[0] = (struct partner){ .session = &session, .calls = 10 };
	take_part(&partners[0]);
	printf("afterwards: %u right\n", partners[0].right);
	TEEC_CloseSession(&session);
	return bad || partners[0].right != 10;
}

/* Whose objects are they? */

#define KEPT_NAME "torture-kept"

enum { KEPT_BYTES = 1000 };

static void fill_with(uint8_t *data, const char *marker)
{
	for (size_t i = 0; i < KEPT_BYTES; i++)
		data[i] = (uint8_t)marker[i % strlen(marker)];
}

static TEEC_Result create_kept(TEEC_Session *s, const char *marker)
{
	uint8_t data[KEPT_BYTES];

	fill_with(data, marker);
	return INVOKE(s, TA_BENCH_CMD_STORAGE_CREATE,
		      TYPES(IN, IN, VALUE, NONE),
		      memref(KEPT_NAME, strlen(KEPT_NAME)),
		      memref(data, sizeof(data)), value(0, 0));
}

static TEEC_Result open_kept(TEEC_Session *s)
{
	return INVOKE(s, TA_BENCH_CMD_STORAGE_OPEN,
		      TYPES(IN, VALUE, RESULT, NONE),
		      memref(KEPT_NAME, strlen(KEPT_NAME)), value(0, 0));
}

static TEEC_Result delete_kept(TEEC_Session *s)
{
	return INVOKE(s, TA_BENCH_CMD_STORAGE_DELETE, 0, value(0, 0));
}

static int keep(char **argv)
{
	TEEC_Session session;
	TEEC_Result res;

	if (!*argv[0] || open_session(&session, (TEEC_UUID)TA_BENCH_UUID))
		die("no marker, or no session of the bench TA");
	if (!open_kept(&session)) /* of a test that was broken off */
		delete_kept(&session);
	res = create_kept(&session, argv[0]);
	TEEC_CloseSession(&session);
	printf("stored: 0x%08x\n", res);
	return res != TEEC_SUCCESS;
}

static int kept(char **argv)
{
	uint8_t data[KEPT_BYTES] = { 0 }, want[KEPT_BYTES];
	TEEC_Parameter p[4] = { memref(data, sizeof(data)), value(0, 0) };
	TEEC_Session session;
	TEEC_Result res;
	bool same;

	if (!*argv[0] || open_session(&session, (TEEC_UUID)TA_BENCH_UUID))
		die("no marker, or no session of the bench TA");
	fill_with(want, argv[0]);
	res = open_kept(&session);
	if (!res)
		res = invoke(&session, TA_BENCH_CMD_STORAGE_READ,
			     TYPES(OUT, VALUE, NONE, NONE), p);
	same = p[0].tmpref.size == KEPT_BYTES &&
	       !memcmp(data, want, KEPT_BYTES);
	if (!res)
		res = delete_kept(&session);
	TEEC_CloseSession(&session);
	printf("kept: 0x%08x, %s\n", res, same ? "the same" : "another");
	return res != TEEC_SUCCESS || !same;
}

static int meet_stranger(char **argv)
{
	TEEC_UUID uuid = TA_BENCH_UUID;
	TEEC_Result before, made, after;
	TEEC_Session session;

	uuid.timeLow = strtoul(argv[0], NULL, 16);
	if (open_session(&session, uuid))
		die("cannot open a session of the other TA");
	before = open_kept(&session);
	made = create_kept(&session, "of a stranger");
	after = made ? made : delete_kept(&session);
	TEEC_CloseSession(&session);
	printf("stranger: 0x%08x, of its own 0x%08x 0x%08x\n", before, made,
	       after);
	return before != TEEC_ERROR_ITEM_NOT_FOUND || made || after;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*run)(char **argv);
	} checks[] = {
		{ "vectors", 1, check_vectors },
		{ "sessions", 2, check_sessions },
		{ "parallel", 1, check_parallel },
		{ "keep", 1, keep },
		{ "kept", 1, kept },
		{ "stranger", 1, meet_stranger },
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		int status;

		if (argc != 2 + checks[i].args ||
		    strcmp(argv[1], checks[i].name))
			continue;
		if (TEEC_InitializeContext(NULL, &context))
			die("no TEE");
		status = checks[i].run(argv + 2);
		TEEC_FinalizeContext(&context);
		return status;
	}
	fprintf(stderr, "usage: ta_torture vectors FILE\n"
			"       ta_torture sessions COUNT CALLS\n"
			"       ta_torture parallel CALLS\n"
			"       ta_torture keep|kept MARKER\n"
			"       ta_torture stranger TIME_LOW\n");
	return 2;
}
