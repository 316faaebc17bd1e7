/* SPDX-License-Identifier: BSD-2-Clause */
/* Rings as the kernel fills them, made up; and one of this machine's own. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

#include "clock.h"
#include "switches.h"

#define RING    (64u << 10) /* as the kernel is asked for */
#define PREEMPT (PERF_RECORD_MISC_SWITCH_OUT | 1u << 14)

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
long __real_sysconf(int name);
long __wrap_sysconf(int name);
uint64_t __real_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void);
void __real_qsort(void *list, size_t n, size_t size, int (*order)(const void *, const void *));
void __wrap_qsort(void *list, size_t n, size_t size, int (*order)(const void *, const void *));

/* 0: as this machine has it. */
static int event_errno, map_errno;
static const char *paranoid;

/* A machine of the test's own, with so many CPUs; 0: this machine. */
static unsigned cpus;
static struct ring {
	uint8_t data[RING];
	uint64_t head;
} rings[3];
static int fds[3];
static uint64_t now;
static bool reversed; /* as qsort() may leave what is equal */

/* Only perf_event_open() is replaced. */
long __wrap_syscall(long number, ...)
{
	void *attr;
	va_list args;
	int pid, cpu, group;
	unsigned long flags;

	assert_int_equal(number, SYS_perf_event_open);
	va_start(args, number);
	attr = va_arg(args, void *);
	pid = va_arg(args, int);
	cpu = va_arg(args, int);
	group = va_arg(args, int);
	flags = va_arg(args, unsigned);
	va_end(args);
	if (cpus)
		return fds[cpu] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (map_errno)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!event_errno)
		return __real_syscall(number, attr, pid, cpu, group, flags);
	errno = event_errno;
	return -1;
}

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	struct perf_event_mmap_page *page;
	unsigned cpu = 0;

	if (map_errno) {
		errno = map_errno;
		return MAP_FAILED;
	}
	if (!cpus || fd < 0)
		return __real_mmap(at, len, prot, flags, fd, off);
	while (fds[cpu] != fd)
		cpu++;
	page = __real_mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	page->data_head = rings[cpu].head;
	memcpy((uint8_t *)page + len - RING, rings[cpu].data, RING);
	return page;
}

long __wrap_sysconf(int name)
{
	return cpus && name == _SC_NPROCESSORS_CONF ? (long)cpus : __real_sysconf(name);
}

uint64_t __wrap_clock_now_ns(void)
{
	return cpus ? now : __real_clock_now_ns();
}

void __wrap_qsort(void *list, size_t n, size_t size, int (*order)(const void *, const void *))
{
	struct switch_event *events = list;

	for (size_t i = 0; reversed && i < n / 2; i++) {
		struct switch_event swap = events[i];

		events[i] = events[n - 1 - i];
		events[n - 1 - i] = swap;
	}
	__real_qsort(list, n, size, order);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (!paranoid || strcmp(path, "/proc/sys/kernel/perf_event_paranoid"))
		return __real_fopen(path, mode);
	return fmemopen((void *)(uintptr_t)paranoid, strlen(paranoid), "r");
}

/* A record of the kernel: a body of its own, and what all records end with. */
static void put(struct ring *ring, uint32_t type, uint16_t misc, size_t body, uint32_t tid,
		uint64_t ns)
{
	struct {
		struct perf_event_header header;
		uint8_t rest[120];
	} record = { .header = { type, misc, 0 } };
	uint32_t ids[2] = { 1, tid }, cpu[2] = { 3, 0 };
	uint8_t *end = record.rest + body;

	memcpy(end, ids, sizeof(ids));
	memcpy(end + 8, &ns, sizeof(ns));
	memcpy(end + 16, cpu, sizeof(cpu));
	record.header.size = (uint16_t)(sizeof(record.header) + body + 24);
	for (size_t i = 0; i < record.header.size; i++)
		ring->data[(ring->head + i) % RING] = ((uint8_t *)&record)[i];
	ring->head += record.header.size;
}

static int clear(void **state)
{
	(void)state;
	memset(rings, 0, sizeof(rings));
	cpus = 0;
	reversed = false;
	return 0;
}

/* Records on a machine with so many CPUs what is in their rings. */
static int record(unsigned count, uint64_t begin_ns, uint64_t end_ns, struct switch_list *list)
{
	struct switches *switches;
	int ret;

	cpus = count;
	now = begin_ns;
	assert_int_equal(switches_begin(&switches, NULL), 0);
	now = end_ns;
	ret = switches_end(switches, list, NULL);
	cpus = 0;
	return ret;
}

