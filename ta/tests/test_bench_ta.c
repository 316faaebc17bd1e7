/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench TA as its client, its TEE and its enemies see it.
 *
 *   test_bench_ta VECTORS
 *
 * The shim aborts wherever a TEE would panic, so a test that ends at all has
 * shown that nothing of what it did ends a TA.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <tee_internal_api.h>
#include <teemark/digest.h>
#include <teemark/kernels.h>
#include <teemark/ta_bench.h>

#include "shim.h"
#include "vectors.h"

#define BAD_STATE      TEE_ERROR_BAD_STATE
#define BAD_PARAMETERS TEE_ERROR_BAD_PARAMETERS
#define NOT_SUPPORTED  TEE_ERROR_NOT_SUPPORTED
#define SHORT_BUFFER   TEE_ERROR_SHORT_BUFFER

#define VALUE(a_, b_)                  \
	{                              \
		.value = {(a_), (b_) } \
	}
#define MEMREF(p_, n_)                          \
	{                                       \
		.memref = {(void *)(p_), (n_) } \
	}

/* The shared memory: all memrefs lie in it. */
static uint8_t shared[256 * 1024];

static const char *vectors;

/* [0, in) input, [IN_MAX, …) output, at the end small things. */
#define IN    (shared)
#define OUT   (shared + 100 * 1024)
#define SMALL (shared + 240 * 1024)

static TEE_Result invoke(void *session, uint32_t cmd, uint32_t types,
			 TEE_Param *p)
{
	return TA_InvokeCommandEntryPoint(session, cmd, types, p);
}

/* Copies to shared memory, where a client's buffers are. */
static void *put(uint8_t *at, const void *data, size_t len)
{
	if (len)
		memcpy(at, data, len);
	return at;
}

static void *open_session(void)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };
	void *session = NULL;

	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &session), TEE_SUCCESS);
	return session;
}

static TEE_Result prepare(void *s, uint32_t alg, uint32_t direction)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(alg, direction) };

	return invoke(s, TA_BENCH_CMD_CIPHER_PREPARE, 0x0001, p);
}

static TEE_Result set_key(void *s, const uint8_t *key, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, key, len), len) };

	return invoke(s, TA_BENCH_CMD_CIPHER_SET_KEY, 0x0005, p);
}

static TEE_Result set_iv(void *s, const uint8_t *iv, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, iv, len), len) };

	return invoke(s, TA_BENCH_CMD_CIPHER_SET_IV, 0x0005, p);
}

static TEE_Result update(void *s, const uint8_t *in, size_t len, uint8_t *out,
			 size_t *out_len, uint32_t repeat)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(in, len), MEMREF(out, *out_len),
					VALUE(repeat, 0) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_CIPHER_UPDATE, 0x0165, p);

	*out_len = p[1].memref.size;
	return res;
}

static TEE_Result ae_final(void *s, bool encrypt, const uint8_t *in, size_t len,
			   uint8_t *out, size_t *out_len, uint8_t *tag,
			   size_t *tag_len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(in, len), MEMREF(out, *out_len),
					MEMREF(tag, *tag_len) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_CIPHER_AE_FINAL,
				encrypt ? 0x0665 : 0x0565, p);

	*out_len = p[1].memref.size;
	*tag_len = p[2].memref.size;
	return res;
}

static TEE_Result message(void *s, const uint8_t *iv, size_t iv_len,
			  const uint8_t *in, size_t len, uint8_t *out,
			  size_t *out_len, uint32_t repeat)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, iv, iv_len), iv_len),
					MEMREF(in, len), MEMREF(out, *out_len),
					VALUE(repeat, 0) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_CIPHER_MESSAGE, 0x1655, p);

	*out_len = p[2].memref.size;
	return res;
}

static TEE_Result mac_set_key(void *s, uint32_t alg, const uint8_t *key,
			      size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(alg, 0),
					MEMREF(put(SMALL, key, len), len) };

	return invoke(s, TA_BENCH_CMD_MAC_SET_KEY, 0x0051, p);
}

static TEE_Result mac(void *s, const uint8_t *in, size_t len, size_t *out_len,
		      uint32_t repeat)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(in, len), MEMREF(OUT, *out_len),
					VALUE(repeat, 0) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_MAC, 0x0165, p);

	*out_len = p[1].memref.size;
	return res;
}

static TEE_Result mac_update(void *s, const uint8_t *in, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(in, len) };

	return invoke(s, TA_BENCH_CMD_MAC_UPDATE, 0x0005, p);
}

static TEE_Result mac_final(void *s, const uint8_t *in, size_t len,
			    size_t *out_len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(in, len),
					MEMREF(OUT, *out_len) };
	TEE_Result res =
		invoke(s, TA_BENCH_CMD_MAC_FINAL, in ? 0x0065 : 0x0060, p);

	*out_len = p[1].memref.size;
	return res;
}

static TEE_Result plain(void *s, uint32_t cmd)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };

	return invoke(s, cmd, 0x0000, p);
}

static TEE_Result create(void *s, const char *name, const void *data,
			 size_t len, uint32_t storage)
{
	TEE_Param p[TEE_NUM_PARAMS] = {
		MEMREF(put(SMALL, name, strlen(name)), strlen(name)),
		MEMREF(put(IN, data, len), len), VALUE(storage, 0)
	};

	return invoke(s, TA_BENCH_CMD_STORAGE_CREATE, 0x0155, p);
}

static TEE_Result open_object(void *s, const char *name, uint32_t storage,
			      uint32_t *size)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, name, strlen(name)),
					       strlen(name)),
					VALUE(storage, 0), VALUE(77, 78) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_STORAGE_OPEN, 0x0215, p);

	*size = p[2].value.a;
	return res;
}

static TEE_Result read_object(void *s, size_t *len, uint32_t offset)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(OUT, *len), VALUE(offset, 0) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_STORAGE_READ, 0x0016, p);

	*len = p[0].memref.size;
	return res;
}

static TEE_Result write_object(void *s, const void *data, size_t len,
			       uint32_t offset)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(IN, data, len), len),
					VALUE(offset, 0) };

	return invoke(s, TA_BENCH_CMD_STORAGE_WRITE, 0x0015, p);
}

static TEE_Result rename_object(void *s, const char *name)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, name, strlen(name)),
					       strlen(name)) };

	return invoke(s, TA_BENCH_CMD_STORAGE_RENAME, 0x0005, p);
}

static TEE_Result truncate_object(void *s, uint32_t size)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(size, 0) };

	return invoke(s, TA_BENCH_CMD_STORAGE_TRUNCATE, 0x0001, p);
}

static int setup(void **state)
{
	for (size_t i = 0; i < sizeof(shared); i++)
		shared[i] = (uint8_t)(i * 131 + (i >> 8));
	shim_fail_alloc = 0;
	shim_unsupported_alg = 0;
	shim_storage_result = 0;
	shim_shared = shared;
	shim_shared_size = sizeof(shared);
	shim_secret_len = 0;
	*state = open_session();
	return 0;
}

