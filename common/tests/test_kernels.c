/* SPDX-License-Identifier: BSD-2-Clause */
/* The loops of kernels.h against plain ones that are told of here anew. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <teemark/kernels.h>

static uint64_t little_endian(const uint8_t *p, size_t len)
{
	uint64_t x = 0;

	for (size_t i = len < 8 ? len : 8; i--;)
		x = x << 8 | p[i];
	return x;
}

/* Every length, from and to every alignment, in blocks of several sizes. */
static void test_memcpy(void **state)
{
	static const size_t blocks[] = { 1, 7, 8, 64, 200, 4096 };

	(void)state;
	for (size_t len = 0; len < 700; len++) {
		for (size_t i = 0; i < 6; i++) {
			size_t block = blocks[i];
			size_t from = len % 9, to = len / 9 % 9;
			uint8_t *src = malloc(len + from + 1);
			uint8_t *dst = malloc(block + to);
			uint8_t expected[4096];
			size_t last = 0;
			uint64_t sum;

			memset(dst, 0xee, block + to);
			memset(expected, 0xee, sizeof(expected));
			for (size_t j = 0; j < len; j++) {
				src[from + j] = (uint8_t)(j * 37 + j / 256 + 1);
				expected[j % block] = src[from + j];
				last = j % block + 1;
			}
			sum = kernel_memcpy(dst + to, block, src + from, len);
			assert_memory_equal(dst + to, expected, block);
			assert_true(sum ==
				    little_endian(expected, last) +
					    3 * little_endian(expected + (last < 8 ? 0 : last - 8),
							      last));
			free(src);
			free(dst);
		}
	}
}

static void test_memtouch(void **state)
{
	(void)state;
	for (size_t len = 0; len < 700; len++) {
		for (size_t offset = 0; offset < 9; offset++) {
			uint8_t *base = malloc(len + offset + 1);
			uint64_t sum = 0;

			for (size_t i = 0; i < len; i++)
				base[offset + i] = (uint8_t)(i * 91 + 5);
			for (size_t i = 0; i + 8 <= len; i += 64)
				sum += little_endian(base + offset + i, 8);
			assert_true(kernel_memtouch(base + offset, len) == sum);
			free(base);
		}
	}
}

/* Values computed by hand in Python: x = (x * a + c) % 2**64. */
static void test_intloop(void **state)
{
	(void)state;
	assert_true(kernel_intloop(0) == 0);
	assert_true(kernel_intloop(1) == 0x14057b7ef767814full);
	assert_true(kernel_intloop(2) == 0x1a08ee1184ba6d32ull);
	assert_true(kernel_intloop(1000) == 0x0c861315d1e44e08ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memcpy),
		cmocka_unit_test(test_memtouch),
		cmocka_unit_test(test_intloop),
	};

	return cmocka_run_group_tests_name("kernels", tests, NULL, NULL) != 0;
}
