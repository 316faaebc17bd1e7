/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "shared_library.h"
#include "tee_client.h"
#include "tee_device.h"

static struct tee_api api;

static const struct symbol symbols[] = {
	{ "TEEC_InitializeContext", &api.initialize_context, false },
	{ "TEEC_FinalizeContext", &api.finalize_context, false },
	{ "TEEC_OpenSession", &api.open_session, false },
	{ "TEEC_CloseSession", &api.close_session, false },
	{ "TEEC_InvokeCommand", &api.invoke, false },
	{ "TEEC_RegisterSharedMemory", &api.register_memory, false },
	{ "TEEC_AllocateSharedMemory", &api.allocate_memory, false },
	{ "TEEC_ReleaseSharedMemory", &api.release_memory, false },
	{ 0 },
};

static struct shared_library libteec = {
	.title = "libteec",
	.skip = "no-libteec",
	.hint = "install the OP-TEE client library (package libteec2, or optee-client)",
	.names = (const char *const[]){ "libteec.so.2", "libteec.so.1", "libteec.so", NULL },
	.symbols = symbols,
};

/* true: tee-supplicant answered before, so openings need no timeout. */
static atomic_bool answered;

const char *tee_library_file(struct error *err)
{
	return shared_library_load(&libteec, err) ? NULL : libteec.file;
}

int tee_probe(struct error *err)
{
	char path[32];
	int fd = tee_device_open(path, sizeof(path), err);

	if (fd < 0)
		return fd;
	close(fd);
	return shared_library_load(&libteec, err);
}

/* A session being opened, possibly by a thread that is abandoned if it hangs. */
struct opening {
	struct tee_session s; /* first: the caller gets its address */
	TEEC_UUID uuid;
	TEEC_Result result;
	uint32_t origin;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done;
	bool abandoned; /* the caller gave up, so the thread frees this struct */
};

static void free_opening(struct opening *o)
{
	if (o->result == TEEC_SUCCESS)
		api.close_session(&o->s.session);
	api.finalize_context(&o->s.context);
	pthread_cond_destroy(&o->changed);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

static void *open_session(void *arg)
{
	struct opening *o = arg;
	uint64_t begin = clock_now_ns();
	uint32_t origin = 0;
	TEEC_Result result = api.open_session(&o->s.context, &o->s.session, &o->uuid,
					      TEEC_LOGIN_PUBLIC, NULL, NULL, &origin);
	bool abandoned;

	pthread_mutex_lock(&o->lock);
	o->s.open_ns = clock_now_ns() - begin;
	o->result = result;
	o->origin = origin;
	o->done = true;
	abandoned = o->abandoned;
	pthread_cond_signal(&o->changed);
	pthread_mutex_unlock(&o->lock);
	if (abandoned)
		free_opening(o);
	return NULL;
}

static unsigned timeout_seconds(enum supplicant supplicant)
{
	const char *text = getenv("TEEMARK_TEE_TIMEOUT");
	unsigned long seconds = text ? strtoul(text, NULL, 10) : 0;

	if (seconds > 0 && seconds <= 86400)
		return (unsigned)seconds;
	return supplicant == SUPPLICANT_ABSENT ? 5 : 30;
}

/*
 * Waits up to two more seconds without idling. The clock of an emulator that counts instructions
 * jumps ahead while the machine idles, so a short disk access can use up the whole timeout. The
 * lock is held before and after.
 */
static void look_on(struct opening *o)
{
	uint64_t end = clock_now_ns() + 2000000000u;

	while (!o->done && clock_now_ns() < end) {
		pthread_mutex_unlock(&o->lock);
		sched_yield();
		pthread_mutex_lock(&o->lock);
	}
}

/*
 * Opens the session in a thread. Returns 0 if the call returned in time, with any result, else
 * -ETIMEDOUT; then the hanging thread owns `o`.
 */
static int open_session_watched(struct opening *o, unsigned seconds, enum supplicant supplicant)
{
	struct timespec end;
	pthread_t thread;
	int err = 0;

	if (pthread_create(&thread, NULL, open_session, o)) {
		open_session(o); /* no thread: opens without a timeout */
		return 0;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)seconds;
	pthread_mutex_lock(&o->lock);
	while (!o->done && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&o->changed, &o->lock, &end);
	if (supplicant == SUPPLICANT_RUNNING)
		look_on(o);
	err = o->done ? 0 : -ETIMEDOUT;
	o->abandoned = !o->done;
	pthread_mutex_unlock(&o->lock);
	if (err) /* the thread owns o from now on */
		pthread_detach(thread);
	else
		pthread_join(thread, NULL);
	return err;
}

static int timed_out(struct error *err, const char *name, unsigned seconds,
		     enum supplicant supplicant)
{
	bool stopped = supplicant == SUPPLICANT_STOPPED;

	return error_skip(err, -ETIMEDOUT, "no-supplicant",
			  "no answer within %u s when loading %s%s\n%s", seconds, name,
			  stopped                         ? ": tee-supplicant is stopped" :
			  supplicant == SUPPLICANT_ABSENT ? ": tee-supplicant is not running" :
							    "",
			  stopped ? "let it go on: kill -CONT $(pidof tee-supplicant)" :
				    "start it (tee-supplicant -d, or systemctl start "
				    "tee-supplicant), it loads TAs for the TEE; "
				    "TEEMARK_TEE_TIMEOUT=SECONDS waits longer");
}

static int refused(struct error *err, const struct opening *o, const char *name)
{
	const TEEC_UUID *u = &o->uuid;
	const uint8_t *b = u->clockSeqAndNode;
	char uuid[40];
	bool served = tee_supplicant_state() == SUPPLICANT_RUNNING;
	int code = error_tee(err, o->result, o->origin, "cannot open a session with %s", name);

	snprintf(uuid, sizeof(uuid), "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", u->timeLow,
		 u->timeMid, u->timeHiAndVersion, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]);
	if (o->result == TEEC_ERROR_ITEM_NOT_FOUND)
		error_hint(err, "no-ta",
			   "the TA is not installed: put %s.ta into /lib/optee_armtz, or the folder of "
			   "tee-supplicant's --ta-path%s",
			   uuid, served ? "" : ", and start tee-supplicant, which loads it");
	else if (o->result == TEEC_ERROR_SECURITY)
		error_hint(err, "ta-rejected",
			   "OP-TEE rejects the signature of %s.ta: sign it with the key that this "
			   "board's OP-TEE was built with",
			   uuid);
	else if (o->result == TEEC_ERROR_COMMUNICATION && !served)
		error_hint(err, "no-supplicant", "start tee-supplicant, it loads TAs for the TEE");
	return code;
}

