/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench TA's ciphers, AEADs among them, step by step and in one message.
 *
 *   test_bench_cipher VECTORS
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench_client.h"
#include "shim.h"
#include "vectors.h"

static const char *vectors;

/* Every step of one vector, in both directions, in place and not. */
static void check_steps(void *s, const struct vector *v, bool encrypt, bool in_place)
{
	const struct bytes *from = encrypt ? &v->plain : &v->cipher;
	const struct bytes *to = encrypt ? &v->cipher : &v->plain;
	bool xts = v->alg->tee == TEE_ALG_AES_XTS;
	uint8_t *in = put(IN, from->data, from->len);
	uint8_t *out = in_place ? in : OUT;
	size_t at = 0, n = from->len;

	assert_int_equal(call_prepare(s, v->alg->id, !encrypt), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, v->key.data, v->key.len), TEE_SUCCESS);
	for (int again = 0; again < 2; again++) {
		put(IN, from->data, from->len);
		assert_int_equal(call_set_iv(s, v->iv.data, v->iv.len), TEE_SUCCESS);
		at = 0;
		while (at < from->len) {
			n = xts ? from->len : 16;
			assert_int_equal(call_update(s, in + at, n, out + at, &n, 1), TEE_SUCCESS);
			assert_int_equal(n, xts ? from->len : 16);
			at += n;
		}
		assert_memory_equal(out, to->data, to->len);
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
	assert_int_equal(call_prepare(s, v->alg->id, !encrypt), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, v->key.data, v->key.len), TEE_SUCCESS);
	for (uint32_t repeat = 1; repeat < 4; repeat++) {
		memset(OUT, 0xee, 300);
		n = 300;
		assert_int_equal(call_message(s, v->iv.data, v->iv.len, IN, from_len, OUT, &n,
					      repeat),
				 TEE_SUCCESS);
		assert_int_equal(n, to_len);
		assert_memory_equal(OUT, to, to_len);
		assert_int_equal(OUT[to_len], 0xee);
		if (!to_len)
			continue;
		n = to_len - 1;
		assert_int_equal(call_message(s, v->iv.data, v->iv.len, IN, from_len, OUT, &n,
					      repeat),
				 SHORT_BUFFER);
		assert_int_equal(n, to_len);
	}
	/* No step goes on with a whole message. */
	n = 300;
	assert_int_equal(call_update(s, IN, 16, OUT, &n, 1), BAD_STATE);
}

static void test_published_ciphers(void **state)
{
	FILE *file = open_vectors(vectors);
	struct vector v;
	size_t count = 0;

	while (vector_read(file, &v) > 0) {
		if (v.alg->class == ALG_MAC || v.aad.len)
			continue;
		for (int way = 0; way < 4 && v.alg->class == ALG_CIPHER; way++)
			check_steps(*state, &v, way & 1, way & 2);
		check_message(*state, &v, true);
		check_message(*state, &v, false);
		count++;
	}
	fclose(file);
	assert_int_equal(count, 13 + 10);
}

void __real_TEE_CipherInit(TEE_OperationHandle operation, const void *iv, size_t len);
void __wrap_TEE_CipherInit(TEE_OperationHandle operation, const void *iv, size_t len);

static unsigned begun;

void __wrap_TEE_CipherInit(TEE_OperationHandle operation, const void *iv, size_t len)
{
	begun++;
	__real_TEE_CipherInit(operation, iv, len);
}

/* A call does as many messages as a rate is divided by. */
static void test_each_repetition_is_done(void **state)
{
	uint8_t key[16] = { 7 }, iv[16] = { 9 };

	assert_int_equal(call_prepare(*state, algorithm_by_name("aes-128-cbc")->id, 0),
			 TEE_SUCCESS);
	assert_int_equal(call_set_key(*state, key, 16), TEE_SUCCESS);
	for (uint32_t repeat = 1; repeat < 9; repeat *= 2) {
		size_t n = 64;

		begun = 0;
		assert_int_equal(call_message(*state, iv, 16, IN, 64, OUT, &n, repeat),
				 TEE_SUCCESS);
		assert_int_equal(begun, repeat);
	}
}

