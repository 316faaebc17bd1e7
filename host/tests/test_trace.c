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

#include "trace.h"

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
		"buffer_size_kb",      "set_event_pid",
		"options/event-fork",  "events/optee/optee_invoke_fn_end/enable",
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
	make(folder, "per_cpu/cpu0/stats", "overrun: 3\n");
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
	struct trace_counts counts = { 0 };
	struct error err = { 0 };
	struct trace *trace;

	(void)state;
	assert_int_equal(trace_begin(&trace, &err), 0);
	assert_int_equal(instances(), 1);
	assert_int_equal(trace_end(trace, &counts, &err), -ENOBUFS);
	assert_int_equal(instances(), 0);
	assert_int_equal(counts.complete, 1);
	assert_int_equal(counts.returns, 1);
	assert_string_equal(err.what, "3 events found no room in the trace buffer");
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
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