static int teardown(void **state)
{
	TA_CloseSessionEntryPoint(*state);
	assert_int_equal(shim_allocations, 0);
	shim_storage_clear();
	return 0;
}

/* Types */

/* A session in which every command has something to work on. */
static void make_ready(void *s)
{
	uint8_t key[64] = { 1 };

	assert_int_equal(prepare(s, 30, TA_BENCH_ENCRYPT), TEE_SUCCESS);
	assert_int_equal(set_key(s, key, 16), TEE_SUCCESS);
	assert_int_equal(set_iv(s, NULL, 0), TEE_SUCCESS);
	assert_int_equal(mac_set_key(s, 22, key, 32), TEE_SUCCESS);
	assert_int_equal(plain(s, TA_BENCH_CMD_MAC_INIT), TEE_SUCCESS);
	assert_int_equal(create(s, "ready", "data", 4, TA_BENCH_STORAGE_REE_FS),
			 TEE_SUCCESS);
}

/*
 * All 65,536 types of all commands, in a new session and in a ready one. In
 * the ready one just the right types get anything but BAD_PARAMETERS.
 */
static void test_every_parameter_type(void **state)
{
	size_t calls = 0, accepted[64] = { 0 };

	for (int ready = 0; ready < 2; ready++) {
		for (uint32_t cmd = 0; cmd < 64; cmd++) {
			for (uint32_t types = 0; types < 65536; types++) {
				TEE_Param p[TEE_NUM_PARAMS];
				TEE_Result res;

				if (ready && types % 1024 == 0)
					make_ready(*state);
				for (int i = 0; i < TEE_NUM_PARAMS; i++) {
					if (TEE_PARAM_TYPE_GET(types, i) < 5) {
						p[i].value.a = 1;
						p[i].value.b = 1;
						continue;
					}
					p[i].memref.buffer = shared + 64 * i;
					p[i].memref.size = 64;
				}
				res = invoke(*state, cmd, types, p);
				calls++;
				accepted[cmd] += res != BAD_PARAMETERS &&
						 res != NOT_SUPPORTED;
			}
		}
	}
	assert_int_equal(calls, 2 * 64 * 65536);
	assert_int_equal(accepted[TA_BENCH_CMD_NOP], 2 * 2401);
	assert_int_equal(accepted[TA_BENCH_CMD_INFO], 2);
	/* No such row; but 1 is a digest, NOT_SUPPORTED. */
	assert_int_equal(accepted[TA_BENCH_CMD_CIPHER_PREPARE], 0);
	assert_int_equal(accepted[TA_BENCH_CMD_MAC_SET_KEY], 0);
	/* BAD_STATE when new, success or BAD_STATE when ready. */
	assert_int_equal(accepted[TA_BENCH_CMD_CIPHER_UPDATE], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_MAC], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_MAC_INIT], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_MAC_FINAL], 4);
	assert_int_equal(accepted[TA_BENCH_CMD_STORAGE_CLOSE], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_RANDOM], 2);
	assert_int_equal(accepted[TA_BENCH_CMD_KERNEL], 2);
	for (uint32_t cmd = 0; cmd < 64; cmd++)
		if (cmd)
			assert_true(accepted[cmd] <= 4);
}

static void test_types_beyond_four_parameters(void **state)
{
	static const uint32_t high[] = { 0x10000, 0x50000, 0x80000000,
					 0xffff0000 };

	for (size_t i = 0; i < 4; i++) {
		for (uint32_t cmd = 0; cmd < 64; cmd++) {
			TEE_Param p[TEE_NUM_PARAMS] = { 0 };
			TEE_Result res = invoke(*state, cmd, high[i], p);

			assert_true(res == BAD_PARAMETERS ||
				    res == NOT_SUPPORTED);
		}
	}
}

static void test_unknown_commands(void **state)
{
	static const uint32_t cmds[] = { 2,
					 9,
					 16,
					 25,
					 38,
					 41,
					 51,
					 255,
					 256,
					 65546,
					 65536,
					 0x7fffffff,
					 10 + 0x80000000u,
					 UINT32_MAX };

	for (size_t i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
		assert_int_equal(plain(*state, cmds[i]), NOT_SUPPORTED);
}

static void test_open_with_parameters(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };
	void *context = NULL;

	(void)state;
	for (uint32_t types = 1; types < 0x20000; types++)
		assert_int_equal(TA_OpenSessionEntryPoint(types, p, &context),
				 BAD_PARAMETERS);
	assert_null(context);
	shim_fail_alloc = 1;
	assert_int_equal(TA_OpenSessionEntryPoint(0, p, &context),
			 TEE_ERROR_OUT_OF_MEMORY);
}

static void test_nop_and_info(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(1, 2), MEMREF(16, 1),
					MEMREF(NULL, SIZE_MAX), VALUE(3, 4) };
	TEE_Param info[TEE_NUM_PARAMS] = { 0 };

	assert_int_equal(invoke(*state, TA_BENCH_CMD_NOP, 0x1651, p),
			 TEE_SUCCESS);
	assert_int_equal(p[0].value.a, 1);
	assert_int_equal(p[3].value.b, 4);
	assert_int_equal(p[2].memref.size, SIZE_MAX);
	assert_int_equal(invoke(*state, TA_BENCH_CMD_INFO, 0x0002, info),
			 TEE_SUCCESS);
	assert_int_equal(info[0].value.a, TA_BENCH_ABI);
	assert_int_equal(info[0].value.b, TA_BENCH_AE_DECRYPT_MAX);
}

/* Ciphers */

/* Every step of one vector, in both directions, in place and not. */
static void check_steps(void *s, const struct vector *v, bool encrypt,
			bool in_place)
{
	const struct bytes *from = encrypt ? &v->plain : &v->cipher;
	const struct bytes *to = encrypt ? &v->cipher : &v->plain;
	bool xts = v->alg->tee == TEE_ALG_AES_XTS;
	uint8_t *in = put(IN, from->data, from->len);
	uint8_t *out = in_place ? in : OUT;
	size_t at = 0, n = from->len;

	assert_int_equal(prepare(s, v->alg->id, !encrypt), TEE_SUCCESS);
	assert_int_equal(set_key(s, v->key.data, v->key.len), TEE_SUCCESS);
	for (int again = 0; again < 2; again++) {
		put(IN, from->data, from->len);
		assert_int_equal(set_iv(s, v->iv.data, v->iv.len), TEE_SUCCESS);
		at = 0;
		if (v->alg->class == ALG_CIPHER) {
			while (at < from->len) {
				n = xts ? from->len : 16;
				assert_int_equal(update(s, in + at, n, out + at,
							&n, 1),
						 TEE_SUCCESS);
				assert_int_equal(n, xts ? from->len : 16);
				at += n;
			}
			assert_memory_equal(out, to->data, to->len);
		} else {
			uint8_t *tag = SMALL + 100;
			size_t rest, tag_len = 16;

			if (encrypt && from->len > 32) {
				n = 32;
				assert_int_equal(update(s, in, n, out, &n, 1),
						 TEE_SUCCESS);
				at = n;
			}
			put(tag, v->tag.data, 16);
			if (encrypt)
				memset(tag, 0, 16);
			rest = from->len - at;
			assert_int_equal(ae_final(s, encrypt, in + at, rest,
						  out + at, &rest, tag,
						  &tag_len),
					 TEE_SUCCESS);
			assert_int_equal(at + rest, to->len);
			assert_memory_equal(out, to->data, to->len);
			assert_memory_equal(tag, v->tag.data, 16);
		}
	}
}

