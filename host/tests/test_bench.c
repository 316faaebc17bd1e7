/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole run of a case that the test makes up. */
#include "harness.h"

#include <signal.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "records.h"
#include "stop.h"

#define OUT_OF_MEMORY 0xFFFF000Cu
#define BUSY          0xFFFF000Du

enum step { PREPARE, RUN, VERIFY, CHECK, STEPS };

/* The n-th call of a step fails like that, or a signal comes in it. */
static struct {
	enum step step;
	unsigned n;
	uint32_t result; /* 0: a signal */
} trouble;
static unsigned calls[STEPS];
static bool torn_down;

static int come_to(enum step step, struct error *err)
{
	if (++calls[step] != trouble.n || step != trouble.step)
		return 0;
	if (trouble.result)
		return error_tee(err, trouble.result, 4, "do it");
	stop_reason = SIGTERM;
	return 0;
}

static int prepare(struct bench_case *c, struct error *err)
{
	(void)c;
	return come_to(PREPARE, err);
}

static int run(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	(void)c;
	(void)loops;
	(void)repeat;
	return come_to(RUN, err);
}

static int verify(struct bench_case *c, struct error *err)
{
	(void)c;
	return come_to(VERIFY, err);
}

static int check(struct bench_case *c, struct error *err)
{
	(void)c;
	return come_to(CHECK, err);
}

static void teardown(struct bench_case *c)
{
	torn_down = c->state != NULL;
}

static const struct workload workload = {
	.name = "made-up",
	.state_size = 1,
	.prepare = prepare,
	.run = run,
	.verify = verify,
	.check = check,
	.teardown = teardown,
};

static char text[1 << 16];

static struct end_facts bench(enum step step, unsigned n, uint32_t result)
{
	static const struct bench_settings settings = { 0 };
	struct bench_case c = {
		.key = "made-up/none/tee/none",
		.workload_name = "made-up",
		.algorithm_name = "none",
		.backend_name = "tee",
		.parameters = "none",
		.bytes = -1,
		.options = { .samples = 3, .loops = 1, .repeats = { 1 }, .n_repeats = 1 },
		.workload = &workload,
	};
	struct cases cases = { .list = &c, .count = 1, .room = 1 };
	char path[] = "/tmp/test_bench.XXXXXX";
	struct end_facts found;
	struct pool pool = { 0 };
	struct error err = { 0 };
	struct sink sink;
	ssize_t len;
	int fd;

	memset(calls, 0, sizeof(calls));
	stop_reason = 0;
	torn_down = false;
	trouble.step = step;
	trouble.n = n;
	trouble.result = result;
	close(mkstemp(path));
	assert_int_equal(sink_open(&sink, path, &err), 0);
	assert_int_equal(bench_run(&settings, &cases, &pool, &sink, &found, &err), 0);
	assert_int_equal(sink_close(&sink, &err), 0);
	assert_true(torn_down);
	fd = open(path, O_RDONLY);
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	unlink(path);
	assert_true(len > 0);
	text[len] = '\0';
	return found;
}

static void assert_said(const char *what)
{
	if (!strstr(text, what))
		fail_msg("no %s in %s", what, strstr(text, "\n{"));
}

static void test_all_is_well(void **state)
{
	struct end_facts found = bench(STEPS, 0, 0);

	(void)state;
	assert_int_equal(found.failed + found.skipped, 0);
	assert_int_equal(calls[PREPARE] + calls[VERIFY], 2);
	assert_int_equal(calls[CHECK], 3);
	assert_said("\"complete\":true");
}

static void test_too_large_is_a_skip(void **state)
{
	static const enum step steps[] = { PREPARE, RUN };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct end_facts found = bench(steps[i], 1, OUT_OF_MEMORY);

		assert_int_equal(found.skipped, 1);
		assert_int_equal(found.failed, 0);
		assert_said("\"code\":\"no-memory\"");
		assert_said("\"tee_result\":\"TEE_ERROR_OUT_OF_MEMORY\"");
		assert_said("\"tee_origin\":\"trusted application\"");
	}
}

/* It had room before, or it is not for want of room. */
static void test_what_runs_out_later_is_a_failure(void **state)
{
	static const struct {
		enum step step;
		unsigned n;
		uint32_t result;
	} later[] = {
		{ PREPARE, 1, BUSY },      { RUN, 1, BUSY },
		{ RUN, 2, OUT_OF_MEMORY }, { VERIFY, 1, OUT_OF_MEMORY },
		{ RUN, 5, OUT_OF_MEMORY }, { CHECK, 1, OUT_OF_MEMORY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
		struct end_facts found = bench(later[i].step, later[i].n, later[i].result);

		assert_int_equal(found.skipped, 0);
		assert_int_equal(found.failed, 1);
		assert_said("\"type\":\"fail\"");
	}
}

/* Nothing more is begun; what was cut is neither a result nor a failure. */
static void test_a_signal_ends_it_after_any_step(void **state)
{
	static const struct {
		enum step step;
		unsigned n, runs, verified;
	} cuts[] = {
		{ PREPARE, 1, 0, 0 },
		{ RUN, 1, 1, 0 },
		{ VERIFY, 1, 1, 1 },
		{ RUN, 2, 2, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		struct end_facts found = bench(cuts[i].step, cuts[i].n, 0);

		assert_string_equal(found.reason, "terminated");
		assert_int_equal(found.failed + found.skipped, 0);
		assert_int_equal(calls[RUN], cuts[i].runs);
		assert_int_equal(calls[VERIFY], cuts[i].verified);
		assert_int_equal(calls[CHECK], 0);
		assert_null(strstr(text, "\"type\":\"case\""));
		assert_null(strstr(text, "\"type\":\"first\""));
		assert_said("\"complete\":false,\"reason\":\"terminated\"");
	}
	stop_reason = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_well),
		cmocka_unit_test(test_too_large_is_a_skip),
		cmocka_unit_test(test_what_runs_out_later_is_a_failure),
		cmocka_unit_test(test_a_signal_ends_it_after_any_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
