/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library to preload into a program (LD_PRELOAD). It records each call of libteec in the file
 * that TEEMARK_WATCH names (watch_record.h). With TEEMARK_WATCH_TRACE it also puts two markers for
 * QEMU's plugin (marker.h) around each call of a session. Of each kind of call (TA, function,
 * command) it keeps the first two windows, every n-th, and each that is slower than all before.
 *
 * Without tracing, the overhead of a call is two clock readings and a record in mapped memory, and
 * no system call. A process's first call also saves its memory map.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "marker.h"
#include "tee_client_api.h"
#include "watch_record.h"

#define EXPORT __attribute__((visibility("default")))

/* tee_client_api.h has no prototypes for the libteec functions defined here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { KINDS = 256 };

static struct watch_head *head; /* NULL: nothing is recorded */
static struct watch_call *calls;
static bool tracing, output_is_file;
static __thread uint32_t pid, tid;
static __thread unsigned depth; /* > 0: inside libteec, whose own calls aren't recorded */

/* A kind of call: same TA, function and command. It decides which windows are kept. */
static struct kind {
	uint64_t key, made, dearest_ns;
} kinds[KINDS];

/* The first half of the TA's UUID, indexed by the hashed address of the session's struct. */
static uint64_t tas[KINDS];

/*
 * The C library's dlsym(); the one below stands before it. Only glibc has versions of symbols: with
 * another C library a program that looks libteec up by dlsym() can't be watched.
 */
static void *(*next_dlsym)(void *handle, const char *name);
static void *libteec; /* the library that the program looked up, or that real() opened */

static void find_dlsym(void)
{
#if defined(__GLIBC__) && !defined(__UCLIBC__)
	/* Since it is in libc; before, by architecture: riscv64, arm64, arm, x86-64. */
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.27", "GLIBC_2.17",
						"GLIBC_2.4", "GLIBC_2.2.5" };

	for (size_t i = 0; !next_dlsym && i < 5; i++)
		next_dlsym = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	if (!next_dlsym)
		abort();
#else
	next_dlsym = dlsym;
#endif
}

/*
 * Returns libteec's function of that name. The library is opened here if RTLD_NEXT doesn't find the
 * function: a library that the program dlopen()ed may have brought libteec in.
 */
static void *real(const char *name)
{
	static const char *const files[] = { "libteec.so.2", "libteec.so.1", "libteec.so" };
	void *found;

	if (!next_dlsym)
		find_dlsym();
	found = next_dlsym(RTLD_NEXT, name);
	for (size_t i = 0; !found && !libteec && i < 3; i++)
		libteec = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
	if (!found && libteec)
		found = next_dlsym(libteec, name);
	if (!found) {
		fprintf(stderr, "teemark: no %s in libteec\n", name);
		abort();
	}
	return found;
}