static void check_message(void *s, const struct vector *v, bool encrypt)
{
	uint8_t from[300], to[300];
	size_t from_len = encrypt ? v->plain.len : v->cipher.len;
	size_t to_len = from_len, n;

	memcpy(from, encrypt ? v->plain.data : v->cipher.data, from_len);
	memcpy(to, encrypt ? v->cipher.data : v->plain.data, to_len);
	if (v->alg->class == ALG_AEAD) {
		memcpy((encrypt ? to : from) + to_len, v->tag.data, 16);
		*(encrypt ? &to_len : &from_len) += 16;
	}
	put(IN, from, from_len);
	assert_int_equal(prepare(s, v->alg->id, !encrypt), TEE_SUCCESS);
	assert_int_equal(set_key(s, v->key.data, v->key.len), TEE_SUCCESS);
	for (uint32_t repeat = 1; repeat < 4; repeat++) {
		memset(OUT, 0xee, 300);
		n = 300;
		assert_int_equal(message(s, v->iv.data, v->iv.len, IN, from_len,
					 OUT, &n, repeat),
				 TEE_SUCCESS);
		assert_int_equal(n, to_len);
		assert_memory_equal(OUT, to, to_len);
		assert_int_equal(OUT[to_len], 0xee);
		if (!to_len)
			continue;
		n = to_len - 1;
		assert_int_equal(message(s, v->iv.data, v->iv.len, IN, from_len,
					 OUT, &n, repeat),
				 SHORT_BUFFER);
		assert_int_equal(n, to_len);
	}
	/* No step goes on with a whole message. */
	n = 300;
	assert_int_equal(update(s, IN, 16, OUT, &n, 1), BAD_STATE);
}

static FILE *open_vectors(void)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/ciphers.txt", vectors);
	file = fopen(path, "r");
	assert_non_null(file);
	return file;
}

static void test_published_ciphers(void **state)
{
	FILE *file = open_vectors();
	struct vector v;
	size_t count = 0;

	while (vector_read(file, &v) > 0) {
		if (v.alg->class == ALG_MAC || v.aad.len)
			continue;
		for (int way = 0; way < 4; way++)
			check_steps(*state, &v, way & 1, way & 2);
		check_message(*state, &v, true);
		check_message(*state, &v, false);
		count++;
	}
	fclose(file);
	assert_int_equal(count, 13 + 10);
}

/* Of a cipher in one piece, the repeated message is one message. */
static void test_repeat_begins_anew(void **state)
{
	uint8_t key[64] = { 7 }, iv[16] = { 9 }, once[64], second[64];

	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];
		size_t n = 64;

		if (alg->class != ALG_CIPHER && alg->class != ALG_AEAD)
			continue;
		key[33] = 1;
		assert_int_equal(prepare(*state, alg->id, 0), TEE_SUCCESS);
		assert_int_equal(set_key(*state, key, alg->key_bytes),
				 TEE_SUCCESS);
		assert_int_equal(set_iv(*state, iv, alg->iv_bytes),
				 TEE_SUCCESS);
		assert_int_equal(update(*state, IN, 64, OUT, &n, 1),
				 TEE_SUCCESS);
		memcpy(once, OUT, 64);
		if (alg->tee != TEE_ALG_AES_XTS) {
			assert_int_equal(update(*state, IN, 64, OUT, &n, 1),
					 TEE_SUCCESS);
			memcpy(second, OUT, 64);
			/* It went on, but for ECB, which has no chain. */
			assert_int_equal(!memcmp(once, second, 64),
					 !alg->iv_bytes);
		} else {
			assert_int_equal(update(*state, IN, 64, OUT, &n, 1),
					 BAD_STATE);
		}
		for (uint32_t repeat = 2; repeat < 5; repeat++) {
			memset(OUT, 0, 64);
			n = 64;
			assert_int_equal(update(*state, IN, 64, OUT, &n,
						repeat),
					 TEE_SUCCESS);
			assert_memory_equal(OUT, once, 64);
		}
	}
}

static void test_cipher_out_of_sequence(void **state)
{
	uint8_t key[80] = { 1, 2, 3 }, iv[40] = { 0 };
	void *s = *state;

	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];
		bool aead = alg->class == ALG_AEAD;
		size_t n = 64, t = 16, before = shim_operations_made;

		if (alg->class != ALG_CIPHER && !aead)
			continue;
		TA_CloseSessionEntryPoint(s);
		*state = s = open_session();
		assert_int_equal(set_key(s, key, alg->key_bytes), BAD_STATE);
		assert_int_equal(set_iv(s, iv, alg->iv_bytes), BAD_STATE);
		assert_int_equal(update(s, IN, 64, OUT, &n, 1), BAD_STATE);
		assert_int_equal(ae_final(s, true, IN, 64, OUT, &n, SMALL, &t),
				 BAD_STATE);
		assert_int_equal(message(s, iv, alg->iv_bytes, IN, 64, OUT, &n,
					 1),
				 BAD_STATE);
		assert_int_equal(prepare(s, alg->id, 2), BAD_PARAMETERS);
		assert_int_equal(prepare(s, 1000, 0), NOT_SUPPORTED);
		assert_int_equal(shim_operations_made, before);

		assert_int_equal(prepare(s, alg->id, 0), TEE_SUCCESS);
		assert_int_equal(set_iv(s, iv, alg->iv_bytes), BAD_STATE);
		assert_int_equal(update(s, IN, 64, OUT, &n, 2), BAD_STATE);
		for (size_t len = 0; len < 70; len++)
			if (len != alg->key_bytes)
				assert_int_equal(set_key(s, key, len),
						 BAD_PARAMETERS);
		assert_int_equal(set_key(s, key, alg->key_bytes), TEE_SUCCESS);
		assert_int_equal(update(s, IN, 64, OUT, &n, 1), BAD_STATE);
		assert_int_equal(update(s, IN, 64, OUT, &n, 2), BAD_STATE);
		for (size_t len = 0; len < 40; len++)
			if (len != alg->iv_bytes)
				assert_int_equal(set_iv(s, iv, len),
						 BAD_PARAMETERS);
		/* Over and over, in the middle of messages too. */
		for (int j = 0; j < 3; j++) {
			assert_int_equal(set_iv(s, iv, alg->iv_bytes),
					 TEE_SUCCESS);
			if (j == 1)
				assert_int_equal(set_iv(s, iv, alg->iv_bytes),
						 TEE_SUCCESS);
			n = 64;
			assert_int_equal(update(s, IN, 64, OUT, &n, 1),
					 TEE_SUCCESS);
			n = 80;
			assert_int_equal(message(s, iv, alg->iv_bytes, IN, 64,
						 OUT, &n, 2),
					 TEE_SUCCESS);
			assert_int_equal(set_key(s, key, alg->key_bytes),
					 TEE_SUCCESS);
		}
		assert_int_equal(set_iv(s, iv, alg->iv_bytes), TEE_SUCCESS);
		n = 64;
		t = 16;
		assert_int_equal(ae_final(s, false, IN, 64, OUT, &n, SMALL, &t),
				 BAD_PARAMETERS);
		if (!aead)
			assert_int_equal(ae_final(s, true, IN, 64, OUT, &n,
						  SMALL, &t),
					 BAD_PARAMETERS);
	}
}

