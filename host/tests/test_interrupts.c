/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

#include "interrupts.h"
#include "witness.h"

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

static const char *interrupts; /* NULL: the kernel's own */

FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (!interrupts || strcmp(path, "/proc/interrupts"))
		return __real_fopen(path, mode);
	return fmemopen((char *)interrupts, strlen(interrupts), "r");
}

static int parse(const char *text, struct interrupts *now)
{
	int ret;

	interrupts = text;
	ret = interrupts_read(now, NULL);
	interrupts = NULL;
	return ret;
}

/* A line of all CPUs, of one for the machine, of an architecture's own. */
static const char two_cpus[] =
	"           CPU0       CPU1       \n"
	" 11:     123456     654321    GICv3  27 Level     arch_timer\n"
	" 33:         40         48   ITS-PCI-MSIX-0000:00:05.0   1 Edge      virtio4-virtqueues\n"
	"IPI0:       300        400       Rescheduling interrupts\n"
	"Err:          7\n";

static void test_counts_of_all_cpus(void **state)
{
	struct interrupts now;

	(void)state;
	assert_int_equal(parse(two_cpus, &now), 0);
	assert_int_equal(now.count, 4);
	assert_string_equal(now.list[1].line, "33");
	assert_string_equal(now.list[1].name, "ITS-PCI-MSIX-0000:00:05.0 1 Edge "
					      "virtio4-virtqueues");
	assert_int_equal(now.list[1].count, 88);
	assert_string_equal(now.list[2].line, "IPI0");
	assert_int_equal(now.list[2].count, 700);
	assert_int_equal(now.list[3].count, 7);
	interrupts_free(&now);
}

static void test_what_rose(void **state)
{
	struct interrupts before, now;

	(void)state;
	assert_int_equal(parse("CPU0\n 5: 10 a\n", &before), 0);
	assert_int_equal(parse("CPU0\n 5: 12 a\n 6: 3 b\n", &now), 0);
	assert_int_equal(interrupts_since(&before, &now.list[0]), 2);
	assert_int_equal(interrupts_since(&before, &now.list[1]), 3);
	/* A CPU went away, and its counts with it. */
	assert_int_equal(interrupts_since(&now, &before.list[0]), 0);
	interrupts_free(&before);
	interrupts_free(&now);
}

static void test_nonsense_has_no_lines(void **state)
{
	static const char *const texts[] = { "", "\n\n", "CPU0", "5: 1 x", "CPU0 CPU1\n  : \n:\n" };
	struct interrupts now;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(parse(texts[i], &now), 0);
		interrupts_free(&now);
	}
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
		cmocka_unit_test(test_counts_of_all_cpus),
		cmocka_unit_test(test_what_rose),
		cmocka_unit_test(test_nonsense_has_no_lines),
		cmocka_unit_test(test_cpu_time_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
