/* SPDX-License-Identifier: BSD-2-Clause */
/* Source of the format: include/uapi/linux/perf_event.h. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "switches.h"

#define RING_BYTES (64u << 10)
#define RECORD_MIN 32u /* bytes: header and trailer */
#define RECORD_MAX 128u
/* A ring with fewer free bytes may have lost an event. */
#define ROOM_MIN (2 * RECORD_MAX)

/* Since Linux 4.17; the build's kernel headers may be older. */
#define SWITCH_OUT_PREEMPT (1u << 14)

/* The end of every record, as sample_type orders it. */
struct trailer {
	uint32_t pid, tid;
	uint64_t ns;
	uint32_t cpu, reserved;
};

_Static_assert(sizeof(struct perf_event_header) + sizeof(struct trailer) == RECORD_MIN,
	       "a ring has no more records than the list has room for");

struct ring {
	int fd;
	struct perf_event_mmap_page *page; /* the control page; the ring follows it */
};

struct switches {
	struct ring *rings;
	size_t count;
	size_t page_bytes;
	uint64_t begin_ns;
};

/* Returns the error of perf_event_open() that failed with `code`, with the reason. */
static int refused(int code, struct error *err)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int paranoid = 0;
	int known = f && fscanf(f, "%d", &paranoid) == 1;
	const char *why = NULL;

	if (f)
		fclose(f);
	if (code == -ENOSYS || (code == -ENOENT && !known))
		why = "this kernel has no perf events (CONFIG_PERF_EVENTS)";
	else if (code == -EINVAL)
		why = "this kernel records no context switches (Linux 4.3 does)";
	else if ((code == -EACCES || code == -EPERM) && (!known || paranoid <= 2))
		why = "this process may record no context switches (a container or a security "
		      "module forbids it)";
	else if (code != -EACCES && code != -EPERM)
		return error_skip(err, code, "no-perf", "no perf events are to be had: %s",
				  strerror(-code));
	if (why)
		return error_skip(err, code, "no-perf", "%s", why);
	return error_skip(err, code, "no-perf",
			  "kernel.perf_event_paranoid is %d: only root may "
			  "record context switches\n"
			  "as root: sysctl kernel.perf_event_paranoid=2",
			  paranoid);
}

static int open_event(struct ring *ring, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.inherit = 1, /* threads begun later are recorded, too */
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.context_switch = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
	};

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return ring->fd < 0 ? -errno : 0;
}

static int map_ring(struct ring *ring, size_t page_bytes, struct error *err)
{
	ring->page = mmap(NULL, page_bytes + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring->fd, 0);
	if (ring->page != MAP_FAILED)
		return 0;
	ring->page = NULL;
	if (errno != EPERM)
		return error_skip(err, -errno, "no-perf",
				  "no memory for the record of context switches: %s",
				  strerror(errno));
	return error_skip(err, -EPERM, "no-perf",
			  "other perf events of this user have taken the "
			  "memory that kernel.perf_event_mlock_kb allows\n"
			  "end this user's other perf programs, or give more "
			  "as root: sysctl kernel.perf_event_mlock_kb=2048");
}

static void close_rings(struct switches *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->rings[i].page)
			munmap(s->rings[i].page, s->page_bytes + RING_BYTES);
		if (s->rings[i].fd >= 0)
			close(s->rings[i].fd);
	}
	free(s->rings);
	free(s);
}

int switches_begin(struct switches **switches, struct error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct switches *s = calloc(1, sizeof(*s));
	int ret = 0;

	*switches = NULL;
	if (s)
		s->rings = calloc((size_t)cpus, sizeof(*s->rings));
	if (!s || !s->rings) {
		free(s);
		return error_memory(err);
	}
	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	for (int cpu = 0; cpu < cpus && !ret; cpu++) {
		struct ring *ring = &s->rings[s->count];
		int failed = open_event(ring, cpu);

		if (failed == -ENODEV) /* the CPU is offline */
			continue;
		s->count++;
		ret = failed ? refused(failed, err) : map_ring(ring, s->page_bytes, err);
	}
	if (!s->count)
		ret = refused(-ENODEV, err);
	if (ret) {
		close_rings(s);
		return ret;
	}
	s->begin_ns = clock_now_ns();
	*switches = s;
	return 0;
}

