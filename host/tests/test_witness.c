/* SPDX-License-Identifier: BSD-2-Clause */
/* Who did the work: interrupts that come with the calls, beside those of the idle machine. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "facts.h"
#include "json.h"
#include "witness.h"

uint64_t __wrap_clock_now_ns(void);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
			   struct timespec *rest);
char *__wrap_read_whole(const char *path, size_t max);

static uint64_t now;
/* A device that calls raise, a timer that time raises, and a line that nothing raises. */
static uint64_t device = 1000000, calls_per_interrupt;
static uint64_t timer_each_ns;
static uint64_t call_ns;
static uint64_t calls_made;

uint64_t __wrap_clock_now_ns(void)
{
	return now;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
			   struct timespec *rest)
{
	(void)clock;
	(void)flags;
	(void)rest;
	now += (uint64_t)wanted->tv_nsec;
	return 0;
}

char *__wrap_read_whole(const char *path, size_t max)
{
	char *text;

	(void)max;
	assert_string_equal(path, "/proc/interrupts");
	assert_true(asprintf(&text,
			     "     CPU0\n40: %llu GIC 72 omap-sham\n11: %llu GIC 27 arch_timer\n"
			     " 9: 77 GIC 5 quiet",
			     (unsigned long long)device,
			     (unsigned long long)(now / timer_each_ns)) > 0);
	return text;
}

static int run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	(void)c;
	(void)repeat;
	(void)err;
	now += loops * call_ns;
	calls_made += loops;
	if (calls_per_interrupt)
		device += loops / calls_per_interrupt;
	return 0;
}

/* Watches calls of 100 us; the timer rises each `timer_ns`, the device each n-th call. */
static void watch(uint64_t timer_ns, uint64_t n, struct idle_evidence *idle, struct evidence *found)
{
	const struct measure m = { .now_ns = __wrap_clock_now_ns };
	const struct measure_target target = { .run = run };
	struct error err = { 0 };

	now = 5000000000;
	call_ns = 100000;
	timer_each_ns = timer_ns;
	calls_per_interrupt = n;
	calls_made = 0;
	*idle = (struct idle_evidence){ 0 };
	*found = (struct evidence){ 0 };
	witness_idle(idle);
	assert_int_equal(idle->ns, 20000000);
	assert_int_equal(witness_calls(&m, &target, 1, call_ns, idle, found, &err), 0);
	assert_non_null(found->after);
}

static void forget(struct idle_evidence *idle, struct evidence *found)
{
	witness_free(found);
	free(idle->before);
	free(idle->after);
}

/* The program watches as many calls as take 20 ms, and never fewer than 8. */
static void test_long_calls_are_few(void **state)
{
	struct idle_evidence idle;
	struct evidence found;
	const struct measure m = { .now_ns = __wrap_clock_now_ns };
	const struct measure_target target = { .run = run };
	struct error err = { 0 };

	(void)state;
	watch(1000000, 0, &idle, &found);
	assert_int_equal(calls_made, 200);
	witness_free(&found);
	call_ns = 20000000;
	calls_made = 0;
	assert_int_equal(witness_calls(&m, &target, 1, call_ns, &idle, &found, &err), 0);
	assert_int_equal(calls_made, 8);
	forget(&idle, &found);
}

static void test_the_record_has_what_rose(void **state)
{
	struct idle_evidence idle;
	struct evidence found;
	struct json j = { 0 };

	(void)state;
	watch(5000000, 2, &idle, &found);
	json_object(&j, NULL);
	witness_put(&j, &found, &idle);
	json_object_end(&j);
	assert_non_null(strstr(j.text, "\"calls\":200,\"ns\":20000000,"));
	assert_non_null(strstr(j.text, "\"idle_ns\":20000000,\"raised\":["
				       "[\"40: 1000000 GIC 72 omap-sham\","
				       "\"40: 1000100 GIC 72 omap-sham\"],"
				       "[\"11: 1004 GIC 27 arch_timer\","
				       "\"11: 1008 GIC 27 arch_timer\"]],"
				       "\"idle_raised\":[[\"11: 1000 GIC 27 arch_timer\","
				       "\"11: 1004 GIC 27 arch_timer\"]]"));
	json_free(&j);
	forget(&idle, &found);
}

static void put(const char *folder, const char *pid, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/schedstat", folder, pid);
	file = text ? fopen(path, "w") : NULL;
	if (file) {
		fputs(text, file);
		fclose(file);
		return;
	}
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

/* A kernel that counts no CPU time isn't one whose processes do nothing. */
static void test_cpu_time_of_others(void **state)
{
	char folder[] = "/tmp/teemark-XXXXXX", own[16];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(own, sizeof(own), "%d", (int)getpid());
	put(folder, own, "1000000 0 0\n");
	put(folder, "self", "1000000 0 0\n");
	assert_int_equal(watch_others_ns(folder), -1);
	put(folder, "1", "0 0 0\n");
	assert_int_equal(watch_others_ns(folder), -1);
	put(folder, "1", "40 0 0\n");
	put(folder, "2147483647", "2 9 9\n");
	assert_int_equal(watch_others_ns(folder), 42);
	put(folder, own, NULL);
	put(folder, "self", NULL);
	put(folder, "1", NULL);
	put(folder, "2147483647", NULL);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(watch_others_ns(folder), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_calls_are_few),
		cmocka_unit_test(test_the_record_has_what_rose),
		cmocka_unit_test(test_cpu_time_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
