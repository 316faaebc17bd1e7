/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts are right, and no instance of the kernel's tracing is left behind.
 * The instance is a folder of the test's own, which can't be removed while a file
 * in it is open, as the kernel has it.
 */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracepoints.h"

#define ROOT "/sys/kernel/tracing"

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __real_rmdir(const char *path);
int __wrap_rmdir(const char *path);

static char root[] = "/tmp/test_trace.XXXXXX";
static const char *overrun = "overrun: 3\n";

static const char *mine(const char *path)
{
	static char other[300];

	if (strncmp(path, ROOT, strlen(ROOT)))
		return path;
	snprintf(other, sizeof(other), "%s%s", root, path + strlen(ROOT));
	return other;
}

int __wrap_access(const char *path, int mode)
{
	return __real_access(mine(path), mode);
}

int __wrap_open(const char *path, int flags, ...)
{
	return __real_open(mine(path), flags);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return __real_fopen(mine(path), mode);
}

DIR *__wrap_opendir(const char *path)
{
	return __real_opendir(mine(path));
}

int __wrap_stat(const char *path, struct stat *st)
{
	return __real_stat(mine(path), st);
}

static void make(const char *folder, const char *name, const char *text)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *at = strchr(path + strlen(folder) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		__real_mkdir(path, 0700);
		*at = '/';
	}
	f = __real_fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	static const char *const files[] = {
		"buffer_size_kb",
		"set_event_pid",
		"options/event-fork",
		"trace_clock",
		"tracing_on",
		"events/optee/optee_invoke_fn_begin/enable",
		"events/optee/optee_invoke_fn_end/enable",
		"events/optee/enable",
	};
	char folder[300];

	snprintf(folder, sizeof(folder), "%s", mine(path));
	if (__real_mkdir(folder, mode))
		return -1;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		make(folder, files[i], "0\n");
	make(folder, "trace",
	     "  x-1 [000] ..... 1.000001: optee_invoke_fn_end: param=0 ret (0, 0, 0, 0)\n");
	make(folder, "per_cpu/cpu0/stats", overrun);
	return 0;
}

static int take_away(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static bool has_open_file(const char *folder)
{
	char link[32], target[400];

	for (int fd = 3; fd < 1024; fd++) {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, target, sizeof(target) - 1);
		if (n > 0 && !strncmp(target, folder, strlen(folder)))
			return true;
	}
	return false;
}

int __wrap_rmdir(const char *path)
{
	const char *folder = mine(path);

	if (has_open_file(folder)) {
		errno = EBUSY;
		return -1;
	}
	return nftw(folder, take_away, 8, FTW_DEPTH | FTW_PHYS);
}

