/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink.h"

static char folder[] = "/tmp/test_sink.XXXXXX";
static char path[64], partial[64];

static int make_folder(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/run", folder);
	snprintf(partial, sizeof(partial), "%s/run.partial", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(partial);
	return rmdir(folder);
}

static void read_back(const char *name, char *text, size_t size)
{
	FILE *file = fopen(name, "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
}

static int record(struct sink *sink, const char *text, struct error *err)
{
	struct json j = { 0 };
	int ret;

	json_string(&j, NULL, text);
	ret = sink_record(sink, &j, err);
	json_free(&j);
	return ret;
}

static void test_a_file_gets_its_name_at_the_end(void **state)
{
	struct error err = { 0 };
	struct sink sink;
	char text[64];

	(void)state;
	assert_int_equal(sink_open(&sink, path, &err), 0);
	assert_int_equal(record(&sink, "one", &err), 0);
	assert_int_not_equal(access(path, F_OK), 0);
	read_back(partial, text, sizeof(text));
	assert_string_equal(text, "\"one\"\n");
	assert_int_equal(record(&sink, "two", &err), 0);
	assert_int_equal(sink_close(&sink, &err), 0);
	assert_int_not_equal(access(partial, F_OK), 0);
	read_back(path, text, sizeof(text));
	assert_string_equal(text, "\"one\"\n\"two\"\n");
	unlink(path);
}

static void test_held_lines_come_at_the_end_and_in_order(void **state)
{
	struct error err = { 0 };
	struct sink sink;
	char text[4096], want[16];
	const char *at = text;

	(void)state;
	assert_int_equal(sink_open(&sink, path, &err), 0);
	assert_int_equal(record(&sink, "first", &err), 0);
	sink.hold = true;
	for (int i = 0; i < 100; i++) {
		snprintf(want, sizeof(want), "%d", i);
		assert_int_equal(record(&sink, want, &err), 0);
	}
	read_back(partial, text, sizeof(text));
	assert_string_equal(text, "\"first\"\n");
	assert_int_equal(sink_release(&sink, &err), 0);
	assert_int_equal(sink_close(&sink, &err), 0);
	read_back(path, text, sizeof(text));
	assert_memory_equal(at, "\"first\"\n", 8);
	at += 8;
	for (int i = 0; i < 100; i++) {
		snprintf(want, sizeof(want), "\"%d\"\n", i);
		assert_memory_equal(at, want, strlen(want));
		at += strlen(want);
	}
	assert_string_equal(at, "");
	unlink(path);
}

/* A full disk, in the middle of a line: nothing of that line stays. */
static void test_a_full_disk_leaves_whole_lines(void **state)
{
	struct rlimit old, small = { .rlim_cur = 20 };
	struct error err = { 0 };
	struct sink sink;
	char text[64];

	(void)state;
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	assert_int_equal(sink_open(&sink, path, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(record(&sink, "0123456789", &err), 0);
	assert_int_equal(record(&sink, "0123456789", &err), -EFBIG);
	assert_true(err.what[0]);
	/* nothing more is written, and the file keeps its partial name */
	assert_int_equal(record(&sink, "x", &err), -EFBIG);
	assert_int_equal(sink_close(&sink, &err), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	read_back(partial, text, sizeof(text));
	assert_string_equal(text, "\"0123456789\"\n");
	assert_int_not_equal(access(path, F_OK), 0);
	unlink(partial);
}

static void test_a_device_is_written_as_it_is(void **state)
{
	struct error err = { 0 };
	struct sink sink;

	(void)state;
	assert_int_equal(sink_open(&sink, "/dev/full", &err), 0);
	assert_int_equal(record(&sink, "x", &err), -ENOSPC);
	assert_non_null(strstr(err.what, "/dev/full"));
	assert_true(err.hint[0]);
	assert_int_equal(sink_close(&sink, &err), -ENOSPC);
}

static void test_no_such_folder(void **state)
{
	struct error err = { 0 };
	struct sink sink;

	(void)state;
	assert_int_equal(sink_open(&sink, "/no/such/folder/run", &err), -ENOENT);
	assert_non_null(strstr(err.what, "/no/such/folder/run"));
	assert_int_equal(sink_close(&sink, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_gets_its_name_at_the_end),
		cmocka_unit_test(test_held_lines_come_at_the_end_and_in_order),
		cmocka_unit_test(test_a_full_disk_leaves_whole_lines),
		cmocka_unit_test(test_a_device_is_written_as_it_is),
		cmocka_unit_test(test_no_such_folder),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
