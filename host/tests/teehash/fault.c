/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LD_PRELOAD: read() of a file whose size is FAULT_SIZE fails with EIO after
 * FAULT_AT bytes; or, with FAULT_DO, that happens to the file instead:
 * "truncate" or "append". With FAULT_THREADS no thread can be started; with
 * FAULT_ALARM no alarm ever rings, and one that is set makes the file of that
 * name; and a stack that is too small on some architecture ends the program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void change(int fd, const char *what)
{
	char path[64];
	int rw;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rw = open(path, O_WRONLY | O_APPEND);
	if (rw < 0)
		abort();
	if (!strcmp(what, "truncate") ? ftruncate(rw, 10) : (write(rw, "more", 4) != 4))
		abort();
	close(rw);
}

ssize_t read(int fd, void *buf, size_t count)
{
	static ssize_t (*real)(int, void *, size_t);
	static int changed;
	const char *size = getenv("FAULT_SIZE");
	const char *at = getenv("FAULT_AT");
	const char *what = getenv("FAULT_DO");
	struct stat st;

	if (!real) {
		void *symbol = dlsym(RTLD_NEXT, "read");

		memcpy(&real, &symbol, sizeof(real));
	}
	if (size && at && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    (changed || st.st_size == atoll(size))) {
		off_t left = (off_t)atoll(at) - lseek(fd, 0, SEEK_CUR);

		if (left > 0 && (off_t)count > left) {
			count = (size_t)left;
		} else if (left <= 0 && !what) {
			errno = EIO;
			return -1;
		} else if (left <= 0 && !changed) {
			changed = 1;
			change(fd, what);
		}
	}
	return real(fd, buf, count);
}

int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
{
	(void)attr;
	if (size < 131072) /* PTHREAD_STACK_MIN of aarch64 */
		abort();
	return 0;
}

unsigned int alarm(unsigned int seconds)
{
	unsigned int (*real)(unsigned int);
	void *symbol = dlsym(RTLD_NEXT, "alarm");
	const char *file = getenv("FAULT_ALARM");

	memcpy(&real, &symbol, sizeof(real));
	if (file)
		close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	return real(file ? 0 : seconds);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	void *symbol;

	if (getenv("FAULT_THREADS"))
		return EAGAIN;
	if (!real) {
		symbol = dlsym(RTLD_NEXT, "pthread_create");
		memcpy(&real, &symbol, sizeof(real));
	}
	return real(thread, attr, run, arg);
}
