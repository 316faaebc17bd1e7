/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench TA's MACs, in one piece and in several.
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

static TEE_Result call_mac_update(void *s, const uint8_t *in, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(in, len) };

	return invoke(s, TA_BENCH_CMD_MAC_UPDATE, 0x0005, p);
}

static TEE_Result call_mac_final(void *s, const uint8_t *in, size_t len,
				 size_t *out_len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(in, len),
					MEMREF(OUT, *out_len) };
	TEE_Result res =
		invoke(s, TA_BENCH_CMD_MAC_FINAL, in ? 0x0065 : 0x0060, p);

	*out_len = p[1].memref.size;
	return res;
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
			assert_int_equal(call_mac(s, IN, v.plain.len, &n,
						  repeat),
					 TEE_SUCCESS);
			assert_int_equal(n, v.alg->out_bytes);
			assert_memory_equal(OUT, v.cipher.data, n);
		}
		for (size_t cut = 0; cut <= v.plain.len; cut++) {
			assert_int_equal(call_plain(s, TA_BENCH_CMD_MAC_INIT),
					 TEE_SUCCESS);
			assert_int_equal(call_mac_update(s, IN, cut),
					 TEE_SUCCESS);
			n = v.alg->out_bytes - 1;
			assert_int_equal(call_mac_final(s, IN, 0, &n),
					 SHORT_BUFFER);
			assert_int_equal(n, v.alg->out_bytes);
			memset(OUT, 0, 64);
			if (cut % 2) {
				assert_int_equal(call_mac_update(s, IN + cut,
								 v.plain.len -
									 cut),
						 TEE_SUCCESS);
				assert_int_equal(call_mac_final(s, NULL, 0, &n),
						 TEE_SUCCESS);
			} else {
				assert_int_equal(call_mac_final(s, IN + cut,
								v.plain.len -
									cut,
								&n),
						 TEE_SUCCESS);
			}
			assert_memory_equal(OUT, v.cipher.data, n);
			assert_int_equal(call_mac_update(s, IN, 1), BAD_STATE);
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
	assert_int_equal(call_plain(s, TA_BENCH_CMD_MAC_INIT), BAD_STATE);
	assert_int_equal(call_mac_update(s, IN, 10), BAD_STATE);
	assert_int_equal(call_mac_final(s, NULL, 0, &n), BAD_STATE);
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].class != ALG_MAC)
			assert_int_equal(call_mac_set_key(s, algorithms[i].id,
							  key, 16),
					 NOT_SUPPORTED);
	assert_int_equal(call_mac_set_key(s, 22, key, 0), BAD_PARAMETERS);
	assert_int_equal(call_mac_set_key(s, 22, key, 65), BAD_PARAMETERS);
	for (size_t len = 1; len <= 64; len++) {
		TEE_Result res = call_mac_set_key(s, 22, key, len);

		assert_int_equal(res, len < 24 ? NOT_SUPPORTED : TEE_SUCCESS);
		n = 64;
		assert_int_equal(call_mac(s, IN, 10, &n, 1),
				 len < 24 ? BAD_STATE : TEE_SUCCESS);
	}
	/* A message in pieces ends with one in one piece, and with a key. */
	assert_int_equal(call_plain(s, TA_BENCH_CMD_MAC_INIT), TEE_SUCCESS);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_MAC_INIT), TEE_SUCCESS);
	assert_int_equal(call_mac(s, IN, 10, &n, 1), TEE_SUCCESS);
	assert_int_equal(call_mac_update(s, IN, 10), BAD_STATE);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_MAC_INIT), TEE_SUCCESS);
	assert_int_equal(call_mac_set_key(s, 24, key, 64), TEE_SUCCESS);
	assert_int_equal(call_mac_update(s, IN, 10), BAD_STATE);
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
	return cmocka_run_group_tests_name("bench TA: mac", tests, NULL,
					   NULL) != 0;
}
