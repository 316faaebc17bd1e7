/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "pool.h"

static const struct case_options defaults = {
	.samples = 30,
	.min_ns = 100000,
	.repeats = { 1 },
	.n_repeats = 1,
};

static int read_text(struct cases *cases, const char *text, size_t len, struct error *err)
{
	FILE *stream = fmemopen((void *)text, len, "r");
	int ret;

	assert_non_null(stream);
	ret = cases_read(cases, stream, "plan", &defaults, err);
	fclose(stream);
	return ret;
}

static void test_lines_comments_options(void **state)
{
	static const char text[] = "# a comment\n"
				   "\n"
				   "   \t\n"
				   "invoke/none/tee/none\n"
				   "  oneshot/sha256/tee/4096 samples=5 min_us=7 repeat=1,2,4 "
				   "loops=3  # why\r\n"
				   "oneshot/sha256/c/4096#no blank before it";
	struct cases cases = { 0 };
	struct error err = { 0 };
	const struct bench_case *c;

	(void)state;
	assert_int_equal(read_text(&cases, text, sizeof(text) - 1, &err), 0);
	assert_int_equal(cases.count, 3);

	c = &cases.list[0];
	assert_string_equal(c->key, "invoke/none/tee/none");
	assert_string_equal(c->workload_name, "invoke");
	assert_string_equal(c->algorithm_name, "none");
	assert_string_equal(c->backend_name, "tee");
	assert_string_equal(c->parameters, "none");
	assert_int_equal(c->line, 4);
	assert_int_equal(c->options.samples, 30);

	c = &cases.list[1];
	assert_string_equal(c->parameters, "4096");
	assert_int_equal(c->line, 5);
	assert_int_equal(c->options.samples, 5);
	assert_int_equal(c->options.min_ns, 7000);
	assert_int_equal(c->options.loops, 3);
	assert_int_equal(c->options.n_repeats, 3);
	assert_int_equal(c->options.repeats[2], 4);

	assert_string_equal(cases.list[2].key, "oneshot/sha256/c/4096");
	assert_int_equal(cases.list[2].options.samples, 30);
	cases_free(&cases);
}

static void test_names_survive_growth(void **state)
{
	struct cases cases = { 0 };
	struct error err = { 0 };
	char line[80], number[16];

	(void)state;
	for (int i = 0; i < 500; i++) {
		snprintf(line, sizeof(line), "oneshot/sha256/c/%d", i);
		assert_int_equal(cases_add_line(&cases, line, 0, &defaults, &err), 0);
	}
	for (int i = 0; i < 500; i++) {
		snprintf(number, sizeof(number), "%d", i);
		assert_string_equal(cases.list[i].parameters, number);
		assert_string_equal(cases.list[i].backend_name, "c");
	}
	cases_free(&cases);
}

/* Each is refused, and the message has the line's number and the word. */
static void test_what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *line, *word;
	} bad[] = {
		{ "oneshot/sha256/tee", "workload/algorithm/backend" },
		{ "oneshot", "workload/algorithm/backend" },
		{ "oneshot//tee/1", "empty part" },
		{ "oneshot/sha256/tee/", "empty part" },
		{ "oneshoot/sha256/tee/1", "no workload \"oneshoot\"" },
		{ "oneshot/sha256/tee/1 samples", "not option=value" },
		{ "oneshot/sha256/tee/1 samples=0", "samples is 0: it takes 1 or more" },
		{ "oneshot/sha256/tee/1 samples=-1", "not a decimal number" },
		{ "oneshot/sha256/tee/1 samples=99999999", "at most" },
		{ "oneshot/sha256/tee/1 samples=99999999999999999999999",
		  "too large, at most 1000000 is possible" },
		{ "oneshot/sha256/tee/1 samples=1 samples=2", "\"samples\" is there twice" },
		{ "oneshot/sha256/tee/1 min_us=1 loops=2 repeat=1 samples=1 min_us=1",
		  "\"min_us\" is there twice" },
		{ "oneshot/sha256/tee/1 samples=1 xsamples=2", "no option \"xsamples\"" },
		{ "oneshot/sha256/tee/1 samples=", "not a decimal number" },
		{ "oneshot/sha256/tee/1 min_us=1.5", "not a decimal number" },
		{ "oneshot/sha256/tee/1 colour=red", "no option \"colour\"" },
		{ "oneshot/sha256/tee/1 repeat=1,,2", "not a list" },
		{ "oneshot/sha256/tee/1 repeat=", "not a list" },
		{ "oneshot/sha256/tee/1 repeat=2,1", "ascend" },
		{ "oneshot/sha256/tee/1 repeat=0", "ascend" },
		{ "oneshot/sha256/tee/1 repeat=1,1", "ascend" },
		{ "oneshot/sha256/tee/1 repeat=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
		  "more than" },
		{ "oneshot/sha\x80/tee/1", "printable" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cases cases = { 0 };
		struct error err = { 0 };
		char text[256];

		snprintf(text, sizeof(text), "# first\n%s\n", bad[i].line);
		assert_int_equal(read_text(&cases, text, strlen(text), &err), -EINVAL);
		assert_non_null(strstr(err.what, "plan:2: "));
		assert_non_null(strstr(err.what, bad[i].word));
		cases_free(&cases);
	}
}

