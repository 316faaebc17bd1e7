/* SPDX-License-Identifier: BSD-2-Clause */
/* The measuring core against a clock that only the measured thing moves. */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "measure.h"

static uint64_t now;
static unsigned readings;

static uint64_t fake_now(void)
{
	readings++;
	return now;
}

struct bench_case {
	uint64_t call_ns, operation_ns;
	uint64_t first_extra_ns; /* the first run is slower by that */
	unsigned runs;
	unsigned fail_at; /* the run that fails, 0: none */
	uint32_t most_loops;
	unsigned readied, unready_at;
};

static int run_thing(struct bench_case *t, uint32_t loops, uint32_t repeat, struct error *err)
{
	t->runs++;
	if (t->runs == t->fail_at)
		return error_set(err, -EIO, "broken");
	if (loops > t->most_loops)
		t->most_loops = loops;
	now += loops * (t->call_ns + repeat * t->operation_ns);
	if (t->runs == 1)
		now += t->first_extra_ns;
	return 0;
}

static const struct measure core = { .now_ns = fake_now };

static uint32_t calibrate(struct bench_case *t, uint64_t min_ns, uint32_t repeat, uint64_t *call_ns)
{
	struct measure_target target = { .run = run_thing, .c = t };
	uint32_t loops = 0;
	struct error err;

	assert_int_equal(measure_calibrate(&core, &target, min_ns, repeat, &loops, call_ns, &err),
			 0);
	return loops;
}

static void test_once_is_the_difference(void **state)
{
	struct bench_case t = { .call_ns = 100, .operation_ns = 7 };
	struct measure_target target = { .run = run_thing, .c = &t };
	struct measured m;
	struct error err;

	(void)state;
	now = 1000;
	readings = 0;
	assert_int_equal(measure_once(&core, &target, 3, 2, &m, &err), 0);
	assert_int_equal(m.ns, 3 * (100 + 2 * 7));
	assert_int_equal(readings, 2);
}

static unsigned asked, stop_at;

static int stopped(struct error *err)
{
	return ++asked > stop_at ? error_set(err, -ECANCELED, "stopped") : 0;
}

/* Asked before every run, which then isn't made. */
static void test_a_stop_ends_calibrating(void **state)
{
	const struct measure m = { .now_ns = fake_now, .stopped = stopped };

	(void)state;
	for (stop_at = 0; stop_at < 5; stop_at++) {
		struct bench_case t = { .call_ns = 1 };
		struct measure_target target = { .run = run_thing, .c = &t };
		struct error err = { 0 };
		uint32_t loops;
		uint64_t call_ns;

		asked = 0;
		assert_int_equal(measure_calibrate(&m, &target, 1000000, 1, &loops, &call_ns, &err),
				 -ECANCELED);
		assert_int_equal(t.runs, stop_at);
	}
}

static void test_loops_are_long_enough_and_a_power_of_two(void **state)
{
	(void)state;
	for (uint64_t call = 1; call < 400000; call = call * 3 + 1) {
		struct bench_case t = { .call_ns = call };
		uint64_t call_ns;
		uint32_t loops = calibrate(&t, 100000, 1, &call_ns);

		assert_int_equal(loops & (loops - 1), 0);
		assert_true(loops * call >= 125000);
		/* but not absurdly long: twice what rounding up asks for */
		assert_true(loops == 1 || loops * call < 4 * 125000);
		assert_int_equal(call_ns, call);
	}
}

/* Speeds that differ by less than the margin get the same loops. */
static void test_small_differences_change_nothing(void **state)
{
	struct bench_case slow = { .call_ns = 1010 }, fast = { .call_ns = 1000 };
	uint64_t call_ns;

	(void)state;
	assert_int_equal(calibrate(&slow, 100000, 1, &call_ns),
			 calibrate(&fast, 100000, 1, &call_ns));
}

static void test_a_cold_first_run_does_not_fool_it(void **state)
{
	struct bench_case t = { .call_ns = 50, .first_extra_ns = 10000000 };
	uint64_t call_ns;

	(void)state;
	assert_true(calibrate(&t, 100000, 1, &call_ns) * 50 >= 125000);
	assert_int_equal(call_ns, 50);
	/* One call is long enough for a sample: its time is that of the second, which is warm. */
	t = (struct bench_case){ .call_ns = 200000, .first_extra_ns = 10000000 };
	assert_int_equal(calibrate(&t, 100000, 1, &call_ns), 1);
	assert_int_equal(call_ns, 200000);
}

static void test_repeats_take_fewer_loops(void **state)
{
	struct bench_case one = { .call_ns = 10, .operation_ns = 1000 };
	struct bench_case many = one;
	uint64_t call_ns;

	(void)state;
	assert_true(calibrate(&many, 100000, 64, &call_ns) < calibrate(&one, 100000, 1, &call_ns));
}