static unsigned instances(void)
{
	char path[64];
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/instances", root);
	dir = __real_opendir(path);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void test_what_is_counted(void **state)
{
	struct tracepoint_counts counts = { 0 };
	struct error err = { 0 };
	struct tracepoints *trace;

	(void)state;
	assert_int_equal(tracepoints_begin(&trace, &err), 0);
	assert_int_equal(instances(), 1);
	assert_int_equal(tracepoints_end(trace, &counts, &err), -ENOBUFS);
	assert_int_equal(instances(), 0);
	assert_int_equal(counts.complete, 1);
	assert_int_equal(counts.returns, 1);
	assert_string_equal(err.what, "3 events found no room in the trace buffer");
}

/* Returns what tracepoints_stop_legs() says of a call whose trace is `text`, and the legs in *legs. */
static int legs_of(const char *text, struct tracepoint_legs *legs, struct error *err)
{
	char folder[100];
	struct tracepoints *trace;
	int ret;

	snprintf(folder, sizeof(folder), "%s/instances/teemark-%d", root, (int)getpid());
	assert_int_equal(tracepoints_open_legs(&trace, err), 0);
	assert_int_equal(tracepoints_start_legs(trace, err), 0);
	make(folder, "trace", text);
	ret = tracepoints_stop_legs(trace, legs, err);
	tracepoints_close_legs(trace);
	assert_int_equal(instances(), 0);
	return ret;
}

#define LINE(stamp, what) "  a: b-12 [001] d..2. " stamp ": optee_invoke_fn_" what "\n"
#define BEGIN(stamp)      LINE(stamp, "begin: param=0xff00 (32000004, 0, 0)")
#define END(stamp, ret)   LINE(stamp, "end: param=0xff00 ret (" ret ", 0, 0, 0)")

/* A leg may end in the microsecond in which it began; seconds count. */
static void test_the_legs_of_a_call(void **state)
{
	struct tracepoint_leg list[4];
	struct tracepoint_legs legs = { .list = list };
	struct error err = { 0 };

	(void)state;
	overrun = "overrun: 0\n";
	assert_int_equal(legs_of("# tracer: nop\n" BEGIN("7.999998") END("8.000001", "ffff0004")
					 BEGIN("8.000010") END("8.000010", "ffff0005")
						 BEGIN("8.000100") END("9.000200", "0"),
				 &legs, &err),
			 0);
	assert_int_equal(legs.count, 3);
	assert_int_equal(list[0].begin_ns, 7999998000);
	assert_int_equal(list[0].end_ns, 8000001000);
	assert_int_equal(list[0].ret, 0xffff0004);
	assert_int_equal(list[1].end_ns - list[1].begin_ns, 0);
	assert_int_equal(list[1].ret, 0xffff0005);
	assert_int_equal(list[2].end_ns - list[2].begin_ns, 1000100000);
	assert_int_equal(list[2].ret, 0);
}

static void test_a_trace_that_cannot_be_right_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		BEGIN("1.000001"),
		END("1.000001", "0"),
		BEGIN("1.000001") BEGIN("1.000002") END("1.000003", "0"),
		BEGIN("1.000003") END("1.000002", "0"),
	};
	struct tracepoint_leg list[4];
	struct tracepoint_legs legs = { .list = list };

	(void)state;
	overrun = "overrun: 0\n";
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct error err = { 0 };

		assert_int_equal(legs_of(texts[i], &legs, &err), -EPROTO);
	}
}

static void test_legs_that_found_no_room_are_told(void **state)
{
	struct tracepoint_leg list[4];
	struct tracepoint_legs legs = { .list = list };
	struct error err = { 0 };

	(void)state;
	overrun = "entries: 9\noverrun: 12\n";
	assert_int_equal(legs_of(BEGIN("1.000001") END("1.000002", "0"), &legs, &err), -ENOBUFS);
	assert_string_equal(err.what, "12 events found no room in the trace buffer");
}

/* An interrupt is no request of the TEE. */
static void test_returns_are_counted_by_their_kind(void **state)
{
	static const char text[] = END("1.1", "0") END("1.000002", "ffff0000")
		END("1.000003", "ffff0002") END("1.000004", "ffff0002") END("1.000005", "ffff0004")
			END("1.000006", "ffff0004") END("1.000007", "ffff0004")
				END("1.000008", "ffff0005") END("1.000009", "ffff0009")
					END("1.000010", "0");
	struct tracepoint_counts counts = { 0 };
	struct error err = { 0 };
	struct tracepoints *trace;
	char folder[100];

	(void)state;
	overrun = "overrun: 0\n";
	snprintf(folder, sizeof(folder), "%s/instances/teemark-%d", root, (int)getpid());
	assert_int_equal(tracepoints_begin(&trace, &err), 0);
	make(folder, "trace", text);
	assert_int_equal(tracepoints_end(trace, &counts, &err), 0);
	assert_int_equal(counts.returns, 9); /* a stamp without six digits is none */
	assert_int_equal(counts.complete, 1);
	assert_int_equal(counts.alloc, 1);
	assert_int_equal(counts.free, 2);
	assert_int_equal(counts.interrupts, 3);
	assert_int_equal(counts.command, 1);
	assert_int_equal(counts.other, 1);
	assert_int_equal(tracepoints_rpcs(&counts), 5);
}

static int prepare(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	make(root, "instances/.keep", "");
	make(root, "events/optee/optee_invoke_fn_end", "");
	return 0;
}

static int clean(void **state)
{
	(void)state;
	return nftw(root, take_away, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_counted),
		cmocka_unit_test(test_the_legs_of_a_call),
		cmocka_unit_test(test_a_trace_that_cannot_be_right_is_refused),
		cmocka_unit_test(test_legs_that_found_no_room_are_told),
		cmocka_unit_test(test_returns_are_counted_by_their_kind),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