/* A repeated message is one message for a cipher in one piece. */
static void test_repeat_begins_anew(void **state)
{
	uint8_t key[64] = { 7 }, iv[16] = { 9 }, once[64], second[64];

	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];
		size_t n = 64;

		if (alg->class != ALG_CIPHER)
			continue;
		key[33] = 1;
		assert_int_equal(call_prepare(*state, alg->id, 0), TEE_SUCCESS);
		assert_int_equal(call_set_key(*state, key, alg->key_bytes), TEE_SUCCESS);
		assert_int_equal(call_set_iv(*state, iv, alg->iv_bytes), TEE_SUCCESS);
		assert_int_equal(call_update(*state, IN, 64, OUT, &n, 1), TEE_SUCCESS);
		memcpy(once, OUT, 64);
		if (alg->tee != TEE_ALG_AES_XTS) {
			assert_int_equal(call_update(*state, IN, 64, OUT, &n, 1), TEE_SUCCESS);
			memcpy(second, OUT, 64);
			/* It went on, but for ECB, which has no chain. */
			assert_int_equal(!memcmp(once, second, 64), !alg->iv_bytes);
		} else {
			assert_int_equal(call_update(*state, IN, 64, OUT, &n, 1), BAD_STATE);
		}
		for (uint32_t repeat = 2; repeat < 5; repeat++) {
			memset(OUT, 0, 64);
			n = 64;
			assert_int_equal(call_update(*state, IN, 64, OUT, &n, repeat), TEE_SUCCESS);
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
		size_t n = 64, before = shim_operations_made;

		if (alg->class != ALG_CIPHER && !aead)
			continue;
		TA_CloseSessionEntryPoint(s);
		*state = s = open_session();
		assert_int_equal(call_set_key(s, key, alg->key_bytes), BAD_STATE);
		assert_int_equal(call_set_iv(s, iv, alg->iv_bytes), BAD_STATE);
		assert_int_equal(call_update(s, IN, 64, OUT, &n, 1), BAD_STATE);
		assert_int_equal(call_message(s, iv, alg->iv_bytes, IN, 64, OUT, &n, 1), BAD_STATE);
		assert_int_equal(call_prepare(s, alg->id, 2), BAD_PARAMETERS);
		assert_int_equal(call_prepare(s, 1000, 0), NOT_SUPPORTED);
		assert_int_equal(shim_operations_made, before);

		assert_int_equal(call_prepare(s, alg->id, 0), TEE_SUCCESS);
		assert_int_equal(call_set_iv(s, iv, alg->iv_bytes), BAD_STATE);
		assert_int_equal(call_update(s, IN, 64, OUT, &n, 2), BAD_STATE);
		for (size_t len = 0; len < 70; len++)
			if (len != alg->key_bytes)
				assert_int_equal(call_set_key(s, key, len), BAD_PARAMETERS);
		assert_int_equal(call_set_key(s, key, alg->key_bytes), TEE_SUCCESS);
		assert_int_equal(call_update(s, IN, 64, OUT, &n, 1), BAD_STATE);
		assert_int_equal(call_update(s, IN, 64, OUT, &n, 2), BAD_STATE);
		for (size_t len = 0; len < 40; len++)
			if (len != alg->iv_bytes)
				assert_int_equal(call_set_iv(s, iv, len), BAD_PARAMETERS);
		/* Over and over, in the middle of messages too. */
		for (int j = 0; j < 3; j++) {
			assert_int_equal(call_set_iv(s, iv, alg->iv_bytes), TEE_SUCCESS);
			if (j == 1)
				assert_int_equal(call_set_iv(s, iv, alg->iv_bytes), TEE_SUCCESS);
			n = 64;
			/* AEADs take whole messages alone. */
			assert_int_equal(call_update(s, IN, 64, OUT, &n, 1),
					 aead ? NOT_SUPPORTED : TEE_SUCCESS);
			n = 80;
			assert_int_equal(call_message(s, iv, alg->iv_bytes, IN, 64, OUT, &n, 2),
					 TEE_SUCCESS);
			assert_int_equal(call_set_key(s, key, alg->key_bytes), TEE_SUCCESS);
		}
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
		assert_int_equal(call_prepare(s, alg->id, 0), TEE_SUCCESS);
		assert_int_equal(call_set_key(s, key, alg->key_bytes), TEE_SUCCESS);
		for (size_t len = 0; len < 100; len++) {
			bool fits = len % alg->unit_bytes == 0 &&
				    (len || alg->tee != TEE_ALG_AES_XTS);
			size_t n = len;

			assert_int_equal(call_set_iv(s, iv, alg->iv_bytes), TEE_SUCCESS);
			assert_int_equal(call_update(s, IN, len, OUT, &n, 1),
					 aead ? NOT_SUPPORTED :
					 fits ? TEE_SUCCESS :
						BAD_PARAMETERS);
			assert_int_equal(call_set_iv(s, iv, alg->iv_bytes), TEE_SUCCESS);
			if (fits && len && !aead) {
				n = len - 1;
				assert_int_equal(call_update(s, IN, len, OUT, &n, 1), SHORT_BUFFER);
				assert_int_equal(n, len);
			}
			n = len + 16;
			assert_int_equal(call_message(s, iv, alg->iv_bytes, IN, len, OUT, &n, 1),
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

		assert_int_equal(call_prepare(*state, id, 0), TEE_SUCCESS);
		assert_int_equal(call_set_key(*state, key, len), BAD_PARAMETERS);
		assert_int_equal(call_set_iv(*state, iv, 16), BAD_STATE);
		key[len - 1] = 1;
		assert_int_equal(call_set_key(*state, key, len), TEE_SUCCESS);
		assert_int_equal(call_set_iv(*state, iv, 16), TEE_SUCCESS);
		/* A key that is refused takes the one that was there along. */
		key[len - 1] = 0;
		assert_int_equal(call_set_key(*state, key, len), BAD_PARAMETERS);
		assert_int_equal(call_set_iv(*state, iv, 16), BAD_STATE);
	}
}

static void test_null_memory(void **state)
{
	uint8_t key[64] = { 1 }, iv[16] = { 0 };
	void *s = *state;
	size_t n;

	assert_int_equal(call_prepare(s, 31, 0), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, key, 16), TEE_SUCCESS);
	assert_int_equal(call_set_iv(s, iv, 16), TEE_SUCCESS);
	n = 16;
	assert_int_equal(call_update(s, NULL, 16, OUT, &n, 1), BAD_PARAMETERS);
	assert_int_equal(call_update(s, IN, 16, NULL, &n, 1), BAD_PARAMETERS);
	n = 0;
	assert_int_equal(call_update(s, NULL, 0, NULL, &n, 1), TEE_SUCCESS);
	assert_int_equal(call_prepare(s, 34, 1), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, key, 16), TEE_SUCCESS);
	n = 16;
	assert_int_equal(call_message(s, iv, 12, NULL, 32, OUT, &n, 1), BAD_PARAMETERS);
	assert_int_equal(call_message(s, iv, 12, IN, 32, NULL, &n, 1), BAD_PARAMETERS);
	assert_int_equal(call_mac_set_key(s, 22, key, 32), TEE_SUCCESS);
	n = 32;
	assert_int_equal(call_mac(s, NULL, 16, &n, 1), BAD_PARAMETERS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_repetition_is_done),
		TEST(test_published_ciphers),
		TEST(test_repeat_begins_anew),
		TEST(test_cipher_out_of_sequence),
		TEST(test_lengths_of_messages),
		TEST(test_two_keys_that_are_one),
		TEST(test_null_memory),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: test_bench_cipher VECTORS\n");
		return 2;
	}
	vectors = argv[1];
	return cmocka_run_group_tests_name("bench TA: cipher", tests, NULL, NULL) != 0;
}