static void test_lengths_of_messages(void **state)
{
	uint8_t key[64] = { 1, 2, 3 }, iv[16] = { 0 };
	void *s = *state;

	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];
		bool aead = alg->class == ALG_AEAD;

		if (alg->class != ALG_CIPHER && !aead)
			continue;
		assert_int_equal(prepare(s, alg->id, 0), TEE_SUCCESS);
		assert_int_equal(set_key(s, key, alg->key_bytes), TEE_SUCCESS);
		for (size_t len = 0; len < 100; len++) {
			size_t unit = aead ? 16 : alg->block_bytes;
			bool fits = len % unit == 0 &&
				    (len || alg->tee != TEE_ALG_AES_XTS);
			size_t n = len;

			assert_int_equal(set_iv(s, iv, alg->iv_bytes),
					 TEE_SUCCESS);
			assert_int_equal(update(s, IN, len, OUT, &n, 1),
					 fits ? TEE_SUCCESS : BAD_PARAMETERS);
			assert_int_equal(set_iv(s, iv, alg->iv_bytes),
					 TEE_SUCCESS);
			if (fits && len) {
				n = len - 1;
				assert_int_equal(update(s, IN, len, OUT, &n, 1),
						 SHORT_BUFFER);
				assert_int_equal(n, len);
			}
			n = len + 16;
			fits = aead || fits;
			assert_int_equal(message(s, iv, alg->iv_bytes, IN, len,
						 OUT, &n, 1),
					 fits ? TEE_SUCCESS : BAD_PARAMETERS);
			if (fits)
				assert_int_equal(n, len + (aead ? 16 : 0));
		}
	}
}

static void test_two_keys_that_are_one(void **state)
{
	uint8_t key[64] = { 0 }, iv[16] = { 0 };

	for (uint32_t id = 33; id <= 43; id += 10) {
		size_t len = algorithm_by_id(id)->key_bytes;

		assert_int_equal(prepare(*state, id, 0), TEE_SUCCESS);
		assert_int_equal(set_key(*state, key, len), BAD_PARAMETERS);
		assert_int_equal(set_iv(*state, iv, 16), BAD_STATE);
		key[len - 1] = 1;
		assert_int_equal(set_key(*state, key, len), TEE_SUCCESS);
		assert_int_equal(set_iv(*state, iv, 16), TEE_SUCCESS);
		/* A key that is refused takes the one that was there along. */
		key[len - 1] = 0;
		assert_int_equal(set_key(*state, key, len), BAD_PARAMETERS);
		assert_int_equal(set_iv(*state, iv, 16), BAD_STATE);
	}
}

static void test_null_memory(void **state)
{
	uint8_t key[64] = { 1 }, iv[16] = { 0 };
	void *s = *state;
	size_t n, t = 16;

	assert_int_equal(prepare(s, 31, 0), TEE_SUCCESS);
	assert_int_equal(set_key(s, key, 16), TEE_SUCCESS);
	assert_int_equal(set_iv(s, iv, 16), TEE_SUCCESS);
	n = 16;
	assert_int_equal(update(s, NULL, 16, OUT, &n, 1), BAD_PARAMETERS);
	assert_int_equal(update(s, IN, 16, NULL, &n, 1), BAD_PARAMETERS);
	n = 0;
	assert_int_equal(update(s, NULL, 0, NULL, &n, 1), TEE_SUCCESS);
	assert_int_equal(prepare(s, 34, 1), TEE_SUCCESS);
	assert_int_equal(set_key(s, key, 16), TEE_SUCCESS);
	assert_int_equal(set_iv(s, iv, 12), TEE_SUCCESS);
	n = 16;
	assert_int_equal(ae_final(s, false, IN, 16, OUT, &n, NULL, &t),
			 BAD_PARAMETERS);
	n = 16;
	assert_int_equal(ae_final(s, false, IN, 16, NULL, &n, SMALL, &t),
			 BAD_PARAMETERS);
	assert_int_equal(ae_final(s, false, NULL, 16, OUT, &n, SMALL, &t),
			 BAD_PARAMETERS);
	assert_int_equal(mac_set_key(s, 22, key, 32), TEE_SUCCESS);
	n = 32;
	assert_int_equal(mac(s, NULL, 16, &n, 1), BAD_PARAMETERS);
}