static void test_a_case_twice(void **state)
{
	static const char text[] = "invoke/none/tee/none\n\n"
				   "invoke/none/tee/none samples=2\n";
	struct cases cases = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(read_text(&cases, text, sizeof(text) - 1, &err), -EINVAL);
	assert_non_null(strstr(err.what, "plan:3: "));
	assert_non_null(strstr(err.what, "first in line 1"));
	cases_free(&cases);
}

static void test_a_nul_byte(void **state)
{
	static const char text[] = "invoke/none/tee/none\0x\n";
	struct cases cases = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(read_text(&cases, text, sizeof(text) - 1, &err), -EINVAL);
	assert_non_null(strstr(err.what, "plan:1: a NUL byte"));
	cases_free(&cases);
}

static void test_too_long_a_key(void **state)
{
	struct cases cases = { 0 };
	struct error err = { 0 };
	char text[400] = "oneshot/sha256/tee/";

	(void)state;
	memset(text + strlen(text), '1', 300);
	assert_int_equal(cases_add_line(&cases, text, 9, &defaults, &err), -EINVAL);
	assert_non_null(strstr(err.what, "longer than"));
	cases_free(&cases);
}

/* The workloads' own part: numbers without two ways to write them. */
static int parse_one(const char *key, struct error *err)
{
	struct cases cases = { 0 };
	struct pool pool = { 0 };
	int ret = cases_add_line(&cases, key, 1, &defaults, err);

	if (!ret)
		ret = case_parse(&cases.list[0], &pool, err);
	cases_free(&cases);
	return ret;
}

static void test_workloads_check_their_parts(void **state)
{
	static const char *const good[] = {
		"oneshot/sha256/tee/0",   "oneshot/sha3-512/afalg/1048576",
		"invoke/none/empty/none", "invoke/none/ta-ce/none",
		"oneshot/sha1/empty/1",
	};
	static const char *const bad[] = {
		"oneshot/none/tee/0",
		"oneshot/md5/tee/0",
		"oneshot/sha256/gpu/0",
		"oneshot/sha256/tee/01",
		"oneshot/sha256/tee/1k",
		"oneshot/sha256/tee/-1",
		"oneshot/sha256/tee/99999999999",
		"oneshot/sha256/tee/1/2",
		"invoke/sha256/tee/none",
		"invoke/none/tee/everything",
		"invoke/none/gpu/none",
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(parse_one(good[i], &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(parse_one(bad[i], &err), -EINVAL);
		assert_true(err.what[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_comments_options),
		cmocka_unit_test(test_names_survive_growth),
		cmocka_unit_test(test_what_is_wrong_is_named),
		cmocka_unit_test(test_a_case_twice),
		cmocka_unit_test(test_a_nul_byte),
		cmocka_unit_test(test_too_long_a_key),
		cmocka_unit_test(test_workloads_check_their_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