/* Declares `next`, a pointer to libteec's own function. */
#define NEXT(function)       \
	static void *found_; \
	__typeof__(function) *next = found_ ? found_ : (found_ = real(#function))

static void forget_ids(void)
{
	pid = tid = 0;
}

/* Copies this process's memory map, at its first call, to FILE.maps.PID. */
static void keep_maps(void)
{
	char path[4096], text[4096];
	int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int to;

	snprintf(path, sizeof(path), "%s.maps.%u", getenv("TEEMARK_WATCH"), pid);
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	while (from >= 0 && to >= 0 && (n = read(from, text, sizeof(text))) > 0)
		if (write(to, text, (size_t)n) != n)
			break;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
}

static struct watch_call *new_call(uint32_t function, void *caller)
{
	static struct watch_call lost;
	struct watch_call *call = &lost;
	uint64_t number;

	if (depth || !head)
		return NULL;
	number = atomic_fetch_add((_Atomic uint64_t *)&head->calls, 1);
	if (number < head->room)
		call = &calls[number];
	if (!tid) {
		pid = (uint32_t)getpid();
		tid = (uint32_t)syscall(SYS_gettid);
		keep_maps();
	}
	call->pid = pid;
	call->tid = tid;
	call->function = function;
	call->caller = (uintptr_t)caller;
	call->window = -1;
	if (output_is_file)
		call->printed = (uint64_t)lseek(1, 0, SEEK_CUR);
	return call;
}

static void keep_operation(struct watch_call *call, const TEEC_Operation *op)
{
	call->types = op ? op->paramTypes : 0;
	for (unsigned i = 0; op && i < 4; i++) {
		const TEEC_Parameter *p = &op->params[i];
		uint32_t type = TEEC_PARAM_TYPE_GET(op->paramTypes, i);

		if (type >= TEEC_MEMREF_WHOLE && p->memref.parent) {
			call->params[i].memory = (uintptr_t)p->memref.parent;
			call->params[i].size = type == TEEC_MEMREF_WHOLE ? p->memref.parent->size :
									   p->memref.size;
		} else if (type >= TEEC_MEMREF_TEMP_INPUT) {
			call->params[i].size = p->tmpref.size;
		}
	}
}

/* Takes the one window, or returns false: QEMU's plugin sees one CPU, not threads. */
static bool take_window(void)
{
	uint64_t free_ = 0, me = (uint64_t)getpid();

	if (atomic_compare_exchange_strong((_Atomic uint64_t *)&head->owner, &free_, me))
		return true;
	/* If the window's owner died in it, the next process takes it over. */
	return kill((pid_t)free_, 0) && errno == ESRCH &&
	       atomic_compare_exchange_strong((_Atomic uint64_t *)&head->owner, &free_, me);
}

static unsigned slot(uint64_t key)
{
	return (unsigned)(key * 0x9e3779b97f4a7c15u >> 40) % KINDS;
}

/*
 * Returns whether to keep the window of a call that took `ns`. Only the window's owner calls this,
 * so no two threads do at once.
 */
static bool worth_keeping(const struct watch_call *call, uint64_t ns)
{
	uint64_t key, *ta = &tas[slot(call->handle)];
	struct kind *kind;
	unsigned at;

	if (call->function == WATCH_OPEN)
		memcpy(ta, call->uuid, sizeof(*ta));
	key = *ta ^ (uint64_t)call->command << 8 ^ (call->function + 1);
	at = slot(key);
	for (unsigned i = 0; i < KINDS && kinds[at].key != key && kinds[at].key; i++)
		at = (at + 1) % KINDS;
	kind = &kinds[at];
	kind->key = key;
	kind->made++;
	if (kind->made > 2 && (!head->every || kind->made % head->every) &&
	    ns <= kind->dearest_ns + kind->dearest_ns / 20)
		return false;
	if (ns > kind->dearest_ns)
		kind->dearest_ns = ns;
	return true;
}

/* A call that is under way; call: NULL if it isn't recorded. */
struct watched {
	struct watch_call *call;
	bool window;
};

/* Begins a call about `handle`. Inline, so that the window doesn't begin with a return. */
static inline __attribute__((always_inline)) struct watched
begin(struct watch_call *call, const void *handle, uint32_t command, const TEEC_Operation *op)
{
	struct watched w = { call, false };

	if (call) {
		call->handle = (uintptr_t)handle;
		call->command = command;
		keep_operation(call, op);
		w.window = tracing && call->function <= WATCH_INVOKE && take_window();
		call->begin_ns = clock_ns(CLOCK_MONOTONIC);
	}
	depth++;
	if (w.window)
		MARKER_BEGIN();
	return w;
}

static TEEC_Result end(struct watched w, TEEC_Result result, uint32_t where, uint32_t *origin)
{
	struct watch_call *call = w.call;

	if (w.window)
		MARKER_HOLD();
	depth--;
	if (call) {
		call->end_ns = clock_ns(CLOCK_MONOTONIC);
		call->result = result;
		call->origin = where;
	}
	if (w.window && worth_keeping(call, call->end_ns - call->begin_ns)) {
		MARKER_KEEP();
		call->window = (int32_t)head->windows++;
	}
	if (w.window)
		atomic_store((_Atomic uint64_t *)&head->owner, 0);
	if (origin)
		*origin = where;
	return result;
}

#define NEW_CALL(function) new_call(function, __builtin_return_address(0))

EXPORT TEEC_Result TEEC_OpenSession(TEEC_Context *context, TEEC_Session *session,
				    const TEEC_UUID *uuid, uint32_t method, const void *data,
				    TEEC_Operation *op, uint32_t *origin)
{
	NEXT(TEEC_OpenSession);
	struct watch_call *call = NEW_CALL(WATCH_OPEN);
	uint32_t where = 0;
	struct watched w;
	TEEC_Result result;

	if (call && uuid)
		memcpy(call->uuid, uuid, sizeof(call->uuid));
	w = begin(call, session, 0, op);
	result = next(context, session, uuid, method, data, op, &where);
	return end(w, result, where, origin);
}

EXPORT void TEEC_CloseSession(TEEC_Session *session)
{
	NEXT(TEEC_CloseSession);
	struct watch_call *call = NEW_CALL(WATCH_CLOSE);
	struct watched w = begin(call, session, 0, NULL);

	next(session);
	end(w, TEEC_SUCCESS, 0, NULL);
}

EXPORT TEEC_Result TEEC_InvokeCommand(TEEC_Session *session, uint32_t command, TEEC_Operation *op,
				      uint32_t *origin)
{
	NEXT(TEEC_InvokeCommand);
	struct watch_call *call = NEW_CALL(WATCH_INVOKE);
	uint32_t where = 0;
	struct watched w = begin(call, session, command, op);
	TEEC_Result result = next(session, command, op, &where);

	return end(w, result, where, origin);
}

static TEEC_Result share(TEEC_Result (*next)(TEEC_Context *, TEEC_SharedMemory *),
			 TEEC_Context *context, TEEC_SharedMemory *memory, struct watch_call *call)
{
	struct watched w;

	if (call)
		call->size = memory ? memory->size : 0;
	w = begin(call, memory, 0, NULL);
	return end(w, next(context, memory), 0, NULL);
}

EXPORT TEEC_Result TEEC_RegisterSharedMemory(TEEC_Context *context, TEEC_SharedMemory *memory)
{
	NEXT(TEEC_RegisterSharedMemory);

	return share(next, context, memory, NEW_CALL(WATCH_REGISTER));
}

EXPORT TEEC_Result TEEC_AllocateSharedMemory(TEEC_Context *context, TEEC_SharedMemory *memory)
{
	NEXT(TEEC_AllocateSharedMemory);

	return share(next, context, memory, NEW_CALL(WATCH_ALLOCATE));
}

EXPORT void TEEC_ReleaseSharedMemory(TEEC_SharedMemory *memory)
{
	NEXT(TEEC_ReleaseSharedMemory);
	struct watch_call *call = NEW_CALL(WATCH_RELEASE);
	struct watched w = begin(call, memory, 0, NULL);

	next(memory);
	end(w, TEEC_SUCCESS, 0, NULL);
}

#if defined(__GLIBC__) && !defined(__UCLIBC__)
/* Returns the function above of that name, if `handle` has one of that name, too; else NULL. */
static void *instead_of(void *handle, const char *name)
{
	static const struct function {
		const char *name;
		void *ours;
	} functions[] = {
		{ "TEEC_OpenSession", TEEC_OpenSession },
		{ "TEEC_CloseSession", TEEC_CloseSession },
		{ "TEEC_InvokeCommand", TEEC_InvokeCommand },
		{ "TEEC_RegisterSharedMemory", TEEC_RegisterSharedMemory },
		{ "TEEC_AllocateSharedMemory", TEEC_AllocateSharedMemory },
		{ "TEEC_ReleaseSharedMemory", TEEC_ReleaseSharedMemory },
		{ 0 },
	};
	const struct function *f = functions;
	void *found = NULL;
	Dl_info file;

	while (f->name && strcmp(f->name, name))
		f++;
	if (f->name)
		found = next_dlsym(handle, name);
	if (!found)
		return NULL;
	/* Opened once more: it stays when the program closes it. */
	if (!libteec && found != f->ours && dladdr(found, &file))
		libteec = dlopen(file.dli_fname, RTLD_NOW | RTLD_LOCAL);
	dlerror(); /* a program may take what dlopen() said for an error of its own dlsym() */
	return f->ours;
}

/*
 * Stands before the C library's, for programs that open libteec and look its functions up, such as
 * teebench and Python's ctypes. What RTLD_NEXT and RTLD_DEFAULT mean depends on the caller: the
 * last call has to be a jump, with the caller's return address left where it is.
 */
EXPORT __attribute__((optimize("O2"))) void *dlsym(void *restrict handle, const char *restrict name)
{
	void *function = NULL;

	if (!next_dlsym)
		find_dlsym();
	if (head && handle != RTLD_NEXT && handle != RTLD_DEFAULT)
		function = instead_of(handle, name);
	return function ? function : next_dlsym(handle, name);
}
#endif

/* Measures the overhead of watching a call in ns, by calls with nothing inside. */
static uint64_t measure_own(void)
{
	enum { TRIES = 5, ROUNDS = 64 };
	struct watch_call *last = calls;
	uint64_t before = head->calls, least = UINT64_MAX;
	TEEC_Operation op = { .paramTypes = TEEC_MEMREF_TEMP_INPUT };

	/* The first call takes longer, and so does a try in which the timer ticks. */
	for (unsigned try = 0; try < TRIES; try++) {
		uint64_t begun = clock_ns(CLOCK_MONOTONIC);

		for (unsigned i = 0; i < ROUNDS; i++) {
			struct watch_call *call = new_call(WATCH_INVOKE, NULL);

			keep_operation(call, &op);
			call->begin_ns = clock_ns(CLOCK_MONOTONIC);
			call->end_ns = clock_ns(CLOCK_MONOTONIC);
			head->calls = before;
		}
		begun = (clock_ns(CLOCK_MONOTONIC) - begun) / ROUNDS;
		if (begun < least)
			least = begun;
	}
	memset(last, 0, sizeof(*last));
	return least;
}

static __attribute__((constructor)) void watch_begin(void)
{
	const char *path = getenv("TEEMARK_WATCH");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct stat st;
	void *map = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > (off_t)sizeof(*head))
		map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return; /* not watched, or the file belongs to another user */
	head = map;
	calls = (struct watch_call *)(head + 1);
	if (memcmp(head->magic, WATCH_MAGIC, sizeof(head->magic))) {
		head = NULL;
		return;
	}
	pthread_atfork(NULL, NULL, forget_ids);
	if (!atomic_fetch_add((_Atomic uint64_t *)&head->processes, 1))
		head->own_ns = measure_own();
	tracing = getenv("TEEMARK_WATCH_TRACE");
	/* xtest's output up to now tells which subtest a call belongs to. */
	output_is_file = tracing && !fstat(1, &st) && S_ISREG(st.st_mode);
	if (output_is_file)
		setvbuf(stdout, NULL, _IOLBF, 0);
	if (tracing)
		MARKER_ARM();
}
