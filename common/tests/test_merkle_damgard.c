/* SPDX-License-Identifier: BSD-2-Clause */
/* Padding and length of long messages, which nobody wants to hash in a test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <teemark/algorithms.h>

#include "../src/merkle_damgard.h"

static uint8_t last_block[128];
static size_t blocks;

static void record(struct md *md, const uint8_t *p, size_t count)
{
	(void)md;
	memcpy(last_block, p, sizeof(last_block));
	blocks += count;
}

static void check(uint64_t bytes, size_t block, size_t want_blocks, const uint8_t *want_length)
{
	struct md md;
	uint8_t out[64];
	size_t fill = bytes % block;

	memset(&md, 0x5a, sizeof(md));
	md.bytes = bytes;
	blocks = 0;
	md_final(&md, out, 20, block, record);
	assert_int_equal(blocks, want_blocks);
	assert_memory_equal(last_block + block - 16, want_length, 16);
	if (want_blocks == 1)
		assert_int_equal(last_block[fill], 0x80);
	for (size_t i = want_blocks == 1 ? fill + 1 : 0; i < block - block / 8; i++)
		assert_int_equal(last_block[i], 0);
}

static void test_length_of_sha256(void **state)
{
	(void)state;
	/* 2^32 bits, and the bytes before the length are padding. */
	check(1ull << 29, 64, 1, (const uint8_t *)"\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0");
	check((1ull << 61) - 1, 64, 2,
	      (const uint8_t *)"\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xf8");
	check((1ull << 40) + 3, 64, 1, (const uint8_t *)"\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\0\x18");
}

static void test_length_of_sha512(void **state)
{
	(void)state;
	check(1ull << 29, 128, 1, (const uint8_t *)"\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0");
	check((1ull << 61) + 1, 128, 1, (const uint8_t *)"\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x08");
	check(UINT64_MAX, 128, 2,
	      (const uint8_t *)"\0\0\0\0\0\0\0\x07\xff\xff\xff\xff\xff\xff\xff\xf8");
}

/* The rows must be what the code and the contract take for granted. */
static void test_algorithm_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];

		assert_ptr_equal(algorithm_by_id(alg->id), alg);
		assert_ptr_equal(algorithm_by_name(alg->name), alg);
		if (alg->class != ALG_DIGEST)
			continue;
		assert_in_range(alg->out_bytes, 20, ALG_DIGEST_MAX_BYTES);
		assert_in_range(alg->block_bytes, 64, ALG_BLOCK_MAX_BYTES);
	}
	assert_null(algorithm_by_id(0));
	assert_null(algorithm_by_id(65539));
	assert_null(algorithm_by_name("sha"));
	assert_null(algorithm_by_name(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_length_of_sha256),
		cmocka_unit_test(test_length_of_sha512),
		cmocka_unit_test(test_algorithm_table),
	};

	return cmocka_run_group_tests_name("merkle-damgard", tests, NULL, NULL) != 0;
}
