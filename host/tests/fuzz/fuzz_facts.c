/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever /proc, /sys, the device tree and the kernel's trace say: every file
 * there holds a piece of the input, or is not there. What comes out is JSON.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts.h"
#include "json.h"
#include "machine.h"
#include "ta_counter.h"
#include "tracepoints.h"
#include "witness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_popen(const char *command, const char *mode);
int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __real_rmdir(const char *path);
int __wrap_rmdir(const char *path);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

static const uint8_t *input;
static size_t left;

static bool of_kernel(const char *path)
{
	return input && (!strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5));
}

/* A file of the kernel's, for a reader; -1: there is none. */
static int make_file(void)
{
	size_t len;
	int fd;

	if (left < 2 || input[0] == 0xff) {
		left -= left != 0;
		input += left != 0;
		errno = ENOENT;
		return -1;
	}
	len = (size_t)input[0] << 4 | input[1] >> 4;
	input += 2;
	left -= 2;
	len = len < left ? len : left;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, input, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))
		abort();
	input += len;
	left -= len;
	return fd;
}

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if (of_kernel(path))
		return flags & O_WRONLY ? __real_open("/dev/null", O_WRONLY) : make_file();
	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	return __real_open(path, flags, mode);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	int fd;

	if (!of_kernel(path))
		return __real_fopen(path, mode);
	fd = make_file();
	return fd < 0 ? NULL : fdopen(fd, "r");
}

/* No program is started. */
FILE *__wrap_popen(const char *command, const char *mode)
{
	(void)command;
	(void)mode;
	return NULL;
}

int __wrap_access(const char *path, int mode)
{
	return of_kernel(path) ? 0 : __real_access(path, mode);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	return of_kernel(path) ? 0 : __real_mkdir(path, mode);
}

int __wrap_rmdir(const char *path)
{
	return of_kernel(path) ? 0 : __real_rmdir(path);
}

DIR *__wrap_opendir(const char *path)
{
	return __real_opendir(of_kernel(path) ? "/proc/self/task" : path);
}

static void fuzz_legs(void)
{
	static struct tracepoint_leg list[TRACE_LEGS_MAX];
	struct tracepoint_legs legs = { .list = list };
	struct error err = { 0 };
	struct tracepoints *trace;

	if (tracepoints_open_legs(&trace, &err))
		return;
	if (!tracepoints_start_legs(trace, &err) && !tracepoints_stop_legs(trace, &legs, &err))
		for (size_t i = 0; i < legs.count; i++)
			if (list[i].begin_ns > list[i].end_ns)
				abort();
	tracepoints_close_legs(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ta_counter none;
	struct tracepoint_counts counts = { 0 };
	struct tracepoints *trace;
	struct idle_evidence idle = { .looked = true };
	struct evidence watched = { .calls = 1 };
	struct json json = { 0 };

	input = data;
	left = size;
	json_object(&json, NULL);
	machine_put(&json, &none, false);
	machine_put_after(&json);
	watched.before = idle.before = read_whole("/proc/interrupts", 4096);
	watched.after = idle.after = read_whole("/proc/interrupts", 4096);
	witness_put(&json, &watched, &idle);
	witness_free(&watched);
	json_object_end(&json);
	/* On one line, whatever was in the files. */
	for (const char *p = json.text; p && *p; p++)
		if ((unsigned char)*p < 0x20)
			abort();
	json_free(&json);
	tracepoints_begin(&trace, NULL);
	tracepoints_end(trace, &counts, NULL);
	if (counts.complete > counts.returns)
		abort();
	fuzz_legs();
	input = NULL;
	return 0;
}
