/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "error.h"

static void test_set_and_hint(void **state)
{
	struct error err = { .what = "old", .hint = "old", .skip = "old" };

	(void)state;
	assert_int_equal(error_set(&err, -ENOENT, "no %s", "file"), -ENOENT);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.what, "no file");
	assert_string_equal(err.hint, "");
	assert_null(err.skip);
	error_hint(&err, NULL, "make %d", 7);
	assert_string_equal(err.hint, "make 7");

	assert_int_equal(error_skip(&err, -ENODEV, "no-tee", "none"), -ENODEV);
	assert_string_equal(err.skip, "no-tee");
	assert_string_equal(err.hint, "");
}

static void test_null_is_accepted(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(error_skip(NULL, -EIO, "w", "x"), -EIO);
	assert_int_equal(error_tee(NULL, 0xFFFF000C, 3, "x"), -ENOMEM);
	error_hint(NULL, NULL, "x");
	error_skip_word(NULL, "x");
}

static void test_tee_names_code_and_origin(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(error_tee(&err, 0xFFFF000C, 4, "cannot do %d", 1), -ENOMEM);
	assert_non_null(strstr(err.what, "cannot do 1: TEE_ERROR_OUT_OF_MEMORY"));
	assert_non_null(strstr(err.what, "0xffff000c"));
	assert_non_null(strstr(err.what, "trusted application"));
	assert_true(err.hint[0]);
	assert_int_equal(err.tee_result, 0xFFFF000C);
	assert_int_equal(err.tee_origin, 4);
}

static void test_who_had_no_memory(void **state)
{
	struct error err;

	(void)state;
	for (uint32_t origin = 1; origin <= 4; origin++) {
		bool ours = origin <= 2;

		error_tee(&err, 0xFFFF000C, origin, "x");
		assert_int_equal(strstr(err.hint, "secure world") != NULL, !ours);
		assert_int_equal(strstr(err.hint, "kernel's driver") != NULL, ours);
	}
	error_tee(&err, 0xFFFF000D, 1, "x");
	assert_non_null(strstr(err.hint, "another client"));
}

static void test_tee_result_without_a_name(void **state)
{
	struct error err;

	(void)state;
	assert_null(tee_result_name(0x12345678));
	assert_int_equal(error_tee(&err, 0x12345678, 9, "x"), -EIO);
	assert_non_null(strstr(err.what, "0x12345678"));
	assert_non_null(strstr(err.what, "unknown origin"));
}

static void test_a_success_is_never_an_error_of_0(void **state)
{
	(void)state;
	assert_int_equal(error_tee(NULL, 0, 0, "x"), -EIO);
}

static void test_always_one_line(void **state)
{
	char name[600];
	struct error err;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	name[3] = '\n';
	name[5] = '\x1b';
	error_set(&err, -EIO, "cannot read %s", name);
	assert_null(strchr(err.what, '\n'));
	assert_null(strchr(err.what, '\x1b'));
	assert_int_equal(strlen(err.what), sizeof(err.what) - 1);
	/* and what comes after a full sentence does not overflow */
	assert_int_equal(error_tee(&err, 0xFFFF3024, 3, "cannot %s", name), -EHOSTDOWN);
	assert_int_equal(strlen(err.what), sizeof(err.what) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_and_hint),
		cmocka_unit_test(test_null_is_accepted),
		cmocka_unit_test(test_tee_names_code_and_origin),
		cmocka_unit_test(test_who_had_no_memory),
		cmocka_unit_test(test_tee_result_without_a_name),
		cmocka_unit_test(test_a_success_is_never_an_error_of_0),
		cmocka_unit_test(test_always_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