static void test_what_the_kernel_says(void **state)
{
	struct switch_list list;

	(void)state;
	put(rings, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 0, 7, 100);
	put(rings, PERF_RECORD_FORK, 0, 24, 8, 110);
	put(rings, PERF_RECORD_SWITCH, 0, 0, 7, 120);
	put(rings, PERF_RECORD_SWITCH, PREEMPT, 0, 7, 130);
	put(rings, PERF_RECORD_LOST, 0, 16, 7, 140);
	put(rings, PERF_RECORD_EXIT, 0, 24, 8, 150);
	assert_int_equal(record(1, 0, 1000, &list), 0);
	assert_int_equal(list.count, 4);
	assert_string_equal(list.list[0].kind, "wait");
	assert_int_equal(list.list[0].ns, 100);
	assert_int_equal(list.list[0].tid, 7);
	assert_int_equal(list.list[0].cpu, 3);
	assert_string_equal(list.list[1].kind, "in");
	assert_string_equal(list.list[2].kind, "preempt");
	assert_string_equal(list.list[3].kind, "exit");
	assert_int_equal(list.list[3].tid, 8);
	assert_int_equal(list.whole_until_ns, 1000);
	free(list.list);
}

static void test_what_came_before_is_left_out(void **state)
{
	struct switch_list list;

	(void)state;
	for (uint64_t ns = 1; ns <= 9; ns++)
		put(rings, PERF_RECORD_SWITCH, 0, 0, 7, ns);
	assert_int_equal(record(1, 3, 8, &list), 0);
	assert_int_equal(list.count, 6);
	assert_int_equal(list.list[0].ns, 3);
	free(list.list);
}

static void test_a_full_ring_says_since_when(void **state)
{
	struct switch_list list;

	(void)state;
	for (uint64_t ns = 1; rings->head + 32 <= RING; ns++)
		put(rings, PERF_RECORD_SWITCH, 0, 0, 7, ns);
	assert_int_equal(record(1, 0, 100000, &list), 0);
	assert_int_equal(list.count, RING / 32);
	assert_int_equal(list.whole_until_ns, RING / 32);
	free(list.list);
}

static void test_an_empty_ring(void **state)
{
	struct switch_list list;

	(void)state;
	assert_int_equal(record(1, 0, 1000, &list), 0);
	assert_int_equal(list.count, 0);
	assert_int_equal(list.whole_until_ns, 1000);
	free(list.list);
}

static struct switch_list three_rings(unsigned a, unsigned b, unsigned c)
{
	const unsigned events[] = { a, b, c };
	struct switch_list list;

	for (unsigned cpu = 0; cpu < 3; cpu++)
		for (unsigned i = 0; i < events[cpu]; i++)
			put(&rings[cpu], PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 0, 7,
			    1000 + cpu + i * 3);
	assert_int_equal(record(3, 1000, 100000, &list), 0);
	return list;
}

/* However many CPUs there are, the first events of all of them are kept. */
static void test_three_rings_that_are_kept_whole(void **state)
{
	struct switch_list list = three_rings(1000, 1400, 1600);

	(void)state;
	assert_int_equal(list.count, 4000);
	assert_int_equal(list.whole_until_ns, 100000);
	for (size_t i = 0; i < 3000; i++)
		assert_int_equal(list.list[i].ns, 1000 + i);
	free(list.list);
}

static void test_three_rings_with_more_than_is_kept(void **state)
{
	struct switch_list list = three_rings(1400, 1400, 1400);

	(void)state;
	assert_int_equal(list.count, SWITCHES_MAX);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.list[i].ns, 1000 + i);
	assert_int_equal(list.whole_until_ns, 1000 + SWITCHES_MAX);
	free(list.list);
}

/* One ring is full after 2048 events, when the others are at as many. */
static void test_a_full_ring_among_three(void **state)
{
	struct switch_list list = three_rings(10, 2048, 20);

	(void)state;
	assert_int_equal(list.count, 2078);
	assert_int_equal(list.whole_until_ns, 1001 + 2047 * 3);
	free(list.list);
}

/*
 * A clock that ticks slowly: a thread leaves the CPU and another gets it. Here
 * they lie the other way round, as qsort() may leave them.
 */
static void test_equal_times_are_in_the_order_of_arrival(void **state)
{
	struct switch_list list;

	(void)state;
	reversed = true;
	for (uint32_t i = 0; i < 2000; i++)
		put(rings, PERF_RECORD_SWITCH, 0, 0, i, 1 + i / 4);
	assert_int_equal(record(1, 0, 3000, &list), 0);
	assert_int_equal(list.count, 2000);
	for (size_t i = 0; i < 2000; i++)
		assert_int_equal(list.list[i].tid, i);
	free(list.list);
}

