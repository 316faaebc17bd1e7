/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that repeat calls with and without a mask. They are this program
 * itself, which does as its key says: none may outlive a run that is to end.
 */
#include "harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "masks.h"
#include "stop.h"

int __real_execl(const char *path, const char *arg, ...);
int __wrap_execl(const char *path, const char *name, const char *mode, const char *option,
		 const char *calls, const char *key, const char *end);

static bool signal_before_exec;

int __wrap_execl(const char *path, const char *name, const char *mode, const char *option,
		 const char *calls, const char *key, const char *end)
{
	if (signal_before_exec)
		raise(SIGTERM);
	return __real_execl(path, name, mode, option, calls, key, end);
}

/* Each process writes a byte to it; the test reads it. */
static int begun[2];

/* "good"; "closes slowly": its stretches are over; "hangs" in the first. */
static int repeat_calls(const char *key)
{
	if (write(atoi(getenv("BEGUN")), "x", 1) != 1)
		return 1;
	alarm(ORPHAN_S);
	if (!strcmp(key, "hangs"))
		pause();
	for (int i = 1; i <= MASKS_STRETCHES; i++)
		printf("%d\n", getenv("MASK") ? 10 * i : i);
	fflush(stdout);
	if (!strcmp(key, "closes slowly"))
		pause();
	return 0;
}

static void stop(int number)
{
	stop_reason = number;
}

static int prepare(void **state)
{
	const struct sigaction action = { .sa_handler = stop };
	char number[12];

	(void)state;
	stop_reason = 0;
	signal_before_exec = false;
	sigaction(SIGTERM, &action, NULL);
	if (pipe(begun))
		return -1;
	snprintf(number, sizeof(number), "%d", begun[1]);
	return setenv("BEGUN", number, 1);
}

static int clean(void **state)
{
	(void)state;
	close(begun[0]);
	return close(begun[1]);
}

static unsigned count_begun(void)
{
	struct pollfd fd = { .fd = begun[0], .events = POLLIN };
	unsigned n = 0;
	char byte;

	while (poll(&fd, 1, 0) == 1 && read(begun[0], &byte, 1) == 1)
		n++;
	return n;
}

/* Returns true once there is something to read, or all writers are gone. */
static bool wait_for(int fd, int ms)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return poll(&one, 1, ms) == 1;
}

/* Compares in a process of its own, which ends with 0 if there was a reason to stop. */
static pid_t compare_apart(const char *key)
{
	pid_t pid = fork();
	struct masks m;

	assert_true(pid >= 0);
	if (!pid) {
		masks_compare(key, 3, "MASK", "1", &m);
		_exit(!*m.reason);
	}
	return pid;
}

static void test_both_sides_are_timed(void **state)
{
	struct masks m;

	(void)state;
	masks_compare("good", 3, "MASK", "1", &m);
	assert_string_equal(m.reason, "");
	assert_int_equal(m.count, MASKS_PAIRS * MASKS_STRETCHES);
	for (unsigned i = 0; i < m.count; i++) {
		assert_int_equal(m.plain_ns[i], 1 + i % MASKS_STRETCHES);
		assert_int_equal(m.masked_ns[i], 10 * m.plain_ns[i]);
	}
	assert_int_equal(count_begun(), 2 * MASKS_PAIRS);
}

static void test_the_record_has_each_side_by_its_name(void **state)
{
	struct json j = { 0 };
	struct masks m;

	(void)state;
	masks_compare("good", 3, "MASK", "1", &m);
	json_object(&j, NULL);
	masks_put(&j, &m);
	json_object_end(&j);
	assert_string_equal(j.text, "{\"masked\":{\"variable\":\"MASK\",\"value\":\"1\","
				    "\"calls\":3,\"plain_ns\":[1,2,3,4,5,1,2,3,4,5],"
				    "\"masked_ns\":[10,20,30,40,50,10,20,30,40,50]}}");
	json_free(&j);
}

static void test_a_signal_before_a_process_begins(void **state)
{
	struct masks m;

	(void)state;
	stop_reason = SIGINT;
	masks_compare("good", 3, "MASK", "1", &m);
	assert_true(*m.reason);
	assert_int_equal(count_begun(), 0);
}

/*
 * The signal comes once the process has begun, and again until it is heeded: it may come before
 * teebench waits for a process whose stretches are over.
 */
static void test_a_signal_while_a_process_works_or_closes(void **state)
{
	const char *const keys[] = { "hangs", "closes slowly" };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		pid_t pid = compare_apart(keys[i]);
		int status = -1;

		assert_true(wait_for(begun[0], PATIENCE_S * 1000));
		for (int tries = 0; waitpid(pid, &status, WNOHANG) == 0; tries++) {
			if (tries > PATIENCE_S * 50)
				fail_msg("%s: it doesn't end", keys[i]);
			kill(pid, SIGTERM);
			poll(NULL, 0, 20);
		}
		assert_int_equal(status, 0);
		assert_int_equal(count_begun(), 1);
	}
}

/* Our own handler, which a process has until it is another program. */
static void test_a_process_that_is_ended_before_it_is_one(void **state)
{
	struct masks m;

	(void)state;
	signal_before_exec = true;
	masks_compare("good", 3, "MASK", "1", &m);
	assert_true(*m.reason);
	assert_int_equal(count_begun(), 0);
}

/* Ends as teebench does when a second Ctrl-C ends it where it is. */
static void test_no_process_outlives_its_parent(void **state)
{
	pid_t pid = compare_apart("hangs");
	char byte;

	(void)state;
	close(begun[1]);
	assert_int_equal(read(begun[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* The pipe ends when nobody is left who could write to it. */
	assert_true(wait_for(begun[0], PATIENCE_S * 1000));
	assert_int_equal(read(begun[0], &byte, 1), 0);
	begun[1] = open("/dev/null", O_WRONLY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, prepare, clean)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_both_sides_are_timed),
		TEST(test_the_record_has_each_side_by_its_name),
		TEST(test_a_signal_before_a_process_begins),
		TEST(test_a_signal_while_a_process_works_or_closes),
		TEST(test_a_process_that_is_ended_before_it_is_one),
		TEST(test_no_process_outlives_its_parent),
	};

	if (argc == 5 && !strcmp(argv[1], "--stretch") && !strcmp(argv[2], "--loops"))
		return repeat_calls(argv[4]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
