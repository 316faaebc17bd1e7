// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace.h"

/* OPTEE_SMC_RETURN_RPC_* of the kernel's optee_smc.h. */
#define RETURN_RPC    0xffff0000u
#define RPC_ALLOC     0u
#define RPC_FREE      2u
#define RPC_INTERRUPT 4u
#define RPC_COMMAND   5u

#define BUFFER_KB "4096" /* a CPU */

#define NAME "teemark-" /* and the process's number */

struct trace {
	char dir[96]; /* an instance of our own */
};

/* For trace_abandon(): who handles a signal finds it here alone. */
static char own_dir[96];
static volatile sig_atomic_t own_dir_there;

static const char *const roots[] = {
	"/sys/kernel/tracing",
	"/sys/kernel/debug/tracing",
	NULL,
};

static void set_reason(struct trace_counts *counts, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void set_reason(struct trace_counts *counts, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(counts->reason, sizeof(counts->reason), fmt, args);
	va_end(args);
}

static int write_to(const struct trace *trace, const char *name,
		    const char *text)
{
	char path[192];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", trace->dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0) {
		int code = -errno;

		close(fd);
		return code;
	}
	close(fd);
	return 0;
}

static const char *find_root(struct trace_counts *counts)
{
	char path[128];

	for (const char *const *root = roots; *root; root++) {
		snprintf(path, sizeof(path), "%s/instances", *root);
		if (!access(path, W_OK)) {
			snprintf(path, sizeof(path),
				 "%s/events/optee/optee_invoke_fn_end", *root);
			if (!access(path, F_OK))
				return *root;
			set_reason(counts, "this kernel has no tracepoint "
					   "optee:optee_invoke_fn_end");
			return NULL;
		}
	}
	if (geteuid())
		set_reason(counts, "tracefs is for root only");
	else
		set_reason(counts, "tracefs is not mounted: mount -t tracefs "
				   "tracefs /sys/kernel/tracing");
	return NULL;
}

/*
 * An instance keeps its buffers until it is removed. Those of programs that
 * were killed are, and one that had our number.
 */
static void remove_stale(const char *root)
{
	char path[128];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/instances", root);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		const char *number = entry->d_name + strlen(NAME);
		char *end;
		long pid;

		if (strncmp(entry->d_name, NAME, strlen(NAME)) ||
		    !isdigit((unsigned char)*number))
			continue;
		pid = strtol(number, &end, 10);
		if (*end || pid <= 0 || pid > INT32_MAX ||
		    (pid != getpid() &&
		     (!kill((pid_t)pid, 0) || errno != ESRCH)))
			continue;
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

static void remove_own(const struct trace *trace)
{
	rmdir(trace->dir);
	own_dir_there = 0;
}

void trace_abandon(void)
{
	struct stat own, file;

	if (!own_dir_there || stat(own_dir, &own))
		return;
	/* An instance that has a file open can't be removed. */
	for (int fd = 3; fd < 1024; fd++)
		if (!fstat(fd, &file) && file.st_dev == own.st_dev)
			close(fd);
	rmdir(own_dir);
}

static FILE *open_events(const struct trace *trace)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/trace", trace->dir);
	return fopen(path, "re");
}

static struct trace *give_up(struct trace *trace, struct trace_counts *counts)
{
	set_reason(counts, "the trace instance could not be set up");
	remove_own(trace);
	free(trace);
	return NULL;
}

static struct trace *make_instance(struct trace_counts *counts)
{
	const char *root = find_root(counts);
	struct trace *trace;
	char pid[16];

	if (!root)
		return NULL;
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return NULL;
	remove_stale(root);
	snprintf(trace->dir, sizeof(trace->dir), "%s/instances/" NAME "%d",
		 root, (int)getpid());
	memcpy(own_dir, trace->dir, sizeof(own_dir));
	own_dir_there = 1;
	if (mkdir(trace->dir, 0700)) {
		set_reason(counts, "no trace instance: %s", strerror(errno));
		own_dir_there = 0;
		free(trace);
		return NULL;
	}
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	/* event-fork: threads begun later are counted too. */
	if (write_to(trace, "buffer_size_kb", BUFFER_KB) ||
	    write_to(trace, "set_event_pid", pid) ||
	    write_to(trace, "options/event-fork", "1"))
		return give_up(trace, counts);
	return trace;
}

