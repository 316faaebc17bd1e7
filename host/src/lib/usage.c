/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "usage.h"

void usage_open(struct usage_meter *meter)
{
	meter->schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

void usage_close(struct usage_meter *meter)
{
	if (meter->schedstat_fd >= 0)
		close(meter->schedstat_fd);
	meter->schedstat_fd = -1;
}

/* Parses "run-ns wait-ns slices", and returns wait-ns; -1 if it isn't known. */
static int64_t read_runq(int fd)
{
	char text[96], *end;
	ssize_t len;

	if (fd < 0)
		return -1;
	len = pread(fd, text, sizeof(text) - 1, 0);
	if (len <= 0)
		return -1;
	text[len] = '\0';
	strtoull(text, &end, 10);
	if (*end != ' ')
		return -1;
	return (int64_t)strtoull(end, NULL, 10);
}

int64_t usage_thread_runq_ns(void)
{
	struct usage_meter meter;
	int64_t ns;

	usage_open(&meter);
	ns = read_runq(meter.schedstat_fd);
	usage_close(&meter);
	return ns;
}

void usage_read(const struct usage_meter *meter, struct usage *usage)
{
	struct rusage ru = { 0 };

	getrusage(RUSAGE_SELF, &ru);
	usage->user_us = (int64_t)ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec;
	usage->sys_us = (int64_t)ru.ru_stime.tv_sec * 1000000 + ru.ru_stime.tv_usec;
	usage->nvcsw = ru.ru_nvcsw;
	usage->nivcsw = ru.ru_nivcsw;
	usage->disk_bytes = (int64_t)ru.ru_inblock * 512;
	usage->runq_ns = read_runq(meter->schedstat_fd);
}

struct usage usage_between(const struct usage *before, const struct usage *after)
{
	struct usage d = {
		.user_us = after->user_us - before->user_us,
		.sys_us = after->sys_us - before->sys_us,
		.nvcsw = after->nvcsw - before->nvcsw,
		.nivcsw = after->nivcsw - before->nivcsw,
		.disk_bytes = after->disk_bytes - before->disk_bytes,
		.runq_ns = -1,
	};

	if (before->runq_ns >= 0 && after->runq_ns >= 0)
		d.runq_ns = after->runq_ns - before->runq_ns;
	return d;
}