/* A wrong tag, nonce or byte: no output, not even a part; then it goes on. */
static void test_nothing_leaves_with_a_wrong_tag(void **state)
{
	uint8_t key[32] = { 3 }, iv[12] = { 5 };
	uint8_t text[100 + 16], sealed[100 + 16];
	void *s = *state;
	size_t n = 116;

	memset(text, 0x61, sizeof(text));
	put(IN, text, 100);
	assert_int_equal(prepare(s, 44, 0), TEE_SUCCESS);
	assert_int_equal(set_key(s, key, 32), TEE_SUCCESS);
	assert_int_equal(message(s, iv, 12, IN, 100, OUT, &n, 1), TEE_SUCCESS);
	assert_int_equal(n, 116);
	memcpy(sealed, OUT, 116);

	assert_int_equal(prepare(s, 44, 1), TEE_SUCCESS);
	assert_int_equal(set_key(s, key, 32), TEE_SUCCESS);
	for (size_t bit = 0; bit < 8 * 116; bit += 5) {
		size_t t = 16;

		memcpy(IN, sealed, 116);
		IN[bit / 8] ^= 1 << bit % 8;
		memset(OUT, 0xee, 200);
		n = 200;
		assert_int_equal(message(s, iv, 12, IN, 116, OUT, &n, 1),
				 TEE_ERROR_MAC_INVALID);
		for (size_t i = 0; i < 200; i++)
			assert_int_equal(OUT[i], 0xee);
		assert_int_equal(set_iv(s, iv, 12), TEE_SUCCESS);
		n = 200;
		assert_int_equal(ae_final(s, false, IN, 100, OUT, &n, IN + 100,
					  &t),
				 TEE_ERROR_MAC_INVALID);
		for (size_t i = 0; i < 200; i++)
			assert_int_equal(OUT[i], 0xee);
		/* That message is over. */
		n = 200;
		assert_int_equal(ae_final(s, false, IN, 100, OUT, &n, IN + 100,
					  &t),
				 BAD_STATE);
		memcpy(IN, sealed, 116);
		n = 200;
		assert_int_equal(message(s, iv, 12, IN, 116, OUT, &n, 1),
				 TEE_SUCCESS);
		assert_int_equal(n, 100);
		assert_memory_equal(OUT, text, 100);
	}
	/* No plaintext in pieces. */
	assert_int_equal(set_iv(s, iv, 12), TEE_SUCCESS);
	n = 16;
	assert_int_equal(update(s, IN, 16, OUT, &n, 1), NOT_SUPPORTED);
	/* A tag of another length is none. */
	for (size_t t = 0; t < 20; t++) {
		size_t tag_len = t;

		if (t == 16)
			continue;
		n = 200;
		assert_int_equal(ae_final(s, false, IN, 100, OUT, &n, IN + 100,
					  &tag_len),
				 BAD_PARAMETERS);
	}
	for (size_t len = 0; len < 16; len++) {
		n = 200;
		assert_int_equal(message(s, iv, 12, IN, len, OUT, &n, 1),
				 BAD_PARAMETERS);
	}
}

/* The limit of what is decrypted; none of what is encrypted. */
static void test_large_aead(void **state)
{
	uint8_t key[16] = { 3 }, iv[12] = { 5 };
	void *s = *state;
	size_t n = 120 * 1024, t = 16, max = TA_BENCH_AE_DECRYPT_MAX;

	assert_int_equal(prepare(s, 34, 0), TEE_SUCCESS);
	assert_int_equal(set_key(s, key, 16), TEE_SUCCESS);
	assert_int_equal(message(s, iv, 12, IN, max + 1, OUT, &n, 1),
			 TEE_SUCCESS);
	n = 120 * 1024;
	assert_int_equal(message(s, iv, 12, IN, max, OUT, &n, 1), TEE_SUCCESS);
	assert_int_equal(n, max + 16);
	assert_int_equal(prepare(s, 34, 1), TEE_SUCCESS);
	assert_int_equal(set_key(s, key, 16), TEE_SUCCESS);
	/* In place. */
	assert_int_equal(message(s, iv, 12, OUT, n, OUT, &n, 1), TEE_SUCCESS);
	assert_int_equal(n, max);
	assert_memory_equal(IN, OUT, max);
	n = 120 * 1024;
	assert_int_equal(message(s, iv, 12, OUT, max + 17, OUT, &n, 1),
			 BAD_PARAMETERS);
	assert_int_equal(set_iv(s, iv, 12), TEE_SUCCESS);
	assert_int_equal(ae_final(s, false, OUT, max + 1, OUT, &n, SMALL, &t),
			 BAD_PARAMETERS);
}

static void test_repeat_bounds(void **state)
{
	static const uint32_t bad[] = { 0, TA_BENCH_REPEAT_MAX + 1,
					UINT32_MAX };
	uint8_t key[64] = { 1 };
	void *s = *state;

	make_ready(s);
	for (size_t i = 0; i < 3; i++) {
		size_t n = 64;
		TEE_Param random[TEE_NUM_PARAMS] = { MEMREF(OUT, 10),
						     VALUE(bad[i], 0) };
		TEE_Param kernel[TEE_NUM_PARAMS] = { VALUE(2, bad[i]),
						     MEMREF(IN, 10) };

		assert_int_equal(update(s, IN, 64, OUT, &n, bad[i]),
				 BAD_PARAMETERS);
		assert_int_equal(message(s, key, 0, IN, 64, OUT, &n, bad[i]),
				 BAD_PARAMETERS);
		assert_int_equal(mac(s, IN, 64, &n, bad[i]), BAD_PARAMETERS);
		assert_int_equal(invoke(s, TA_BENCH_CMD_RANDOM, 0x0016, random),
				 BAD_PARAMETERS);
		assert_int_equal(invoke(s, TA_BENCH_CMD_KERNEL, 0x0251, kernel),
				 BAD_PARAMETERS);
	}
}

/* MACs */

static void test_published_macs(void **state)
{
	FILE *file = open_vectors();
	struct vector v;
	size_t count = 0, refused = 0;
	void *s = *state;

	while (vector_read(file, &v) > 0) {
		TEE_Result res;
		size_t n;

		if (v.alg->class != ALG_MAC)
			continue;
		res = mac_set_key(s, v.alg->id, v.key.data, v.key.len);
		if (v.key.len > ALG_KEY_MAX_BYTES) {
			assert_int_equal(res, BAD_PARAMETERS);
			refused++;
			continue;
		}
		if (res == NOT_SUPPORTED) { /* too short for a TEE */
			assert_true(v.key.len <= 20);
			refused++;
			continue;
		}
		assert_int_equal(res, TEE_SUCCESS);
		count++;
		put(IN, v.plain.data, v.plain.len);
		for (uint32_t repeat = 1; repeat < 4; repeat++) {
			n = 64;
			memset(OUT, 0, 64);
			assert_int_equal(mac(s, IN, v.plain.len, &n, repeat),
					 TEE_SUCCESS);
			assert_int_equal(n, v.alg->out_bytes);
			assert_memory_equal(OUT, v.cipher.data, n);
		}
		for (size_t cut = 0; cut <= v.plain.len; cut++) {
			assert_int_equal(plain(s, TA_BENCH_CMD_MAC_INIT),
					 TEE_SUCCESS);
			assert_int_equal(mac_update(s, IN, cut), TEE_SUCCESS);
			n = v.alg->out_bytes - 1;
			assert_int_equal(mac_final(s, IN, 0, &n), SHORT_BUFFER);
			assert_int_equal(n, v.alg->out_bytes);
			memset(OUT, 0, 64);
			if (cut % 2) {
				assert_int_equal(mac_update(s, IN + cut,
							    v.plain.len - cut),
						 TEE_SUCCESS);
				assert_int_equal(mac_final(s, NULL, 0, &n),
						 TEE_SUCCESS);
			} else {
				assert_int_equal(mac_final(s, IN + cut,
							   v.plain.len - cut,
							   &n),
						 TEE_SUCCESS);
			}
			assert_memory_equal(OUT, v.cipher.data, n);
			assert_int_equal(mac_update(s, IN, 1), BAD_STATE);
		}
	}
	fclose(file);
	assert_true(count >= 3 && refused >= 5);
}

