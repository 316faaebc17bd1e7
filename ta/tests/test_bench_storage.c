/* SPDX-License-Identifier: BSD-2-Clause */
/* The bench TA's persistent objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench_client.h"
#include "shim.h"

static TEE_Result open_object(void *s, const char *name, uint32_t storage, uint32_t *size)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, name, strlen(name)), strlen(name)),
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

static TEE_Result write_object(void *s, const void *data, size_t len, uint32_t offset)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(IN, data, len), len), VALUE(offset, 0) };

	return invoke(s, TA_BENCH_CMD_STORAGE_WRITE, 0x0015, p);
}

static TEE_Result rename_object(void *s, const char *name)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, name, strlen(name)), strlen(name)) };

	return invoke(s, TA_BENCH_CMD_STORAGE_RENAME, 0x0005, p);
}

static TEE_Result truncate_object(void *s, uint32_t size)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(size, 0) };

	return invoke(s, TA_BENCH_CMD_STORAGE_TRUNCATE, 0x0001, p);
}

static void test_storage(void **state)
{
	void *s = *state, *other = open_session();
	uint8_t data[7000];
	uint32_t size;
	size_t n;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(call_create(s, "one", data, 7000, 0), TEE_SUCCESS);
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
	assert_int_equal(open_object(other, "one", 0, &size), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(call_create(other, "one", "", 0, 0), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(write_object(s, "xyz", 3, 7010), TEE_SUCCESS);
	assert_int_equal(rename_object(s, "two"), TEE_SUCCESS);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_STORAGE_CLOSE), TEE_SUCCESS);
	assert_int_equal(open_object(other, "one", 0, &size), TEE_ERROR_ITEM_NOT_FOUND);
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
	assert_int_equal(call_create(s, "one", "1", 1, 0), TEE_SUCCESS);
	assert_int_equal(rename_object(s, "two"), TEE_ERROR_ACCESS_CONFLICT);
	assert_int_equal(rename_object(s, "one"), TEE_ERROR_ACCESS_CONFLICT);
	/* Opening another closes this one. */
	assert_int_equal(call_create(s, "three", "33", 2, 0), TEE_SUCCESS);
	assert_int_equal(open_object(s, "one", 0, &size), TEE_SUCCESS);
	assert_int_equal(size, 1);
	assert_int_equal(call_create(s, "one", "new", 3, 0), TEE_SUCCESS);
	n = 10;
	assert_int_equal(read_object(s, &n, 0), TEE_SUCCESS);
	assert_int_equal(n, 3);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_STORAGE_DELETE), TEE_SUCCESS);
	assert_int_equal(open_object(s, "one", 0, &size), TEE_ERROR_ITEM_NOT_FOUND);
	/* A session that ends closes. */
	TA_CloseSessionEntryPoint(other);
	assert_int_equal(open_object(s, "two", 0, &size), TEE_SUCCESS);
}

static TEE_Result fetch_object(void *s, const char *name, size_t *len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, name, strlen(name)), strlen(name)),
					MEMREF(OUT, *len), VALUE(0, 0) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_STORAGE_FETCH, 0x0165, p);

	*len = p[1].memref.size;
	return res;
}

/* Opens, reads and closes: nothing is open then, and anybody may open it. */
static void test_fetch(void **state)
{
	void *s = *state, *other = open_session();
	uint32_t size;
	size_t n = 10;

	assert_int_equal(fetch_object(s, "one", &n), TEE_ERROR_ITEM_NOT_FOUND);
	assert_int_equal(call_create(s, "one", "12345", 5, 0), TEE_SUCCESS);
	for (int again = 0; again < 2; again++) {
		n = 10;
		memset(OUT, 0, 10);
		assert_int_equal(fetch_object(s, "one", &n), TEE_SUCCESS);
		assert_int_equal(n, 5);
		assert_memory_equal(OUT, "12345", 6);
		assert_int_equal(call_plain(s, TA_BENCH_CMD_STORAGE_CLOSE), BAD_STATE);
	}
	n = 3;
	assert_int_equal(fetch_object(s, "one", &n), TEE_SUCCESS);
	assert_int_equal(n, 3);
	n = 0;
	assert_int_equal(fetch_object(s, "one", &n), BAD_PARAMETERS);
	assert_int_equal(open_object(other, "one", 0, &size), TEE_SUCCESS);
	n = 10;
	assert_int_equal(fetch_object(s, "one", &n), TEE_ERROR_ACCESS_CONFLICT);
	TA_CloseSessionEntryPoint(other);
}