struct trace *trace_begin(struct trace_counts *counts)
{
	struct trace *trace = make_instance(counts);

	if (trace &&
	    write_to(trace, "events/optee/optee_invoke_fn_end/enable", "1"))
		return give_up(trace, counts);
	return trace;
}

static void count_return(struct trace_counts *counts, unsigned long a0)
{
	counts->returns++;
	if ((a0 & 0xffff0000u) != RETURN_RPC || (a0 & 0xffffu) == 0xffffu) {
		counts->complete++;
		return;
	}
	switch (a0 & 0xffffu) {
	case RPC_ALLOC:
		counts->alloc++;
		break;
	case RPC_FREE:
		counts->free++;
		break;
	case RPC_INTERRUPT:
		counts->interrupts++;
		break;
	case RPC_COMMAND:
		counts->command++;
		break;
	default:
		counts->other++;
		break;
	}
}

static void read_events(const struct trace *trace, struct trace_counts *counts)
{
	FILE *f = open_events(trace);
	char line[512];

	if (!f) {
		set_reason(counts, "cannot read the trace: %s",
			   strerror(errno));
		return;
	}
	while (fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "optee_invoke_fn_end:");

		/* "param=… ret (a0, a1, a2, a3)" */
		at = at ? strstr(at, " ret (") : NULL;
		at = at ? strchr(at, '(') : NULL;
		if (at)
			count_return(counts, strtoul(at + 1, NULL, 16));
	}
	/* A call that ended is there at least, or the format is another. */
	counts->known = !ferror(f) && counts->complete;
	if (!counts->known)
		set_reason(counts, "the trace could not be understood");
	fclose(f);
}

/* "overrun: N" of every CPU's buffer. */
static uint64_t count_lost(const struct trace *trace)
{
	uint64_t lost = 0;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < cpus; cpu++) {
		char path[192];
		char line[128];
		uint64_t n;
		FILE *f;

		snprintf(path, sizeof(path), "%s/per_cpu/cpu%ld/stats",
			 trace->dir, cpu);
		f = fopen(path, "re");
		if (!f)
			continue;
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, "overrun: %" SCNu64, &n) == 1)
				lost += n;
		fclose(f);
	}
	return lost;
}

void trace_end(struct trace *trace, struct trace_counts *counts)
{
	if (!trace)
		return;
	write_to(trace, "events/optee/optee_invoke_fn_end/enable", "0");
	read_events(trace, counts);
	counts->lost = count_lost(trace);
	remove_own(trace);
	free(trace);
}

