/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracepoints.h"

/* OPTEE_SMC_RETURN_RPC_* of the kernel's optee_smc.h. */
#define RETURN_RPC    0xffff0000u
#define RPC_ALLOC     0u
#define RPC_FREE      2u
#define RPC_INTERRUPT 4u
#define RPC_COMMAND   5u

#define BUFFER_KB "4096" /* KiB for each CPU */

#define NAME "teemark-" /* the PID follows */

#define ENABLE(way) "events/optee/optee_invoke_fn_" way "/enable"

struct tracepoints {
	char dir[96]; /* path of our own trace instance */
};

static const char *const roots[] = {
	"/sys/kernel/tracing",
	"/sys/kernel/debug/tracing",
	NULL,
};

/* Opens a file of the instance with open()'s flags. Returns -1 with errno. */
static int open_file(const struct tracepoints *trace, const char *name, int flags)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", trace->dir, name);
	return open(path, flags | O_CLOEXEC);
}

/* Returns 0, or -1 with errno. */
static int write_to(const struct tracepoints *trace, const char *name, const char *text)
{
	int fd = open_file(trace, name, O_WRONLY);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

/* Returns the path of tracefs, or NULL with the reason. */
static const char *find_root(struct error *err)
{
	char path[128];

	for (const char *const *root = roots; *root; root++) {
		snprintf(path, sizeof(path), "%s/instances", *root);
		if (access(path, W_OK))
			continue;
		snprintf(path, sizeof(path), "%s/events/optee/optee_invoke_fn_end", *root);
		if (!access(path, F_OK))
			return *root;
		error_set(err, -EOPNOTSUPP,
			  "this kernel has no tracepoint optee:optee_invoke_fn_end");
		return NULL;
	}
	error_set(err, -EOPNOTSUPP, "%s",
		  geteuid() ? "tracefs is for root only" :
			      "tracefs is not mounted: mount -t tracefs "
			      "tracefs /sys/kernel/tracing");
	return NULL;
}

/*
 * Removes the trace instances of programs that were killed, and one with our own PID: an instance
 * keeps its buffers until it is removed.
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
		int pid = 0, end = 0;

		if (sscanf(entry->d_name, NAME "%d%n", &pid, &end) != 1 || entry->d_name[end] ||
		    pid <= 0)
			continue;
		if (pid == getpid() || (kill(pid, 0) && errno == ESRCH))
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

int tracepoints_begin(struct tracepoints **result, struct error *err)
{
	const char *root = find_root(err);
	struct tracepoints *trace;
	char pid[16];
	int ret;

	*result = NULL;
	if (!root)
		return -EOPNOTSUPP;
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return error_memory(err);
	remove_stale(root);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	snprintf(trace->dir, sizeof(trace->dir), "%s/instances/" NAME "%s", root, pid);
	if (mkdir(trace->dir, 0700)) {
		ret = error_errno(err, "no trace instance");
		free(trace);
		return ret;
	}
	/* event-fork: threads begun later are counted, too. */
	if (!write_to(trace, "buffer_size_kb", BUFFER_KB) &&
	    !write_to(trace, "set_event_pid", pid) && !write_to(trace, "options/event-fork", "1") &&
	    !write_to(trace, ENABLE("end"), "1")) {
		*result = trace;
		return 0;
	}
	tracepoints_close_legs(trace);
	return error_set(err, -EIO, "the trace instance could not be set up");
}

void tracepoints_close_legs(struct tracepoints *trace)
{
	if (!trace)
		return;
	write_to(trace, "events/optee/enable", "0");
	rmdir(trace->dir);
	free(trace);
}

struct event {
	bool begin; /* entry to the secure world; false: return */
	uint64_t ns;
	uint32_t ret; /* a0 of a return */
};

/*
 * Parses "  NAME-PID [CPU] FLAGS SECONDS.MICROS: EVENT: param=… ret (a0, …". NAME may contain
 * anything, so the line is parsed from its end. Returns false if it isn't one of our events.
 */
static bool parse_event(char *line, struct event *e)
{
	static const char mark[] = ": optee_invoke_fn_";
	char *at = NULL, *stamp, *point, *bracket;

	for (char *found = line; (found = strstr(found, mark)); found++)
		at = found;
	if (!at)
		return false;
	*at = '\0';
	at += sizeof(mark) - 1;
	e->begin = !strncmp(at, "begin: ", 7);
	bracket = strstr(at, " ret (");
	if (!e->begin && (strncmp(at, "end: ", 5) || !bracket))
		return false;
	e->ret = e->begin ? 0 : (uint32_t)strtoul(bracket + 6, NULL, 16);
	stamp = strrchr(line, ' ');
	if (!stamp || !isdigit((unsigned char)stamp[1]))
		return false;
	e->ns = strtoull(stamp + 1, &point, 10) * 1000000000u;
	if (*point != '.' || strspn(point + 1, "0123456789") != 6 || point[7] != '\0')
		return false;
	e->ns += strtoull(point + 1, NULL, 10) * TRACE_STEP_NS;
	return true;
}

/* Returns false at the end of the trace. */
static bool next_event(FILE *f, struct event *e)
{
	char line[512];

	while (fgets(line, sizeof(line), f))
		if (parse_event(line, e))
			return true;
	return false;
}