static void expect_nonsense(void)
{
	struct switch_list list;

	assert_int_equal(record(1, 0, 1000, &list), -EPROTO);
	assert_null(list.list);
}

static void test_nonsense_is_refused(void **state)
{
	struct perf_event_header header = { PERF_RECORD_SWITCH, 0, 0 };

	for (unsigned size = 0; size < 200; size += 4) {
		if (size >= 32 && size <= 128)
			continue; /* long enough; what follows is zeros */
		clear(state);
		header.size = (uint16_t)size;
		memcpy(rings->data, &header, sizeof(header));
		rings->head = 160;
		expect_nonsense();
	}
	for (uint64_t cut = 1; cut < 32; cut++) {
		clear(state);
		put(rings, PERF_RECORD_SWITCH, 0, 0, 7, 1);
		rings->head = cut;
		expect_nonsense();
	}
	clear(state);
	rings->head = RING + 1;
	expect_nonsense();
}

/* The answers of perf_event_open() or mmap(), and what is made of them. */
static void check_refusal(int event, int map, const char *level, const char *what, const char *hint)
{
	struct switches *switches;
	struct error err = { 0 };

	event_errno = event;
	map_errno = map;
	paranoid = level;
	assert_int_equal(switches_begin(&switches, &err), event ? -event : -map);
	event_errno = map_errno = 0;
	paranoid = NULL;
	assert_null(switches);
	assert_string_equal(err.skip, "no-perf");
	assert_non_null(strstr(err.what, what));
	assert_non_null(strstr(err.hint, hint));
	assert_true(*hint || !*err.hint);
}

static void test_why_it_is_refused(void **state)
{
	const char *more = "sysctl kernel.perf_event_paranoid=2";

	(void)state;
	check_refusal(EACCES, 0, "3", "kernel.perf_event_paranoid is 3", more);
	check_refusal(EPERM, 0, "4", "kernel.perf_event_paranoid is 4", more);
	check_refusal(EPERM, 0, "2", "a container or a security module", "");
	check_refusal(EACCES, 0, "-1", "a container or a security module", "");
	check_refusal(ENOSYS, 0, "2", "CONFIG_PERF_EVENTS", "");
	check_refusal(EMFILE, 0, "2", "Too many open files", "");
	check_refusal(0, EPERM, "2", "kernel.perf_event_mlock_kb",
		      "sysctl kernel.perf_event_mlock_kb=");
	check_refusal(0, ENOMEM, "2", "Cannot allocate memory", "");
}

static void test_a_machine_whose_cpus_are_all_off(void **state)
{
	(void)state;
	check_refusal(ENODEV, 0, "2", "No such device", "");
}

/* Sleeps, so that there is something to see; skipped where that's forbidden. */
static void test_this_machines_own(void **state)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct switches *switches = NULL;
	struct switch_list list;
	struct error err = { 0 };
	uint64_t begin = clock_now_ns(), end;
	unsigned waits = 0;

	(void)state;
	if (switches_begin(&switches, &err)) {
		assert_string_equal(err.skip, "no-perf");
		assert_true(*err.what);
		skip();
	}
	for (int i = 0; i < 5; i++)
		nanosleep(&ms, NULL);
	assert_int_equal(switches_end(switches, &list, &err), 0);
	end = clock_now_ns();
	for (size_t i = 0; i < list.count; i++) {
		assert_true(list.list[i].ns > begin && list.list[i].ns < end);
		assert_true(!i || list.list[i].ns >= list.list[i - 1].ns);
		waits += !strcmp(list.list[i].kind, "wait");
	}
	assert_true(waits >= 5);
	free(list.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_what_the_kernel_says, clear),
		cmocka_unit_test_setup(test_what_came_before_is_left_out, clear),
		cmocka_unit_test_setup(test_a_full_ring_says_since_when, clear),
		cmocka_unit_test_setup(test_an_empty_ring, clear),
		cmocka_unit_test_setup(test_three_rings_that_are_kept_whole, clear),
		cmocka_unit_test_setup(test_three_rings_with_more_than_is_kept, clear),
		cmocka_unit_test_setup(test_a_full_ring_among_three, clear),
		cmocka_unit_test_setup(test_equal_times_are_in_the_order_of_arrival, clear),
		cmocka_unit_test_setup(test_nonsense_is_refused, clear),
		cmocka_unit_test_setup(test_why_it_is_refused, clear),
		cmocka_unit_test_setup(test_a_machine_whose_cpus_are_all_off, clear),
		cmocka_unit_test_setup(test_this_machines_own, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