/* Seen by this process alone, and gone with it. */
static void mount_for_us(void)
{
	const char *root = roots[0];
	char path[64];

	snprintf(path, sizeof(path), "%s/instances", root);
	if (!access(path, F_OK) || access(root, F_OK) || geteuid())
		return;
	if (!unshare(CLONE_NEWNS) &&
	    !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		mount("tracefs", root, "tracefs", MS_NOSUID | MS_NOEXEC, NULL);
}

int trace_legs_open(struct trace **trace, struct error *err)
{
	struct trace_counts why = { .reason = "out of memory" };

	*trace = NULL;
	mount_for_us();
	*trace = make_instance(&why);
	if (!*trace)
		return error_set(err, -EOPNOTSUPP, "%s", why.reason);
	/* Off between calls, on with both events. An older kernel keeps its clock. */
	write_to(*trace, "trace_clock", "mono_raw");
	if (write_to(*trace, "tracing_on", "0") ||
	    write_to(*trace, "events/optee/optee_invoke_fn_begin/enable",
		     "1") ||
	    write_to(*trace, "events/optee/optee_invoke_fn_end/enable", "1")) {
		trace_legs_close(*trace);
		*trace = NULL;
		return error_set(err, -EOPNOTSUPP,
				 "the kernel's tracepoints of OP-TEE could not "
				 "be switched on");
	}
	return 0;
}

int trace_legs_start(struct trace *trace, struct error *err)
{
	char path[128];
	int fd;

	/* Truncating empties the buffers. */
	snprintf(path, sizeof(path), "%s/trace", trace->dir);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	if (fd < 0 || write_to(trace, "tracing_on", "1"))
		return error_set(err, -EIO, "the trace could not be begun: %s",
				 strerror(errno));
	return 0;
}

/*
 * "  NAME-PID [CPU] FLAGS SECONDS.MICROS: EVENT: param=… ret (a0, …": a name
 * may hold anything, so that the line is read from its end. *begin tells which
 * event; false: neither.
 */
static bool parse_event(char *line, bool *begin, uint64_t *ns, uint32_t *ret)
{
	static const char begins[] = ": optee_invoke_fn_begin: param=";
	static const char ends[] = ": optee_invoke_fn_end: param=";
	char *at = NULL, *found, *stamp, *point;

	for (found = line; (found = strstr(found, begins)); found++)
		at = found;
	*begin = at != NULL;
	if (!at)
		for (found = line; (found = strstr(found, ends)); found++)
			at = found;
	if (!at)
		return false;
	*ret = 0;
	if (!*begin) {
		char *bracket = strstr(at, " ret (");

		if (!bracket)
			return false;
		*ret = (uint32_t)strtoul(bracket + 6, NULL, 16);
	}
	*at = '\0';
	stamp = strrchr(line, ' ');
	if (!stamp || !isdigit((unsigned char)stamp[1]))
		return false;
	*ns = strtoull(stamp + 1, &point, 10) * 1000000000u;
	if (*point != '.' || strspn(point + 1, "0123456789") != 6 ||
	    point[7] != '\0')
		return false;
	*ns += strtoull(point + 1, NULL, 10) * TRACE_STEP_NS;
	return true;
}

static int read_legs(FILE *f, struct trace_legs *legs, struct error *err)
{
	struct trace_leg leg = { 0 };
	bool open = false, begin;
	char line[512];
	uint64_t ns;
	uint32_t ret;

	legs->count = 0;
	while (fgets(line, sizeof(line), f)) {
		if (!parse_event(line, &begin, &ns, &ret))
			continue;
		if (begin == open)
			return error_set(err, -EPROTO,
					 "the trace does not go in and out of "
					 "the secure world by turns");
		if (begin) {
			leg.begin_ns = ns;
		} else if (ns < leg.begin_ns) {
			return error_set(err, -EPROTO,
					 "the trace's clock runs backwards");
		} else if (legs->count == TRACE_LEGS_MAX) {
			return error_set(err, -E2BIG,
					 "more than %d ways into the secure "
					 "world in one call",
					 TRACE_LEGS_MAX);
		} else {
			leg.end_ns = ns;
			leg.ret = ret;
			legs->list[legs->count++] = leg;
		}
		open = begin;
	}
	if (ferror(f) || open)
		return error_set(err, -EPROTO,
				 "the trace could not be understood");
	return 0;
}

int trace_legs_stop(struct trace *trace, struct trace_legs *legs,
		    struct error *err)
{
	uint64_t lost;
	FILE *f;
	int ret;

	write_to(trace, "tracing_on", "0");
	f = open_events(trace);
	if (!f)
		return error_set(err, -errno, "cannot read the trace: %s",
				 strerror(errno));
	ret = read_legs(f, legs, err);
	fclose(f);
	lost = ret ? 0 : count_lost(trace);
	if (lost)
		return error_set(err, -ENOBUFS,
				 "%llu events found no room in the trace buffer",
				 (unsigned long long)lost);
	if (!ret && !legs->count)
		return error_set(err, -EPROTO,
				 "no way into the secure world was traced");
	return ret;
}

void trace_legs_close(struct trace *trace)
{
	if (!trace)
		return;
	write_to(trace, "events/optee/enable", "0");
	remove_own(trace);
	free(trace);
}
