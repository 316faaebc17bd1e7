/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How late a thread of the highest priority wakes up while a program runs on the same CPU, as
 * cyclictest measures it: for `teemark latency`.
 *
 *   teelate CPU LOAD_CPU SAMPLES PERIOD_US SETTLE_MS STOP_NS [PROGRAM [ARG]...]
 *
 * PROGRAM runs on LOAD_CPU; without one, an empty loop does. Once it has had the CPU for SETTLE_MS,
 * or after twenty times as long where it sleeps, the thread on CPU sleeps SAMPLES times until a set
 * time, PERIOD_US after the one before. If it wakes up more than STOP_NS nanoseconds late (0: no
 * limit), the kernel's trace is stopped, and the sampling, too.
 *
 * Standard output is one JSON object: `late_ns`, the delays in their order, `stopped` (whether the
 * limit stopped it), and `ended`: PROGRAM's status if it ended too early, otherwise null. The exit
 * status is 1 if the thread can't have its priority or its CPU, and 2 for wrong arguments.
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "stop.h"

#define BILLION 1000000000L

/* Below the kernel's own threads of the highest priority, which stop and migrate tasks. */
enum { PRIORITY = 98 };

enum {
	SAMPLES_MAX = 10000000,
	JITTER_NS = 4001, /* the sleeps differ by so much, or they would keep step with the load */
	LEAVING_MS = 10000, /* how long PROGRAM may take to end after SIGTERM */
	PATIENCE = 20,      /* times SETTLE_MS */
};

static long number(const char *text, const char *what, long most)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || *end || end == text || n < 0 || n > most)
		errx(2, "%s is \"%s\", not a number up to %ld", what, text, most);
	return n;
}

static void stay_on(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "cannot run on CPU %ld", cpu);
}

/* Starts the load in a process group of its own, which ends with this process. */
static pid_t start(char **program, long cpu)
{
	pid_t parent = getpid(), pid = fork();
	int null;

	if (pid < 0)
		err(1, "cannot start another process");
	if (pid)
		return pid;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	stay_on(cpu);
	if (!program) {
		while (!stop_asked())
			;
		_exit(0);
	}
	null = open("/dev/null", O_RDWR);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	execvp(program[0], program);
	err(127, "cannot run %s", program[0]);
}

static void nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR && !stop_asked())
		;
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

/*
 * Waits until the load has had the CPU for `ms`. Time alone doesn't tell: while a TA is read from a
 * slow disk, time passes and the load isn't under way.
 */
static void settle(pid_t load, long ms)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(PATIENCE * ms) * 1000000;
	clockid_t used;

	if (clock_getcpuclockid(load, &used))
		errx(1, "no clock of another process's CPU time");
	while (!stop_asked() && !has_ended(load) && clock_ns(CLOCK_MONOTONIC) < end &&
	       clock_ns(used) < (uint64_t)ms * 1000000)
		nap(1);
}

/* Ends the load, at last by force; returns its status. */
static int finish(pid_t pid)
{
	int status = 0;

	kill(-pid, SIGTERM);
	kill(pid, SIGTERM);
	for (int ms = 0; waitpid(pid, &status, WNOHANG) == 0; ms += 10) {
		nap(10);
		if (ms == LEAVING_MS)
			kill(-pid, SIGKILL);
	}
	return status;
}

/* Stops the kernel's trace, where there is one, so that it keeps what came before. */
static void stop_tracing(int tracing)
{
	if (tracing >= 0 && write(tracing, "0", 1) != 1)
		warn("cannot stop the kernel's trace");
}

/* Sleeps until the clock has `ns`; returns how much later it is. */
static int64_t sleep_until(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / BILLION), (long)(ns % BILLION) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	return (int64_t)(clock_ns(CLOCK_MONOTONIC) - ns);
}

int main(int argc, char **argv)
{
	const struct sched_param priority = { .sched_priority = PRIORITY };
	static const int ending[] = { SIGTERM, SIGINT, SIGHUP, 0 };
	long cpu, load_cpu, samples, period_ns, settle_ms, stop_ns, n = 0;
	int tracing, status = 0;
	bool stopped = false, ended = false;
	uint64_t next;
	int64_t *late;
	pid_t load;

	if (argc < 7)
		errx(2, "usage: teelate CPU LOAD_CPU SAMPLES PERIOD_US SETTLE_MS STOP_NS "
			"[PROGRAM [ARG]...]");
	cpu = number(argv[1], "CPU", CPU_SETSIZE - 1);
	load_cpu = number(argv[2], "LOAD_CPU", CPU_SETSIZE - 1);
	samples = number(argv[3], "SAMPLES", SAMPLES_MAX);
	period_ns = 1000 * number(argv[4], "PERIOD_US", 1000000);
	settle_ms = number(argv[5], "SETTLE_MS", 3600000);
	stop_ns = number(argv[6], "STOP_NS", BILLION);
	late = calloc((size_t)samples + 1, sizeof(*late));
	if (!late)
		errx(1, "out of memory");
	stop_on_signals(ending, stop_for);
	tracing = stop_ns ? open("/sys/kernel/tracing/tracing_on", O_WRONLY | O_CLOEXEC) : -1;
	load = start(argc > 7 ? argv + 7 : NULL, load_cpu);
	stay_on(cpu);
	settle(load, settle_ms);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || sched_setscheduler(0, SCHED_FIFO, &priority)) {
		int why = errno;

		finish(load);
		errno = why;
		err(1, "no real-time priority (root has it)");
	}
	next = clock_ns(CLOCK_MONOTONIC);
	while (n < samples && !stopped && !stop_asked() && !ended) {
		next += (uint64_t)(period_ns + n * 7919 % JITTER_NS);
		late[n] = sleep_until(next);
		stopped = stop_ns && late[n] > stop_ns;
		if (stopped)
			stop_tracing(tracing);
		n++;
		/* Looked at after the wake-up: it delays only the next sleep's beginning. */
		ended = waitpid(load, &status, WNOHANG) == load;
	}
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	if (!ended)
		finish(load);
	printf("{\"stopped\": %s, \"ended\": ", stopped ? "true" : "false");
	printf(ended ? "%d" : "null",
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	printf(", \"late_ns\": [");
	for (long i = 0; i < n; i++)
		printf("%s%lld", i ? ", " : "", (long long)late[i]);
	printf("]}\n");
	free(late);
	if (fflush(stdout) || ferror(stdout))
		err(1, "cannot write");
	return stop_asked() ? 128 + stop_reason : 0;
}
