/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "json.h"
#include "masks.h"
#include "stop.h"

static _Noreturn void become(const char *key, uint32_t calls, int out, const char *variable,
			     const char *value)
{
	char number[16];

	/* A group of its own keeps the terminal's signals from this process; teebench ends it. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGTERM, SIG_DFL);
	snprintf(number, sizeof(number), "%u", calls);
	if (!stop_asked() && dup2(out, STDOUT_FILENO) >= 0 &&
	    !(value ? setenv(variable, value, 1) : unsetenv(variable)))
		execl("/proc/self/exe", "teebench", "--stretch", "--loops", number, key, NULL);
	_exit(127);
}

/* Times stretches of calls in a separate process, into ns[]; returns false if one is missing. */
static bool stretches_of(const char *key, uint32_t calls, const char *variable, const char *value,
			 uint64_t *ns)
{
	int ends[2], status;
	unsigned n = 0;
	FILE *lines;
	pid_t pid;

	if (stop_asked() || pipe2(ends, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid)
		become(key, calls, ends[1], variable, value);
	close(ends[1]);
	lines = fdopen(ends[0], "r");
	if (lines) {
		unsigned long long one;

		while (n < MASKS_STRETCHES && !stop_asked() && fscanf(lines, "%llu", &one) == 1)
			ns[n++] = one;
		fclose(lines);
	} else {
		close(ends[0]);
	}
	if (pid < 0)
		return false;
	/*
	 * If stretches are missing, as after a signal, SIGTERM lets the process clean up and end.
	 */
	if (n < MASKS_STRETCHES)
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
		if (stop_asked())
			kill(pid, SIGTERM);
	}
	return n == MASKS_STRETCHES && WIFEXITED(status) && !WEXITSTATUS(status);
}

void masks_compare(const char *key, uint32_t calls, const char *variable, const char *value,
		   struct masks *m)
{
	*m = (struct masks){ .tried = true, .variable = variable, .value = value, .calls = calls };
	for (unsigned i = 0; i < MASKS_PAIRS; i++) {
		if (!stretches_of(key, calls, variable, NULL, m->plain_ns + m->count) ||
		    !stretches_of(key, calls, variable, value, m->masked_ns + m->count)) {
			snprintf(m->reason, sizeof(m->reason),
				 "a process that repeats the calls, with or "
				 "without %s=%s, did not end as it should",
				 variable, value);
			return;
		}
		m->count += MASKS_STRETCHES;
	}
}

static void put_times(struct json *j, const char *name, const uint64_t *ns, unsigned count)
{
	json_array(j, name);
	for (unsigned i = 0; i < count; i++)
		json_u64(j, NULL, ns[i]);
	json_array_end(j);
}

void masks_put(struct json *j, const struct masks *m)
{
	if (m->reason[0]) {
		json_null(j, "masked");
		json_string(j, "masked_reason", m->reason);
		return;
	}
	json_object(j, "masked");
	json_string(j, "variable", m->variable);
	json_string(j, "value", m->value);
	json_u64(j, "calls", m->calls);
	put_times(j, "plain_ns", m->plain_ns, m->count);
	put_times(j, "masked_ns", m->masked_ns, m->count);
	json_object_end(j);
}

int masks_stretch(struct bench_case *c, struct pool *pool, struct error *err)
{
	const struct measure measure = { .now_ns = clock_now_ns, .stopped = stop_check };
	struct measure_target target;
	struct measured one;
	uint32_t calls = 1; /* the first time, to warm up */
	int ret = case_prepare(c, pool, err);

	for (unsigned i = 0; !ret && i <= MASKS_STRETCHES; i++) {
		target = case_target(c);
		ret = measure_once(&measure, &target, calls, 1, &one, err);
		if (!ret && i)
			printf("%llu\n", (unsigned long long)one.ns);
		calls = c->options.loops < measure_loops_max(&target) ? c->options.loops :
									measure_loops_max(&target);
	}
	case_teardown(c);
	return ret;
}
