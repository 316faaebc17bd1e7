/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU time, context switches and waits of a stretch of work. Time in a TA counts as system time
 * of the thread that called it.
 */
#pragma once

#include <stdint.h>

struct usage {
	int64_t user_us;    /* CPU time of this process in user mode */
	int64_t sys_us;     /* and in the kernel, TAs included */
	int64_t nvcsw;      /* context switches, voluntary */
	int64_t nivcsw;     /* and involuntary */
	int64_t disk_bytes; /* read from disks, not from the page cache */
	int64_t runq_ns;    /* time spent ready but not running; -1: not known */
};

/*
 * Measures the calling thread's run-queue wait and the process's rusage. Never fails: a figure that
 * the kernel doesn't give is -1. usage_close() closes it.
 */
struct usage_meter {
	int schedstat_fd;
};

void usage_open(struct usage_meter *meter);
void usage_close(struct usage_meter *meter);
void usage_read(const struct usage_meter *meter, struct usage *usage);
/* Returns how long the calling thread has waited for a CPU; -1 if that isn't known. */
int64_t usage_thread_runq_ns(void);
/* Returns the difference of two readings. */
struct usage usage_between(const struct usage *before, const struct usage *after);
