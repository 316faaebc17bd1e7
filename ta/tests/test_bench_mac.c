/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench TA's MACs.
 *
 *   test_bench_mac VECTORS
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench_client.h"
#include "vectors.h"

static const char *vectors;

TEE_Result __real_TEE_MACComputeFinal(TEE_OperationHandle operation, const void *message,
				      size_t len, void *mac, size_t *mac_len);
TEE_Result __wrap_TEE_MACComputeFinal(TEE_OperationHandle operation, const void *message,
				      size_t len, void *mac, size_t *mac_len);

static unsigned done;

TEE_Result __wrap_TEE_MACComputeFinal(TEE_OperationHandle operation, const void *message,
				      size_t len, void *mac, size_t *mac_len)
{
	done++;
	return __real_TEE_MACComputeFinal(operation, message, len, mac, mac_len);
}

static void test_published_macs(void **state)
{
	FILE *file = open_vectors(vectors);
	struct vector v;
	size_t count = 0, refused = 0;
	void *s = *state;

	while (vector_read(file, &v) > 0) {
		TEE_Result res;
		size_t n;

		if (v.alg->class != ALG_MAC)
			continue;
		res = call_mac_set_key(s, v.alg->id, v.key.data, v.key.len);
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
			done = 0;
			assert_int_equal(call_mac(s, IN, v.plain.len, &n, repeat), TEE_SUCCESS);
			assert_int_equal(done, repeat);
			assert_int_equal(n, v.alg->out_bytes);
			assert_memory_equal(OUT, v.cipher.data, n);
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

	assert_int_equal(call_mac(s, IN, 10, &n, 1), BAD_STATE);
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].class != ALG_MAC)
			assert_int_equal(call_mac_set_key(s, algorithms[i].id, key, 16),
					 NOT_SUPPORTED);
	assert_int_equal(call_mac_set_key(s, 22, key, 0), BAD_PARAMETERS);
	assert_int_equal(call_mac_set_key(s, 22, key, 65), BAD_PARAMETERS);
	for (size_t len = 1; len <= 64; len++) {
		TEE_Result res = call_mac_set_key(s, 22, key, len);

		assert_int_equal(res, len < 24 ? NOT_SUPPORTED : TEE_SUCCESS);
		n = 64;
		assert_int_equal(call_mac(s, IN, 10, &n, 1), len < 24 ? BAD_STATE : TEE_SUCCESS);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_published_macs),
		TEST(test_mac_out_of_sequence),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: test_bench_mac VECTORS\n");
		return 2;
	}
	vectors = argv[1];
	return cmocka_run_group_tests_name("bench TA: mac", tests, NULL, NULL) != 0;
}