static void check_nothing_open(void *s)
{
	size_t n = 10;

	assert_int_equal(read_object(s, &n, 0), BAD_STATE);
	assert_int_equal(write_object(s, "1", 1, 0), BAD_STATE);
	assert_int_equal(rename_object(s, "1"), BAD_STATE);
	assert_int_equal(truncate_object(s, 1), BAD_STATE);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_STORAGE_DELETE), BAD_STATE);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_STORAGE_CLOSE), BAD_STATE);
}

static void test_storage_out_of_sequence(void **state)
{
	char name[66] = { 0 };
	uint32_t size;
	void *s = *state;

	check_nothing_open(s);
	memset(name, 'n', 65);
	assert_int_equal(call_create(s, name, "1", 1, 0), BAD_PARAMETERS);
	assert_int_equal(call_create(s, "", "1", 1, 0), BAD_PARAMETERS);
	assert_int_equal(open_object(s, name, 0, &size), BAD_PARAMETERS);
	assert_int_equal(call_create(s, "x", "1", 1, 2), NOT_SUPPORTED);
	assert_int_equal(open_object(s, "x", 2, &size), NOT_SUPPORTED);
	assert_int_equal(call_create(s, "x", "1", 1, TA_BENCH_STORAGE_RPMB),
			 TEE_ERROR_ITEM_NOT_FOUND);
	assert_int_equal(open_object(s, "x", TA_BENCH_STORAGE_RPMB, &size),
			 TEE_ERROR_ITEM_NOT_FOUND);
	check_nothing_open(s);
	assert_int_equal(open_object(s, "none", 0, &size), TEE_ERROR_ITEM_NOT_FOUND);
	assert_int_equal(size, 77);
	name[64] = 0;
	assert_int_equal(call_create(s, name, "1", 0, 0), TEE_SUCCESS);
	assert_int_equal(rename_object(s, ""), BAD_PARAMETERS);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_STORAGE_DELETE), TEE_SUCCESS);
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

	assert_int_equal(call_create(s, "x", "123", 3, 0), TEE_SUCCESS);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		TEE_Param write[TEE_NUM_PARAMS] = { MEMREF(IN, ranges[i].len),
						    VALUE(ranges[i].offset, 0) };
		size_t n = ranges[i].len;

		assert_int_equal(read_object(s, &n, ranges[i].offset),
				 ranges[i].ok ? TEE_SUCCESS : BAD_PARAMETERS);
		assert_int_equal(invoke(s, TA_BENCH_CMD_STORAGE_WRITE, 0x0015, write),
				 ranges[i].ok ? TEE_SUCCESS : BAD_PARAMETERS);
	}
	assert_int_equal(truncate_object(s, TA_BENCH_OBJECT_MAX), TEE_SUCCESS);
	assert_int_equal(truncate_object(s, TA_BENCH_OBJECT_MAX + 1), BAD_PARAMETERS);
	assert_int_equal(truncate_object(s, 0), TEE_SUCCESS);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_STORAGE_DELETE), TEE_SUCCESS);
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

			assert_int_equal(call_create(s, "x", "123", 3, 0), TEE_SUCCESS);
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
				assert_int_equal(read_object(s, &n, 0), TEE_SUCCESS);
		}
		shim_storage_result = results[i];
		assert_int_equal(call_create(s, "x", "123", 3, 0), results[i]);
		assert_int_equal(open_object(s, "x", 0, &size), results[i]);
		shim_storage_result = 0;
		check_nothing_open(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_storage),
		TEST(test_fetch),
		TEST(test_storage_out_of_sequence),
		TEST(test_storage_bounds),
		TEST(test_storage_failures),
	};

	return cmocka_run_group_tests_name("bench TA: storage", tests, NULL, NULL) != 0;
}
