/* SPDX-License-Identifier: BSD-2-Clause */
/* The bench TA's sessions: memory that runs out, keys that are wiped, two at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench_client.h"
#include "shim.h"

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
				res = call_mac_set_key(s, alg->id, key, 64);
			} else {
				res = call_prepare(s, alg->id, 0);
				if (res != TEE_SUCCESS)
					assert_int_equal(call_set_key(s, key, alg->key_bytes),
							 BAD_STATE);
			}
			failures += res == TEE_ERROR_OUT_OF_MEMORY;
			assert_true(res == TEE_SUCCESS || res == TEE_ERROR_OUT_OF_MEMORY);
			shim_fail_alloc = 0;
		}
		shim_fail_alloc = n;
		call_create(s, "x", "1", 1, 0);
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
	assert_int_equal(call_prepare(*state, 34, 0), NOT_SUPPORTED);
	assert_int_equal(call_prepare(*state, 31, 0), TEE_SUCCESS);
	shim_unsupported_alg = 0x30000004;
	assert_int_equal(call_mac_set_key(*state, 22, key, 32), NOT_SUPPORTED);
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
				assert_int_equal(call_mac_set_key(s, alg->id, secret, 64),
						 TEE_SUCCESS);
				continue;
			}
			assert_int_equal(call_prepare(s, alg->id, i % 2), TEE_SUCCESS);
			assert_int_equal(call_set_key(s, secret, alg->key_bytes), TEE_SUCCESS);
			assert_int_equal(call_set_iv(s, iv, alg->iv_bytes), TEE_SUCCESS);
			call_update(s, IN, 64, OUT, &n, 1);
		}
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
	assert_int_equal(call_set_key(b, key, 16), BAD_STATE);
	assert_int_equal(call_update(b, IN, 64, OUT, &n, 1), BAD_STATE);
	assert_int_equal(call_mac(b, IN, 10, &n, 1), BAD_STATE);
	assert_int_equal(call_plain(b, TA_BENCH_CMD_STORAGE_DELETE), BAD_STATE);

	/* The same message, its pieces in turns with another's. */
	assert_int_equal(call_prepare(a, 31, 0), TEE_SUCCESS);
	assert_int_equal(call_set_key(a, key, 16), TEE_SUCCESS);
	n = 64;
	assert_int_equal(call_message(a, iv, 16, IN, 64, OUT, &n, 1), TEE_SUCCESS);
	memcpy(first, OUT, 64);
	assert_int_equal(call_prepare(b, 41, 0), TEE_SUCCESS);
	key[31] = 7;
	assert_int_equal(call_set_key(b, key, 32), TEE_SUCCESS);
	assert_int_equal(call_set_iv(a, iv, 16), TEE_SUCCESS);
	assert_int_equal(call_set_iv(b, iv, 16), TEE_SUCCESS);
	for (size_t i = 0; i < 64; i += 16) {
		n = 16;
		assert_int_equal(call_update(a, IN + i, 16, OUT + i, &n, 1), TEE_SUCCESS);
		assert_int_equal(call_update(b, IN + i, 16, OUT + 64 + i, &n, 1), TEE_SUCCESS);
	}
	assert_memory_equal(OUT, first, 64);
	assert_memory_not_equal(OUT + 64, first, 64);
	TA_CloseSessionEntryPoint(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_out_of_memory),
		TEST(test_unsupported),
		TEST(test_keys_are_wiped),
		TEST(test_sessions_are_apart),
	};

	return cmocka_run_group_tests_name("bench TA: session", tests, NULL, NULL) != 0;
}
