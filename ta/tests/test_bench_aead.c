/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests what the bench TA decrypts with a tag: nothing leaves before the tag was right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench_client.h"
#include "shim.h"

/* A wrong tag, nonce or byte: no output, not even a part; then it goes on. */
static void test_nothing_leaves_with_a_wrong_tag(void **state)
{
	uint8_t key[32] = { 3 }, iv[12] = { 5 };
	uint8_t text[100 + 16], sealed[100 + 16];
	void *s = *state;
	size_t n = 116;

	memset(text, 0x61, sizeof(text));
	put(IN, text, 100);
	assert_int_equal(call_prepare(s, 44, 0), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, key, 32), TEE_SUCCESS);
	assert_int_equal(call_message(s, iv, 12, IN, 100, OUT, &n, 1), TEE_SUCCESS);
	assert_int_equal(n, 116);
	memcpy(sealed, OUT, 116);

	assert_int_equal(call_prepare(s, 44, 1), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, key, 32), TEE_SUCCESS);
	for (size_t bit = 0; bit < 8 * 116; bit += 5) {
		memcpy(IN, sealed, 116);
		IN[bit / 8] ^= 1 << bit % 8;
		memset(OUT, 0xee, 200);
		n = 200;
		assert_int_equal(call_message(s, iv, 12, IN, 116, OUT, &n, 1),
				 TEE_ERROR_MAC_INVALID);
		for (size_t i = 0; i < 200; i++)
			assert_int_equal(OUT[i], 0xee);
		memcpy(IN, sealed, 116);
		n = 200;
		assert_int_equal(call_message(s, iv, 12, IN, 116, OUT, &n, 1), TEE_SUCCESS);
		assert_int_equal(n, 100);
		assert_memory_equal(OUT, text, 100);
	}
	/* No plaintext in pieces. */
	assert_int_equal(call_set_iv(s, iv, 12), TEE_SUCCESS);
	n = 16;
	assert_int_equal(call_update(s, IN, 16, OUT, &n, 1), NOT_SUPPORTED);
	for (size_t len = 0; len < 16; len++) {
		n = 200;
		assert_int_equal(call_message(s, iv, 12, IN, len, OUT, &n, 1), BAD_PARAMETERS);
	}
}

/* The limit of what is decrypted; none of what is encrypted. */
static void test_large_aead(void **state)
{
	uint8_t key[16] = { 3 }, iv[12] = { 5 };
	void *s = *state;
	size_t n = 120 * 1024, max = TA_BENCH_AE_DECRYPT_MAX;

	assert_int_equal(call_prepare(s, 34, 0), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, key, 16), TEE_SUCCESS);
	assert_int_equal(call_message(s, iv, 12, IN, max + 1, OUT, &n, 1), TEE_SUCCESS);
	n = 120 * 1024;
	assert_int_equal(call_message(s, iv, 12, IN, max, OUT, &n, 1), TEE_SUCCESS);
	assert_int_equal(n, max + 16);
	assert_int_equal(call_prepare(s, 34, 1), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, key, 16), TEE_SUCCESS);
	/* In place. */
	assert_int_equal(call_message(s, iv, 12, OUT, n, OUT, &n, 1), TEE_SUCCESS);
	assert_int_equal(n, max);
	assert_memory_equal(IN, OUT, max);
	n = 120 * 1024;
	assert_int_equal(call_message(s, iv, 12, OUT, max + 17, OUT, &n, 1), BAD_PARAMETERS);
}

/* The TA doesn't keep what an AEAD decrypted or was to decrypt. */
static void test_plaintext_is_wiped(void **state)
{
	static const uint8_t text[32] = "plaintext, which is a secret too";
	uint8_t key[16] = { 1 }, iv[12] = { 2 }, sealed[48];
	void *s = *state;
	size_t n = 48;

	put(IN, text, 32);
	assert_int_equal(call_prepare(s, 34, 0), TEE_SUCCESS);
	assert_int_equal(call_set_key(s, key, 16), TEE_SUCCESS);
	assert_int_equal(call_message(s, iv, 12, IN, 32, OUT, &n, 1), TEE_SUCCESS);
	memcpy(sealed, OUT, 48);
	shim_secret = text;
	shim_secret_len = 16;
	for (int wrong = 0; wrong < 2; wrong++) {
		assert_int_equal(call_prepare(s, 34, 1), TEE_SUCCESS);
		assert_int_equal(call_set_key(s, key, 16), TEE_SUCCESS);
		put(IN, sealed, 48);
		IN[47] ^= wrong;
		n = 48;
		call_message(s, iv, 12, IN, 48, OUT, &n, 1);
		TA_CloseSessionEntryPoint(s);
		*state = s = open_session();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_leaves_with_a_wrong_tag),
		TEST(test_large_aead),
		TEST(test_plaintext_is_wiped),
	};

	return cmocka_run_group_tests_name("bench TA: aead", tests, NULL, NULL) != 0;
}