/*
 * Appends the events of a ring to the list; `head` is how many bytes the kernel has written to the
 * ring. Returns -EPROTO if the bytes can't be parsed.
 */
static int parse(const uint8_t *data, uint64_t head, struct switch_list *list)
{
	struct perf_event_header header;
	struct trailer t = { 0 };
	const char *kind;
	uint64_t at = 0;

	/* The ring is read only once, so it must not have wrapped around. */
	if (head > RING_BYTES)
		return -EPROTO;
	while (at < head) {
		if (head - at < sizeof(header))
			return -EPROTO;
		memcpy(&header, data + at, sizeof(header));
		if (header.size < RECORD_MIN || header.size > RECORD_MAX || header.size > head - at)
			return -EPROTO;
		at += header.size;
		memcpy(&t, data + at - sizeof(t), sizeof(t));
		if (header.type == PERF_RECORD_EXIT)
			kind = "exit";
		else if (header.type != PERF_RECORD_SWITCH)
			continue; /* FORK, LOST or THROTTLE */
		else if (!(header.misc & PERF_RECORD_MISC_SWITCH_OUT))
			kind = "in";
		else
			kind = header.misc & SWITCH_OUT_PREEMPT ? "preempt" : "wait";
		list->list[list->count] =
			(struct switch_event){ t.ns, t.tid, t.cpu, kind, (uint32_t)list->count };
		list->count++;
	}
	if (RING_BYTES - head < ROOM_MIN && t.ns < list->whole_until_ns)
		list->whole_until_ns = t.ns;
	return 0;
}

/* Compares events by time. Events of equal time keep the order of their ring. */
static int by_time(const void *a, const void *b)
{
	const struct switch_event *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/*
 * Sorts the events of all rings, and keeps those from begin_ns to end_ns, or to the time of the
 * first event that may be missing.
 */
static void settle(struct switch_list *list, uint64_t begin_ns, uint64_t end_ns)
{
	size_t kept = 0;

	qsort(list->list, list->count, sizeof(*list->list), by_time);
	if (list->whole_until_ns > end_ns)
		list->whole_until_ns = end_ns;
	if (list->count > SWITCHES_MAX) {
		list->count = SWITCHES_MAX;
		if (list->list[SWITCHES_MAX].ns < list->whole_until_ns)
			list->whole_until_ns = list->list[SWITCHES_MAX].ns;
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct switch_event *e = &list->list[i];

		if (e->ns >= begin_ns && e->ns <= list->whole_until_ns)
			list->list[kept++] = *e;
	}
	list->count = kept;
}

int switches_end(struct switches *s, struct switch_list *list, struct error *err)
{
	uint64_t begin_ns = s->begin_ns;
	uint64_t end_ns = clock_now_ns();
	int ret = 0;

	*list = (struct switch_list){
		.list = calloc(s->count * (RING_BYTES / RECORD_MIN), sizeof(*list->list)),
		.whole_until_ns = UINT64_MAX,
	};
	for (size_t i = 0; i < s->count; i++)
		ioctl(s->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < s->count && list->list && !ret; i++) {
		const struct ring *ring = &s->rings[i];
		uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

		ret = parse((const uint8_t *)ring->page + s->page_bytes, head, list);
	}
	close_rings(s);
	if (!list->list)
		return error_memory(err);
	if (ret) {
		free(list->list);
		list->list = NULL;
		return error_set(err, ret,
				 "the kernel's record of context switches could not be understood");
	}
	settle(list, begin_ns, end_ns);
	return 0;
}