static void test_mac_out_of_sequence(void **state)
{
	uint8_t key[65] = { 1 };
	void *s = *state;
	size_t n = 64;

	assert_int_equal(mac(s, IN, 10, &n, 1), BAD_STATE);
	assert_int_equal(plain(s, TA_BENCH_CMD_MAC_INIT), BAD_STATE);
	assert_int_equal(mac_update(s, IN, 10), BAD_STATE);
	assert_int_equal(mac_final(s, NULL, 0, &n), BAD_STATE);
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].class != ALG_MAC)
			assert_int_equal(mac_set_key(s, algorithms[i].id, key,
						     16),
					 NOT_SUPPORTED);
	assert_int_equal(mac_set_key(s, 22, key, 0), BAD_PARAMETERS);
	assert_int_equal(mac_set_key(s, 22, key, 65), BAD_PARAMETERS);
	for (size_t len = 1; len <= 64; len++) {
		TEE_Result res = mac_set_key(s, 22, key, len);

		assert_int_equal(res, len < 24 ? NOT_SUPPORTED : TEE_SUCCESS);
		n = 64;
		assert_int_equal(mac(s, IN, 10, &n, 1),
				 len < 24 ? BAD_STATE : TEE_SUCCESS);
	}
	/* A message in pieces ends with one in one piece, and with a key. */
	assert_int_equal(plain(s, TA_BENCH_CMD_MAC_INIT), TEE_SUCCESS);
	assert_int_equal(plain(s, TA_BENCH_CMD_MAC_INIT), TEE_SUCCESS);
	assert_int_equal(mac(s, IN, 10, &n, 1), TEE_SUCCESS);
	assert_int_equal(mac_update(s, IN, 10), BAD_STATE);
	assert_int_equal(plain(s, TA_BENCH_CMD_MAC_INIT), TEE_SUCCESS);
	assert_int_equal(mac_set_key(s, 24, key, 64), TEE_SUCCESS);
	assert_int_equal(mac_update(s, IN, 10), BAD_STATE);
}

/* Storage */

static void test_storage(void **state)
{
	void *s = *state, *other = open_session();
	uint8_t data[7000];
	uint32_t size;
	size_t n;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(create(s, "one", data, 7000, 0), TEE_SUCCESS);
	n = 8000;
	assert_int_equal(read_object(s, &n, 0), TEE_SUCCESS);
	assert_int_equal(n, 7000);
	assert_memory_equal(OUT, data, 7000);
	n = 10;
	assert_int_equal(read_object(s, &n, 6995), TEE_SUCCESS);
	assert_int_equal(n, 5);
	assert_memory_equal(OUT, data + 6995, 5);
	n = 10;
	assert_int_equal(read_object(s, &n, 9000), TEE_SUCCESS);
	assert_int_equal(n, 0);

	/* Nobody else while it is open; afterwards with all that was done. */
	assert_int_equal(open_object(other, "one", 0, &size),
			 TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(create(other, "one", "", 0, 0),
			 TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(write_object(s, "xyz", 3, 7010), TEE_SUCCESS);
	assert_int_equal(rename_object(s, "two"), TEE_SUCCESS);
	assert_int_equal(plain(s, TA_BENCH_CMD_STORAGE_CLOSE), TEE_SUCCESS);
	assert_int_equal(open_object(other, "one", 0, &size),
			 TEE_ERROR_ITEM_NOT_FOUND);
	assert_int_equal(open_object(other, "two", 0, &size), TEE_SUCCESS);
	assert_int_equal(size, 7013);
	n = 20;
	assert_int_equal(read_object(other, &n, 6998), TEE_SUCCESS);
	assert_int_equal(n, 15);
	assert_memory_equal(OUT, data + 6998, 2);
	assert_memory_equal(OUT + 2, "\0\0\0\0\0\0\0\0\0\0xyz", 13);
	assert_int_equal(truncate_object(other, 100), TEE_SUCCESS);
	n = 8000;
	assert_int_equal(read_object(other, &n, 0), TEE_SUCCESS);
	assert_int_equal(n, 100);

	/* A name that is taken; to its own name as well. */
	assert_int_equal(create(s, "one", "1", 1, 0), TEE_SUCCESS);
	assert_int_equal(rename_object(s, "two"), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(rename_object(s, "one"), TEE_ERROR_ACCESS_CONFLICT);
	/* Opening another closes this one. */
	assert_int_equal(create(s, "three", "33", 2, 0), TEE_SUCCESS);
	assert_int_equal(open_object(s, "one", 0, &size), TEE_SUCCESS);
	assert_int_equal(size, 1);
	assert_int_equal(create(s, "one", "new", 3, 0), TEE_SUCCESS);
	n = 10;
	assert_int_equal(read_object(s, &n, 0), TEE_SUCCESS);
	assert_int_equal(n, 3);
	assert_int_equal(plain(s, TA_BENCH_CMD_STORAGE_DELETE), TEE_SUCCESS);
	assert_int_equal(open_object(s, "one", 0, &size),
			 TEE_ERROR_ITEM_NOT_FOUND);
	/* A session that ends closes. */
	TA_CloseSessionEntryPoint(other);
	assert_int_equal(open_object(s, "two", 0, &size), TEE_SUCCESS);
}

static void check_nothing_open(void *s)
{
	size_t n = 10;

	assert_int_equal(read_object(s, &n, 0), BAD_STATE);
	assert_int_equal(write_object(s, "1", 1, 0), BAD_STATE);
	assert_int_equal(rename_object(s, "1"), BAD_STATE);
	assert_int_equal(truncate_object(s, 1), BAD_STATE);
	assert_int_equal(plain(s, TA_BENCH_CMD_STORAGE_DELETE), BAD_STATE);
	assert_int_equal(plain(s, TA_BENCH_CMD_STORAGE_CLOSE), BAD_STATE);
}

static void test_storage_out_of_sequence(void **state)
{
	char name[66] = { 0 };
	uint32_t size;
	void *s = *state;

	check_nothing_open(s);
	memset(name, 'n', 65);
	assert_int_equal(create(s, name, "1", 1, 0), BAD_PARAMETERS);
	assert_int_equal(create(s, "", "1", 1, 0), BAD_PARAMETERS);
	assert_int_equal(open_object(s, name, 0, &size), BAD_PARAMETERS);
	assert_int_equal(create(s, "x", "1", 1, 2), NOT_SUPPORTED);
	assert_int_equal(open_object(s, "x", 2, &size), NOT_SUPPORTED);
	assert_int_equal(create(s, "x", "1", 1, TA_BENCH_STORAGE_RPMB),
			 TEE_ERROR_ITEM_NOT_FOUND);
	assert_int_equal(open_object(s, "x", TA_BENCH_STORAGE_RPMB, &size),
			 TEE_ERROR_ITEM_NOT_FOUND);
	check_nothing_open(s);
	assert_int_equal(open_object(s, "none", 0, &size),
			 TEE_ERROR_ITEM_NOT_FOUND);
	assert_int_equal(size, 77);
	name[64] = 0;
	assert_int_equal(create(s, name, "1", 0, 0), TEE_SUCCESS);
	assert_int_equal(rename_object(s, ""), BAD_PARAMETERS);
	assert_int_equal(plain(s, TA_BENCH_CMD_STORAGE_DELETE), TEE_SUCCESS);
	check_nothing_open(s);
}

static void test_storage_bounds(void **state)
{
	static const struct {
		uint32_t offset;
		size_t len;
		bool ok;
	} ranges[] = {
		{ 0, 0, true },
		{ TA_BENCH_OBJECT_MAX, 0, true },
		{ TA_BENCH_OBJECT_MAX - 10, 10, true },
		{ TA_BENCH_OBJECT_MAX - 10, 11, false },
		{ TA_BENCH_OBJECT_MAX, 1, false },
		{ TA_BENCH_OBJECT_MAX + 1, 0, false },
		{ UINT32_MAX, 1, false },
		{ 1, SIZE_MAX, false },
		{ 0x80000000, 10, false },
	};
	void *s = *state;

	assert_int_equal(create(s, "x", "123", 3, 0), TEE_SUCCESS);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		TEE_Param write[TEE_NUM_PARAMS] = {
			MEMREF(IN, ranges[i].len), VALUE(ranges[i].offset, 0)
		};
		size_t n = ranges[i].len;

		assert_int_equal(read_object(s, &n, ranges[i].offset),
				 ranges[i].ok ? TEE_SUCCESS : BAD_PARAMETERS);
		assert_int_equal(invoke(s, TA_BENCH_CMD_STORAGE_WRITE, 0x0015,
					write),
				 ranges[i].ok ? TEE_SUCCESS : BAD_PARAMETERS);
	}
	assert_int_equal(truncate_object(s, TA_BENCH_OBJECT_MAX), TEE_SUCCESS);
	assert_int_equal(truncate_object(s, TA_BENCH_OBJECT_MAX + 1),
			 BAD_PARAMETERS);
	assert_int_equal(truncate_object(s, 0), TEE_SUCCESS);
	assert_int_equal(plain(s, TA_BENCH_CMD_STORAGE_DELETE), TEE_SUCCESS);
}

static void test_storage_failures(void **state)
{
	static const uint32_t results[] = { TEE_ERROR_CORRUPT_OBJECT,
					    TEE_ERROR_STORAGE_NOT_AVAILABLE,
					    TEE_ERROR_STORAGE_NO_SPACE };
	void *s = *state;
	uint32_t size;

	for (size_t i = 0; i < 3; i++) {
		for (int op = 0; op < 4; op++) {
			size_t n = 10;
			TEE_Result res;

			assert_int_equal(create(s, "x", "123", 3, 0),
					 TEE_SUCCESS);
			shim_storage_result = results[i];
			res = op == 0 ? read_object(s, &n, 0) :
			      op == 1 ? write_object(s, "1", 1, 0) :
			      op == 2 ? truncate_object(s, 1) :
					rename_object(s, "y");
			assert_int_equal(res, results[i]);
			shim_storage_result = 0;
			/* A corrupt object is closed, and only that. */
			if (results[i] == TEE_ERROR_CORRUPT_OBJECT)
				check_nothing_open(s);
			else
				assert_int_equal(read_object(s, &n, 0),
						 TEE_SUCCESS);
		}
		shim_storage_result = results[i];
		assert_int_equal(create(s, "x", "123", 3, 0), results[i]);
		assert_int_equal(open_object(s, "x", 0, &size), results[i]);
		shim_storage_result = 0;
		check_nothing_open(s);
	}
}

/* Random numbers and kernels */

static void test_random(void **state)
{
	static const size_t lens[] = {
		0, 1, 16, 2047, 2048, 2049, 5000, 100000
	};
	void *s = *state;

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(OUT, lens[i]),
						VALUE(3, 0) };
		size_t zeros = 0;

		memset(OUT, 0, lens[i] + 1);
		assert_int_equal(invoke(s, TA_BENCH_CMD_RANDOM, 0x0016, p),
				 TEE_SUCCESS);
		assert_int_equal(p[0].memref.size, lens[i]);
		for (size_t j = 0; j < lens[i]; j++)
			zeros += !OUT[j];
		assert_true(zeros <= lens[i] / 128 + 1);
		assert_int_equal(OUT[lens[i]], 0);
	}
	{
		TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(NULL, 10), VALUE(1, 0) };

		assert_int_equal(invoke(s, TA_BENCH_CMD_RANDOM, 0x0016, p),
				 BAD_PARAMETERS);
	}
}

