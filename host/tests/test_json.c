/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <math.h>
#include <string.h>

#include "json.h"

static void expect_json(const char *value, size_t len, const char *want)
{
	struct json j = { 0 };

	json_bytes(&j, NULL, value, len);
	assert_string_equal(j.text, want);
	json_free(&j);
}

#define EXPECT(value, want) expect_json(value, sizeof(value) - 1, want)

static void test_escapes(void **state)
{
	(void)state;
	EXPECT("", "\"\"");
	EXPECT("a\"b\\c/", "\"a\\\"b\\\\c/\"");
	EXPECT("\n\t\x01\x1f\x7f", "\"\\u000a\\u0009\\u0001\\u001f\\u007f\"");
	EXPECT("a\0b", "\"a\\u0000b\"");
}

static void test_utf8_passes(void **state)
{
	(void)state;
	EXPECT("ä€😀", "\"ä€😀\"");
	EXPECT("\xed\x9f\xbf", "\"\xed\x9f\xbf\"");         /* U+D7FF */
	EXPECT("\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""); /* U+10FFFF */
}

static void test_what_is_not_utf8_is_replaced(void **state)
{
	(void)state;
	EXPECT("\x80", "\"\\ufffd\"");
	EXPECT("\xc0\xaf", "\"\\ufffd\\ufffd\""); /* overlong */
	EXPECT("\xc3", "\"\\ufffd\"");            /* cut off */
	EXPECT("\xe2\x82", "\"\\ufffd\\ufffd\"");
	EXPECT("\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	EXPECT("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* surrogate */
	EXPECT("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	EXPECT("\xff"
	       "ok",
	       "\"\\ufffdok\"");
	EXPECT("\xc3"
	       "a",
	       "\"\\ufffda\"");
}

static void test_groups_and_commas(void **state)
{
	struct json j = { 0 };

	(void)state;
	json_object(&j, NULL);
	json_i64(&j, "a", INT64_MIN);
	json_u64(&j, "b", UINT64_MAX);
	json_array(&j, "c");
	json_array_end(&j);
	json_array(&j, "d");
	json_bool(&j, NULL, true);
	json_null(&j, NULL);
	json_object(&j, NULL);
	json_object_end(&j);
	json_array_end(&j);
	json_string_or_null(&j, "e", "");
	json_string_or_null(&j, "f", NULL);
	json_string_or_null(&j, "g", "x");
	json_object_end(&j);
	assert_string_equal(j.text, "{\"a\":-9223372036854775808,"
				    "\"b\":18446744073709551615,\"c\":[],"
				    "\"d\":[true,null,{}],\"e\":null,\"f\":null,\"g\":\"x\"}");
	json_reset(&j);
	json_bool(&j, NULL, false);
	assert_string_equal(j.text, "false");
	assert_false(j.failed);
	json_free(&j);
}

static void test_numbers_json_has_not(void **state)
{
	struct json j = { 0 };

	(void)state;
	json_array(&j, NULL);
	json_double(&j, NULL, NAN);
	json_double(&j, NULL, INFINITY);
	json_double(&j, NULL, -INFINITY);
	json_double(&j, NULL, 0.5);
	json_double(&j, NULL, 1e300);
	json_array_end(&j);
	assert_string_equal(j.text, "[null,null,null,0.5,1e+300]");
	json_free(&j);
}

static void test_it_grows(void **state)
{
	struct json j = { 0 };

	(void)state;
	json_array(&j, NULL);
	for (int i = 0; i < 5000; i++)
		json_i64(&j, NULL, 7);
	json_array_end(&j);
	assert_int_equal(j.len, 2 + 5000 + 4999);
	assert_int_equal(strlen(j.text), j.len);
	json_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_utf8_passes),
		cmocka_unit_test(test_what_is_not_utf8_is_replaced),
		cmocka_unit_test(test_groups_and_commas),
		cmocka_unit_test(test_numbers_json_has_not),
		cmocka_unit_test(test_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