static void test_a_clock_that_stands_still_ends(void **state)
{
	struct bench_case t = { 0 };
	uint64_t call_ns;

	(void)state;
	assert_int_equal(calibrate(&t, 100000, 1, &call_ns), MEASURE_LOOPS_MAX);
	assert_int_equal(t.most_loops, MEASURE_LOOPS_MAX);
}

static void test_errors_come_through(void **state)
{
	for (unsigned at = 1; at < 4; at++) {
		struct bench_case t = { .call_ns = 10, .fail_at = at };
		struct measure_target target = { .run = run_thing, .c = &t };
		struct error err = { 0 };
		uint64_t call_ns;
		uint32_t loops;

		assert_int_equal(measure_calibrate(&core, &target, 100000, 1, &loops, &call_ns,
						   &err),
				 -EIO);
		assert_string_equal(err.what, "broken");
		assert_int_equal(t.runs, at);
	}
	(void)state;
}

static int get_ready(struct bench_case *t, uint32_t loops, struct error *err)
{
	(void)loops;
	t->readied++;
	now += 5000; /* is not to be in the sample */
	return t->runs + 1 == t->unready_at ? error_set(err, -EAGAIN, "busy") : 0;
}

static void test_getting_ready_is_not_timed(void **state)
{
	struct bench_case t = { .call_ns = 100, .unready_at = 2 };
	struct measure_target target = { .run = run_thing, .c = &t, .ready = get_ready };
	struct measured m;
	struct error err;

	(void)state;
	assert_int_equal(measure_once(&core, &target, 3, 1, &m, &err), 0);
	assert_int_equal(m.ns, 300);
	assert_int_equal(t.readied, 1);
	/* and when it fails nothing is run */
	assert_int_equal(measure_once(&core, &target, 3, 1, &m, &err), -EAGAIN);
	assert_int_equal(t.runs, 1);
}

struct other_clock {
	unsigned starts, stops;
	int start_code, stop_code;
};

static int start_other(const struct ta_counter *unused, struct tee_session *session,
		       struct error *err)
{
	struct other_clock *c = (void *)session;

	(void)unused;
	c->starts++;
	now += 5000; /* getting it going takes its time */
	return c->start_code ? error_set(err, c->start_code, "no start") : 0;
}

static int stop_other(const struct ta_counter *unused, struct tee_session *session, uint64_t *ns,
		      struct error *err)
{
	struct other_clock *c = (void *)session;

	(void)unused;
	c->stops++;
	now += 7000;
	*ns = 30;
	return c->stop_code ? error_set(err, c->stop_code, "no stop") : 0;
}

/* The other clock costs the stretch nothing, and is stopped come what may. */
static void test_another_clock_runs_along(void **state)
{
	struct bench_case t = { .call_ns = 100, .operation_ns = 7, .fail_at = 3 };
	struct other_clock other = { 0 };
	const struct measure_along along = { start_other, stop_other, NULL, (void *)&other };
	struct measure_target target = { .run = run_thing, .c = &t };
	struct error err = { 0 };
	struct measured m;

	(void)state;
	now = 1000;
	assert_int_equal(measure_once(&core, &target, 3, 2, &m, &err), 0);
	assert_int_equal(m.along_ns, 0);
	target.along = &along;
	assert_int_equal(measure_once(&core, &target, 3, 2, &m, &err), 0);
	assert_int_equal(m.ns, 3 * (100 + 2 * 7));
	assert_int_equal(m.along_ns, 30);
	assert_int_equal(other.starts, 1);
	assert_int_equal(other.stops, 1);

	/* The run's own failure is the one that is told. */
	other.stop_code = -EPIPE;
	assert_int_equal(measure_once(&core, &target, 3, 2, &m, &err), -EIO);
	assert_string_equal(err.what, "broken");
	assert_int_equal(other.stops, 2);
	assert_int_equal(measure_once(&core, &target, 3, 2, &m, &err), -EPIPE);
	assert_string_equal(err.what, "no stop");

	other.start_code = -EBUSY;
	t.runs = 10;
	assert_int_equal(measure_once(&core, &target, 3, 2, &m, &err), -EBUSY);
	assert_int_equal(t.runs, 10);
	assert_int_equal(other.stops, 3);
}

static void test_loops_stay_within_the_targets_limit(void **state)
{
	struct bench_case t = { .call_ns = 1 };
	struct measure_target target = { .run = run_thing, .c = &t, .loops_max = 24 };
	struct error err;
	uint64_t call_ns;
	uint32_t loops;

	(void)state;
	assert_int_equal(measure_calibrate(&core, &target, 100000, 1, &loops, &call_ns, &err), 0);
	assert_int_equal(loops, 24);
	assert_int_equal(t.most_loops, 24);
}