static uint64_t sha256_head(const uint8_t *data, size_t len)
{
	const struct digest_class *class = digest_class_find(DIGEST_CODE_C, 3);
	union digest_ctx ctx;
	uint8_t digest[32];
	uint64_t head = 0;

	class->init(&ctx);
	class->update(&ctx, data, len);
	class->final(&ctx, digest);
	for (size_t i = 8; i--;)
		head = head << 8 | digest[i];
	return head;
}

static void test_kernels(void **state)
{
	static uint8_t room[KERNEL_COPY_BYTES];

	for (size_t len = 0; len < 10000; len = len * 3 / 2 + 1) {
		uint64_t want[] = {
			kernel_memcpy(room, sizeof(room), IN, len),
			kernel_memtouch(IN, len),
			kernel_intloop(len),
			sha256_head(IN, len),
		};

		for (uint32_t kernel = 0; kernel < 6; kernel++) {
			TEE_Param p[TEE_NUM_PARAMS] = {
				VALUE(kernel, 1 + len % 3), MEMREF(IN, len)
			};
			TEE_Result res =
				invoke(*state, TA_BENCH_CMD_KERNEL, 0x0251, p);

			if (kernel > 3) {
				assert_int_equal(res, NOT_SUPPORTED);
				continue;
			}
			assert_int_equal(res, TEE_SUCCESS);
			assert_true(((uint64_t)p[2].value.b << 32 |
				     p[2].value.a) == want[kernel]);
		}
	}
}

/* Memory, secrets, sessions */

/* Whatever allocation fails, a session says so and can be used or closed. */
static void test_out_of_memory(void **state)
{
	uint8_t key[64] = { 1 };
	void *s = *state;
	size_t failures = 0;

	key[32] = 1;
	for (unsigned int n = 1; n < 6; n++) {
		for (size_t i = 0; i < algorithms_count; i++) {
			const struct algorithm *alg = &algorithms[i];
			TEE_Result res;

			if (alg->class == ALG_DIGEST)
				continue;
			shim_fail_alloc = n;
			if (alg->class == ALG_MAC) {
				res = mac_set_key(s, alg->id, key, 64);
			} else {
				res = prepare(s, alg->id, 0);
				if (res != TEE_SUCCESS)
					assert_int_equal(set_key(s, key,
								 alg->key_bytes),
							 BAD_STATE);
			}
			failures += res == TEE_ERROR_OUT_OF_MEMORY;
			assert_true(res == TEE_SUCCESS ||
				    res == TEE_ERROR_OUT_OF_MEMORY);
			shim_fail_alloc = 0;
		}
		shim_fail_alloc = n;
		create(s, "x", "1", 1, 0);
		shim_fail_alloc = 0;
		make_ready(s);
	}
	assert_int_equal(failures, 2 * 19 + 2); /* XTS: three each */
}