int tee_session_open(struct tee_session **session, const TEEC_UUID *uuid, const char *name,
		     struct error *err)
{
	pthread_condattr_t attr;
	struct opening *o;
	TEEC_Result res;
	uint64_t begin;
	int ret = tee_probe(err);

	*session = NULL;
	if (ret)
		return ret;
	o = calloc(1, sizeof(*o));
	if (!o)
		return error_memory(err);
	o->s.api = &api;
	o->uuid = *uuid;
	begin = clock_now_ns();
	res = api.initialize_context(NULL, &o->s.context);
	o->s.context_ns = clock_now_ns() - begin;
	if (res != TEEC_SUCCESS) {
		free(o);
		return error_tee(err, res, TEEC_ORIGIN_API, "cannot connect to the TEE");
	}
	pthread_mutex_init(&o->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&o->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (atomic_load(&answered)) {
		open_session(o);
	} else {
		enum supplicant supplicant = tee_supplicant_state();
		unsigned seconds = timeout_seconds(supplicant);

		if (open_session_watched(o, seconds, supplicant))
			return timed_out(err, name, seconds, supplicant);
	}
	if (o->result != TEEC_SUCCESS) {
		ret = refused(err, o, name);
		free_opening(o);
		return ret;
	}
	atomic_store(&answered, true);
	*session = &o->s;
	return 0;
}

void tee_session_close(struct tee_session *session)
{
	if (session)
		free_opening((struct opening *)session);
}

int tee_session_again(struct tee_session *session, const TEEC_UUID *uuid, const char *name,
		      struct error *err)
{
	uint32_t origin = 0;
	TEEC_Result res;

	session->api->close_session(&session->session);
	res = session->api->open_session(&session->context, &session->session, uuid,
					 TEEC_LOGIN_PUBLIC, NULL, NULL, &origin);
	return res == TEEC_SUCCESS ?
		       0 :
		       error_tee(err, res, origin, "cannot open another session with %s", name);
}

bool tee_uuid(const char *text, TEEC_UUID *uuid)
{
	static const char pattern[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	uint8_t *b = uuid->clockSeqAndNode;

	if (strlen(text) != sizeof(pattern) - 1)
		return false;
	for (size_t i = 0; pattern[i]; i++)
		if (pattern[i] == '-' ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	return sscanf(text,
		      "%8" SCNx32 "-%4" SCNx16 "-%4" SCNx16
		      "-%2hhx%2hhx-%2hhx%2hhx%2hhx%2hhx%2hhx%2hhx",
		      &uuid->timeLow, &uuid->timeMid, &uuid->timeHiAndVersion, &b[0], &b[1], &b[2],
		      &b[3], &b[4], &b[5], &b[6], &b[7]) == 11;
}

int tee_invoke(struct tee_session *session, uint32_t command, TEEC_Operation *op, const char *doing,
	       struct error *err)
{
	uint32_t origin = 0;
	TEEC_Result res = session->api->invoke(&session->session, command, op, &origin);

	if (res == TEEC_SUCCESS)
		return 0;
	return error_tee(err, res, origin, "cannot %s", doing);
}

int tee_invoke_times(struct tee_session *session, uint32_t command, TEEC_Operation *op,
		     uint32_t times, const char *doing, struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < times; i++)
		ret = tee_invoke(session, command, op, doing, err);
	return ret;
}

int tee_shm_alloc(struct tee_session *session, size_t size, uint32_t flags, TEEC_SharedMemory **shm,
		  struct error *err)
{
	TEEC_SharedMemory *m = calloc(1, sizeof(*m));
	TEEC_Result res;

	*shm = NULL;
	if (!m)
		return error_memory(err);
	m->size = size;
	m->flags = flags;
	res = session->api->allocate_memory(&session->context, m);
	if (res != TEEC_SUCCESS) {
		free(m);
		return error_tee(err, res, TEEC_ORIGIN_API,
				 "cannot allocate %zu bytes of shared memory", size);
	}
	*shm = m;
	return 0;
}

void tee_shm_free(struct tee_session *session, TEEC_SharedMemory *shm)
{
	if (!shm)
		return;
	session->api->release_memory(shm);
	free(shm);
}