/* ---- The kernel's clocks, by which a sample is put behind a tick. */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_getres(clockid_t clock, struct timespec *ts);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *rest);
int __wrap_getrusage(int who, struct rusage *usage);

static uint64_t kernel_ns, reading_ns, resolution_ns, wakes_late_ns;
static clockid_t clock_read;
static unsigned reading, each_late; /* each so-manieth reading is interrupted for 5 us; 0: none */
static unsigned sleeps, late_sleeps;
static int sleep_code;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t seen = resolution_ns ? kernel_ns / resolution_ns * resolution_ns : kernel_ns;

	clock_read = clock;
	*ts = (struct timespec){ (time_t)(seen / 1000000000), (long)(seen % 1000000000) };
	kernel_ns += reading_ns;
	if (each_late && ++reading % each_late == 0)
		kernel_ns += 5000;
	return 0;
}

int __wrap_clock_getres(clockid_t clock, struct timespec *ts)
{
	assert_int_equal(clock, CLOCK_MONOTONIC_RAW);
	*ts = (struct timespec){ .tv_nsec = 7 };
	return 0;
}

/* Wakes up when it was asked to, and the first few times late. */
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *rest)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_int_equal(flags, TIMER_ABSTIME);
	assert_null(rest);
	kernel_ns = (uint64_t)until->tv_sec * 1000000000 + (uint64_t)until->tv_nsec;
	if (++sleeps <= late_sleeps)
		kernel_ns += wakes_late_ns;
	return sleep_code;
}

static uint64_t began_ns;

static int when(struct bench_case *c, uint32_t loops, uint32_t repeat, struct error *err)
{
	(void)c;
	(void)loops;
	(void)repeat;
	(void)err;
	began_ns = kernel_ns;
	return 0;
}

/* Returns when a sample begins that is taken 123 ms after boot, with a tick each 10 ms. */
static uint64_t begin_aligned(void)
{
	const struct measure aligned = { .now_ns = fake_now, .align_ns = 10000000 };
	struct measure_target target = { .run = when };
	struct measured m;

	kernel_ns = 123000000;
	reading_ns = 40;
	resolution_ns = sleeps = 0;
	assert_int_equal(measure_once(&aligned, &target, 1, 1, &m, NULL), 0);
	assert_int_equal(clock_read, CLOCK_MONOTONIC);
	return began_ns;
}

/* 100 us after the tick, when the kernel's own work at the tick is over. */
static void test_aligned_samples_begin_after_a_tick(void **state)
{
	(void)state;
	late_sleeps = 0;
	sleep_code = 0;
	assert_in_range(begin_aligned(), 130100000, 130100080);
	assert_int_equal(sleeps, 1);
	/* A sleep that ends 300 us late is early enough. */
	late_sleeps = 1;
	wakes_late_ns = 300000;
	assert_in_range(begin_aligned(), 130100000, 130100080);
	assert_int_equal(sleeps, 1);
}

static void test_a_tick_that_was_missed_is_followed_by_the_next(void **state)
{
	(void)state;
	late_sleeps = 3;
	wakes_late_ns = 402001;
	sleep_code = 0;
	assert_in_range(begin_aligned(), 160100000, 160100080);
	assert_int_equal(sleeps, 4);
	/* A machine that is always late is measured all the same. */
	late_sleeps = 1000;
	begin_aligned();
	assert_int_equal(sleeps, 50);
}

static void test_a_signal_ends_the_wait_for_a_tick(void **state)
{
	(void)state;
	late_sleeps = 0;
	sleep_code = EINTR;
	begin_aligned();
	assert_int_equal(sleeps, 1);
}

static void test_the_clock_is_the_one_that_nobody_adjusts(void **state)
{
	(void)state;
	kernel_ns = 5000000123;
	reading_ns = resolution_ns = 0;
	assert_int_equal(clock_now_ns(), 5000000123);
	assert_int_equal(clock_read, CLOCK_MONOTONIC_RAW);
}