/* Opens a file of the instance for reading; returns NULL with errno. */
static FILE *open_to_read(const struct tracepoints *trace, const char *name)
{
	int fd = open_file(trace, name, O_RDONLY);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* Returns the number of lost events: the sum of "overrun: N" over all CPUs. */
static uint64_t count_lost(const struct tracepoints *trace)
{
	uint64_t lost = 0;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < cpus; cpu++) {
		char name[64], line[128];
		uint64_t n;
		FILE *f;

		snprintf(name, sizeof(name), "per_cpu/cpu%ld/stats", cpu);
		f = open_to_read(trace, name);
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "overrun: %" SCNu64, &n) == 1)
				lost += n;
		if (f)
			fclose(f);
	}
	return lost;
}

/* Passes all events to `take`. Lost events are reported first: they may cause its error. */
static int read_events(const struct tracepoints *trace, int (*take)(FILE *, void *, struct error *),
		       void *to, struct error *err)
{
	FILE *f = open_to_read(trace, "trace");
	uint64_t lost;
	int ret;

	if (!f)
		return error_errno(err, "cannot read the trace");
	ret = take(f, to, err);
	fclose(f);
	lost = count_lost(trace);
	return lost ? error_set(err, -ENOBUFS,
				"%" PRIu64 " events found no room in the trace buffer", lost) :
		      ret;
}

static void count_return(struct tracepoint_counts *counts, uint32_t a0)
{
	uint64_t *const by_request[] = {
		[RPC_ALLOC] = &counts->alloc,
		[RPC_FREE] = &counts->free,
		[RPC_INTERRUPT] = &counts->interrupts,
		[RPC_COMMAND] = &counts->command,
	};
	uint32_t request = a0 & 0xffffu;
	uint64_t *count = &counts->other;

	counts->returns++;
	if ((a0 & 0xffff0000u) != RETURN_RPC || request == 0xffffu)
		count = &counts->complete;
	else if (request <= RPC_COMMAND && by_request[request])
		count = by_request[request];
	++*count;
}

static int take_counts(FILE *f, void *to, struct error *err)
{
	struct tracepoint_counts *counts = to;
	struct event e;

	while (next_event(f, &e))
		if (!e.begin)
			count_return(counts, e.ret);
	/* The trace has at least one completed call, or its format isn't understood. */
	if (ferror(f) || !counts->complete)
		return error_set(err, -EPROTO, "the trace could not be understood");
	return 0;
}

int tracepoints_end(struct tracepoints *trace, struct tracepoint_counts *counts, struct error *err)
{
	int ret;

	if (!trace)
		return 0;
	write_to(trace, "events/optee/enable", "0");
	ret = read_events(trace, take_counts, counts, err);
	tracepoints_close_legs(trace);
	return ret;
}

/* Mounts tracefs for this process alone; the mount ends with the process. */
static void mount_for_us(void)
{
	const char *root = roots[0];
	char path[64];

	snprintf(path, sizeof(path), "%s/instances", root);
	if (!access(path, F_OK) || access(root, F_OK) || geteuid())
		return;
	if (!unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		mount("tracefs", root, "tracefs", MS_NOSUID | MS_NOEXEC, NULL);
}

int tracepoints_open_legs(struct tracepoints **trace, struct error *err)
{
	int ret;

	mount_for_us();
	ret = tracepoints_begin(trace, err);
	if (ret)
		return ret;
	/* Recording is off between calls. If the kernel lacks mono_raw, its default clock stays. */
	write_to(*trace, "trace_clock", "mono_raw");
	if (!write_to(*trace, "tracing_on", "0") && !write_to(*trace, ENABLE("begin"), "1"))
		return 0;
	tracepoints_close_legs(*trace);
	*trace = NULL;
	return error_set(err, -EOPNOTSUPP,
			 "the kernel's tracepoints of OP-TEE could not be switched on");
}

int tracepoints_start_legs(struct tracepoints *trace, struct error *err)
{
	/* Truncating the file empties the buffers. */
	int fd = open_file(trace, "trace", O_WRONLY | O_TRUNC);

	if (fd >= 0)
		close(fd);
	if (fd < 0 || write_to(trace, "tracing_on", "1"))
		return error_errno(err, "the trace could not be begun");
	return 0;
}

static int take_legs(FILE *f, void *to, struct error *err)
{
	struct tracepoint_legs *legs = to;
	struct tracepoint_leg leg = { 0 };
	const char *wrong = NULL;
	bool open = false;
	struct event e;

	legs->count = 0;
	while (!wrong && next_event(f, &e)) {
		if (e.begin == open)
			wrong = "the trace does not go in and out of the secure world by turns";
		else if (e.begin)
			leg.begin_ns = e.ns;
		else if (e.ns < leg.begin_ns)
			wrong = "the trace's clock runs backwards";
		else if (legs->count == TRACE_LEGS_MAX)
			return error_set(err, -E2BIG,
					 "more than %d ways into the secure world in one call",
					 TRACE_LEGS_MAX);
		else
			legs->list[legs->count++] =
				(struct tracepoint_leg){ leg.begin_ns, e.ns, e.ret };
		open = e.begin;
	}
	if (!wrong && (ferror(f) || open))
		wrong = "the trace could not be understood";
	else if (!wrong && !legs->count)
		wrong = "no way into the secure world was traced";
	return wrong ? error_set(err, -EPROTO, "%s", wrong) : 0;
}

int tracepoints_stop_legs(struct tracepoints *trace, struct tracepoint_legs *legs,
			  struct error *err)
{
	write_to(trace, "tracing_on", "0");
	return read_events(trace, take_legs, legs, err);
}
