/* SPDX-License-Identifier: BSD-2-Clause */
/* Rings as the kernel fills them, made up; and one of this machine's own. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"

#include "clock.h"
#include "switches.h"

#define RING    1024u
#define PREEMPT (PERF_RECORD_MISC_SWITCH_OUT | 1u << 14)

struct made {
	uint8_t ring[RING];
	uint64_t head;
	struct switch_event events[SWITCHES_MAX];
	struct switch_list list;
	uint64_t full;
};

/* A record of the kernel: a body of its own, and what all records end with. */
static void put(struct made *m, uint32_t type, uint16_t misc, size_t body,
		uint32_t tid, uint64_t ns)
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
		m->ring[(m->head + i) % RING] = ((uint8_t *)&record)[i];
	m->head += record.header.size;
}

static int parse(struct made *m)
{
	m->list = (struct switch_list){ .list = m->events };
	return switches_parse(m->ring, RING, m->head, &m->list, &m->full);
}

static void test_what_the_kernel_says(void **state)
{
	struct made m = { 0 };

	(void)state;
	put(&m, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 0, 7, 100);
	put(&m, PERF_RECORD_FORK, 0, 24, 8, 110);
	put(&m, PERF_RECORD_SWITCH, 0, 0, 7, 120);
	put(&m, PERF_RECORD_SWITCH, PREEMPT, 0, 7, 130);
	put(&m, PERF_RECORD_LOST, 0, 16, 7, 140);
	put(&m, PERF_RECORD_EXIT, 0, 24, 8, 150);
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.list.count, 4);
	assert_int_equal(m.events[0].kind, SWITCH_WAIT);
	assert_int_equal(m.events[0].ns, 100);
	assert_int_equal(m.events[0].tid, 7);
	assert_int_equal(m.events[0].cpu, 3);
	assert_int_equal(m.events[1].kind, SWITCH_IN);
	assert_int_equal(m.events[2].kind, SWITCH_PREEMPT);
	assert_int_equal(m.events[3].kind, SWITCH_EXIT);
	assert_int_equal(m.events[3].tid, 8);
	assert_true(m.full == UINT64_MAX);
}

static void test_a_full_ring_says_since_when(void **state)
{
	struct made m = { 0 };

	(void)state;
	for (uint64_t ns = 1; m.head + 32 <= RING; ns++)
		put(&m, PERF_RECORD_SWITCH, 0, 0, 7, ns);
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.list.count, RING / 32);
	assert_int_equal(m.full, RING / 32);
}

static void test_an_empty_ring(void **state)
{
	struct made m = { 0 };

	(void)state;
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.list.count, 0);
	assert_true(m.full == UINT64_MAX);
}

static void test_a_list_without_room_says_since_when(void **state)
{
	struct made m = { 0 };

	(void)state;
	put(&m, PERF_RECORD_SWITCH, 0, 0, 7, 40);
	put(&m, PERF_RECORD_SWITCH, 0, 0, 7, 50);
	m.list = (struct switch_list){ .list = m.events,
				       .count = SWITCHES_MAX - 1 };
	assert_int_equal(switches_parse(m.ring, RING, m.head, &m.list, &m.full),
			 0);
	assert_int_equal(m.list.count, SWITCHES_MAX);
	assert_int_equal(m.full, 50);
}

static void test_nonsense_is_refused(void **state)
{
	struct perf_event_header header = { PERF_RECORD_SWITCH, 0, 0 };

	(void)state;
	for (unsigned size = 0; size < 200; size += 4) {
		struct made m = { .head = 160 };

		header.size = (uint16_t)size;
		memcpy(m.ring, &header, sizeof(header));
		if (size >= 32 && size <= 128)
			continue; /* long enough; what follows is zeros */
		assert_int_equal(parse(&m), -EPROTO);
	}
	for (uint64_t cut = 1; cut < 32; cut++) {
		struct made m = { 0 };

		put(&m, PERF_RECORD_SWITCH, 0, 0, 7, 1);
		m.head = cut;
		assert_int_equal(parse(&m), -EPROTO);
	}
	assert_int_equal(switches_parse(NULL, RING, RING + 1, NULL,
					&(uint64_t){ 0 }),
			 -EPROTO);
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
		waits += list.list[i].kind == SWITCH_WAIT;
	}
	assert_true(waits >= 5);
	assert_int_equal(list.left_out, 0);
	free(list.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_kernel_says),
		cmocka_unit_test(test_a_full_ring_says_since_when),
		cmocka_unit_test(test_an_empty_ring),
		cmocka_unit_test(test_a_list_without_room_says_since_when),
		cmocka_unit_test(test_nonsense_is_refused),
		cmocka_unit_test(test_this_machines_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