/* The smallest step that is seen, or, of a fine clock, what a reading takes. */
static void test_the_clocks_resolution_is_measured(void **state)
{
	static const struct {
		uint64_t reading_ns, resolution_ns, seen_ns;
	} rows[] = { { 25, 0, 25 }, { 25, 1000, 1000 }, { 30, 52, 52 } };
	struct clock_facts facts;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		kernel_ns = 1000000;
		reading_ns = rows[i].reading_ns;
		resolution_ns = rows[i].resolution_ns;
		clock_measure(&facts);
		assert_int_equal(facts.nominal_ns, 7);
		assert_int_equal(facts.resolution_ns, rows[i].seen_ns);
		assert_in_range(facts.cost_ns, reading_ns - 1, reading_ns);
	}
	/* Readings that are interrupted are longer, and no steps of the clock. */
	reading_ns = 25;
	resolution_ns = 0;
	each_late = 100;
	clock_measure(&facts);
	assert_int_equal(facts.resolution_ns, 25);
	assert_in_range(facts.cost_ns, 74, 75);
	each_late = 0;
	/* A clock that stands still has the resolution that the kernel says. */
	reading_ns = 0;
	clock_measure(&facts);
	assert_int_equal(facts.resolution_ns, 7);
}

/* ---- What a run uses. */

int __wrap_getrusage(int who, struct rusage *usage)
{
	assert_int_equal(who, RUSAGE_SELF);
	usage->ru_utime = (struct timeval){ 3, 14 };
	usage->ru_stime = (struct timeval){ 5, 16 };
	usage->ru_nvcsw = 17;
	usage->ru_nivcsw = 18;
	return 0;
}

/* Returns a meter whose schedstat is this text. */
static struct usage_meter meter_of(const char *text)
{
	struct usage_meter meter = { memfd_create("schedstat", MFD_CLOEXEC) };

	assert_true(meter.schedstat_fd >= 0);
	assert_int_equal(write(meter.schedstat_fd, text, strlen(text)), strlen(text));
	return meter;
}

static void test_usage_is_read_from_where_it_stands(void **state)
{
	struct usage_meter meter = meter_of("1000000 2345 67\n");
	struct usage usage;

	(void)state;
	for (int i = 0; i < 2; i++) {
		usage_read(&meter, &usage);
		assert_int_equal(usage.user_us, 3000014);
		assert_int_equal(usage.sys_us, 5000016);
		assert_int_equal(usage.nvcsw, 17);
		assert_int_equal(usage.nivcsw, 18);
		assert_int_equal(usage.runq_ns, 2345); /* the wait, not the run time */
	}
	usage_close(&meter);
}

static void test_a_wait_that_the_kernel_does_not_tell(void **state)
{
	static const char *const texts[] = { "", "12", "nothing" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct usage_meter meter = meter_of(texts[i]);
		struct usage usage;

		usage_read(&meter, &usage);
		assert_int_equal(usage.runq_ns, -1);
		assert_int_equal(usage.user_us, 3000014);
		usage_close(&meter);
		usage_read(&meter, &usage);
		assert_int_equal(usage.runq_ns, -1);
	}
}

static void test_usage_between_two_readings(void **state)
{
	const struct usage before = { 1, 20, 300, 4000, 512, 50000 };
	const struct usage after = { 3, 24, 306, 4008, 1536, 50010 };
	const struct usage unknown = { 3, 24, 306, 4008, 1536, -1 };
	struct usage d = usage_between(&before, &after);

	(void)state;
	assert_int_equal(d.user_us, 2);
	assert_int_equal(d.sys_us, 4);
	assert_int_equal(d.nvcsw, 6);
	assert_int_equal(d.nivcsw, 8);
	assert_int_equal(d.runq_ns, 10);
	assert_int_equal(d.disk_bytes, 1024);
	assert_int_equal(usage_between(&before, &unknown).runq_ns, -1);
	assert_int_equal(usage_between(&unknown, &after).runq_ns, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once_is_the_difference),
		cmocka_unit_test(test_a_stop_ends_calibrating),
		cmocka_unit_test(test_loops_are_long_enough_and_a_power_of_two),
		cmocka_unit_test(test_small_differences_change_nothing),
		cmocka_unit_test(test_a_cold_first_run_does_not_fool_it),
		cmocka_unit_test(test_repeats_take_fewer_loops),
		cmocka_unit_test(test_a_clock_that_stands_still_ends),
		cmocka_unit_test(test_errors_come_through),
		cmocka_unit_test(test_getting_ready_is_not_timed),
		cmocka_unit_test(test_another_clock_runs_along),
		cmocka_unit_test(test_loops_stay_within_the_targets_limit),
		cmocka_unit_test(test_aligned_samples_begin_after_a_tick),
		cmocka_unit_test(test_a_tick_that_was_missed_is_followed_by_the_next),
		cmocka_unit_test(test_a_signal_ends_the_wait_for_a_tick),
		cmocka_unit_test(test_the_clock_is_the_one_that_nobody_adjusts),
		cmocka_unit_test(test_the_clocks_resolution_is_measured),
		cmocka_unit_test(test_usage_is_read_from_where_it_stands),
		cmocka_unit_test(test_a_wait_that_the_kernel_does_not_tell),
		cmocka_unit_test(test_usage_between_two_readings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