/* An algorithm that was left out of the TEE. */
static void test_unsupported(void **state)
{
	uint8_t key[64] = { 1 };

	shim_unsupported_alg = 0x40000810;
	assert_int_equal(prepare(*state, 34, 0), NOT_SUPPORTED);
	assert_int_equal(prepare(*state, 31, 0), TEE_SUCCESS);
	shim_unsupported_alg = 0x30000004;
	assert_int_equal(mac_set_key(*state, 22, key, 32), NOT_SUPPORTED);
}

/* The shim looks for the key in all that is freed. */
static void test_keys_are_wiped(void **state)
{
	static const uint8_t secret[64] = "a key that nobody should find, of "
					  "sixty-four bytes, all of it se";
	static const uint8_t iv[16] = "an IV, wiped too";
	void *s = *state;

	for (int which = 0; which < 2; which++) {
		shim_secret = which ? iv : secret;
		shim_secret_len = which ? 12 : 16;
		for (size_t i = 0; i < algorithms_count; i++) {
			const struct algorithm *alg = &algorithms[i];
			size_t n = 64;

			if (alg->class == ALG_DIGEST)
				continue;
			if (alg->class == ALG_MAC) {
				assert_int_equal(mac_set_key(s, alg->id, secret,
							     64),
						 TEE_SUCCESS);
				continue;
			}
			assert_int_equal(prepare(s, alg->id, i % 2),
					 TEE_SUCCESS);
			assert_int_equal(set_key(s, secret, alg->key_bytes),
					 TEE_SUCCESS);
			assert_int_equal(set_iv(s, iv, alg->iv_bytes),
					 TEE_SUCCESS);
			update(s, IN, 64, OUT, &n, 1);
		}
		TA_CloseSessionEntryPoint(s);
		*state = s = open_session();
	}
}

/* What an AEAD decrypted or was to decrypt is not kept. */
static void test_plaintext_is_wiped(void **state)
{
	static const uint8_t text[32] = "plaintext, which is a secret too";
	uint8_t key[16] = { 1 }, iv[12] = { 2 }, sealed[48];
	void *s = *state;
	size_t n = 48, t = 16;

	put(IN, text, 32);
	assert_int_equal(prepare(s, 34, 0), TEE_SUCCESS);
	assert_int_equal(set_key(s, key, 16), TEE_SUCCESS);
	assert_int_equal(message(s, iv, 12, IN, 32, OUT, &n, 1), TEE_SUCCESS);
	memcpy(sealed, OUT, 48);
	shim_secret = text;
	shim_secret_len = 16;
	for (int wrong = 0; wrong < 2; wrong++) {
		assert_int_equal(prepare(s, 34, 1), TEE_SUCCESS);
		assert_int_equal(set_key(s, key, 16), TEE_SUCCESS);
		put(IN, sealed, 48);
		IN[47] ^= wrong;
		n = 48;
		message(s, iv, 12, IN, 48, OUT, &n, 1);
		assert_int_equal(set_iv(s, iv, 12), TEE_SUCCESS);
		n = 48;
		ae_final(s, false, IN, 32, OUT, &n, IN + 32, &t);
		TA_CloseSessionEntryPoint(s);
		*state = s = open_session();
	}
}

static void test_sessions_are_apart(void **state)
{
	uint8_t key[32] = { 1 }, iv[16] = { 2 }, first[64];
	void *a = *state, *b = open_session();
	size_t n = 64;

	make_ready(a);
	assert_int_equal(set_key(b, key, 16), BAD_STATE);
	assert_int_equal(update(b, IN, 64, OUT, &n, 1), BAD_STATE);
	assert_int_equal(mac(b, IN, 10, &n, 1), BAD_STATE);
	assert_int_equal(plain(b, TA_BENCH_CMD_STORAGE_DELETE), BAD_STATE);

	/* The same message, its pieces in turns with another's. */
	assert_int_equal(prepare(a, 31, 0), TEE_SUCCESS);
	assert_int_equal(set_key(a, key, 16), TEE_SUCCESS);
	n = 64;
	assert_int_equal(message(a, iv, 16, IN, 64, OUT, &n, 1), TEE_SUCCESS);
	memcpy(first, OUT, 64);
	assert_int_equal(prepare(b, 41, 0), TEE_SUCCESS);
	key[31] = 7;
	assert_int_equal(set_key(b, key, 32), TEE_SUCCESS);
	assert_int_equal(set_iv(a, iv, 16), TEE_SUCCESS);
	assert_int_equal(set_iv(b, iv, 16), TEE_SUCCESS);
	for (size_t i = 0; i < 64; i += 16) {
		n = 16;
		assert_int_equal(update(a, IN + i, 16, OUT + i, &n, 1),
				 TEE_SUCCESS);
		assert_int_equal(update(b, IN + i, 16, OUT + 64 + i, &n, 1),
				 TEE_SUCCESS);
	}
	assert_memory_equal(OUT, first, 64);
	assert_memory_not_equal(OUT + 64, first, 64);
	TA_CloseSessionEntryPoint(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_parameter_type),
		TEST(test_types_beyond_four_parameters),
		TEST(test_unknown_commands),
		TEST(test_open_with_parameters),
		TEST(test_nop_and_info),
		TEST(test_published_ciphers),
		TEST(test_repeat_begins_anew),
		TEST(test_cipher_out_of_sequence),
		TEST(test_lengths_of_messages),
		TEST(test_two_keys_that_are_one),
		TEST(test_null_memory),
		TEST(test_nothing_leaves_with_a_wrong_tag),
		TEST(test_large_aead),
		TEST(test_repeat_bounds),
		TEST(test_published_macs),
		TEST(test_mac_out_of_sequence),
		TEST(test_storage),
		TEST(test_storage_out_of_sequence),
		TEST(test_storage_bounds),
		TEST(test_storage_failures),
		TEST(test_random),
		TEST(test_kernels),
		TEST(test_out_of_memory),
		TEST(test_unsupported),
		TEST(test_keys_are_wiped),
		TEST(test_plaintext_is_wiped),
		TEST(test_sessions_are_apart),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: test_bench_ta VECTORS\n");
		return 2;
	}
	vectors = argv[1];
	return cmocka_run_group_tests_name("bench TA", tests, NULL, NULL) != 0;
}
