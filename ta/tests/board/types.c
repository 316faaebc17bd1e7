/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types go to the driver itself: libteec would refuse most of them. What
 * the driver refuses can't reach a TA: it is refused all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/tee.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tee_client_api.h>
#include <teemark/ta_bench.h>
#include <teemark/ta_clock.h>
#include <teemark/ta_digest.h>
#include <teemark/ta_probe.h>
#include <teemark/ta_size.h>

#include "board.h"

enum memref_kind {
	MEMREF_64_BYTES,
	MEMREF_EMPTY,
	MEMREF_NULL, /* no memory, and a size nevertheless */
	MEMREF_KINDS,
};

enum { SHM_SIZE = 4096, NO_MORE = 0xffff };

struct raw_session {
	int fd;
	int shm_id;
	uint8_t *shm;
	uint32_t id;
};

struct ta {
	const char *name;
	TEEC_UUID uuid;
	/* Those that may not be asked here would end the TA. */
	uint32_t commands[40];
	/* Brings the session where commands do most; may be NULL. */
	void (*ready)(struct raw_session *session);
};

/* The answer, or TEEC_ERROR_BAD_PARAMETERS where the driver gave one. */
static TEEC_Result raw_call(struct raw_session *session, uint32_t cmd,
			    const struct tee_ioctl_param params[4])
{
	struct {
		struct tee_ioctl_invoke_arg arg;
		struct tee_ioctl_param params[4];
	} call = { .arg = { .func = cmd, .session = session->id, .num_params = 4 } };
	struct tee_ioctl_buf_data data = { (uintptr_t)&call, sizeof(call) };

	memcpy(call.params, params, sizeof(call.params));
	if (ioctl(session->fd, TEE_IOC_INVOKE, &data))
		return errno == EINVAL ? TEEC_ERROR_BAD_PARAMETERS : TEEC_ERROR_COMMUNICATION;
	return call.arg.ret;
}

static TEEC_Result raw_invoke(struct raw_session *session, uint32_t cmd, uint32_t types,
			      enum memref_kind kind)
{
	struct tee_ioctl_param params[4] = { 0 };

	for (int i = 0; i < 4; i++) {
		struct tee_ioctl_param *param = &params[i];

		param->attr = types >> 4 * i & 15;
		if (param->attr >= 1 && param->attr <= 3) {
			/* An algorithm, an implementation, repetitions. */
			param->a = 1;
			param->b = 1;
		} else if (param->attr) {
			param->a = kind == MEMREF_NULL ? 0 : 64 * i;
			param->b = kind == MEMREF_EMPTY ? 0 : 64;
			param->c = kind == MEMREF_NULL ? TEE_MEMREF_NULL :
							 (uint64_t)session->shm_id;
		}
	}
	return raw_call(session, cmd, params);
}

static struct tee_ioctl_param value(uint64_t a, uint64_t b)
{
	return (struct tee_ioctl_param){ .attr = TEE_IOCTL_PARAM_ATTR_TYPE_VALUE_INPUT,
					 .a = a,
					 .b = b };
}

static struct tee_ioctl_param memref_in(struct raw_session *session, size_t size)
{
	return (struct tee_ioctl_param){
		.attr = TEE_IOCTL_PARAM_ATTR_TYPE_MEMREF_INPUT,
		.b = size,
		.c = session->shm_id,
	};
}

static void must(struct raw_session *session, uint32_t cmd, struct tee_ioctl_param first,
		 struct tee_ioctl_param second, struct tee_ioctl_param third)
{
	const struct tee_ioctl_param params[4] = { first, second, third };
	TEEC_Result res = raw_call(session, cmd, params);

	if (res != TEEC_SUCCESS)
		die("command %u: 0x%08x", cmd, res);
}

static void ready_digest(struct raw_session *session)
{
	struct tee_ioctl_param none = { 0 };

	must(session, TA_DIGEST_CMD_INIT, value(3, TA_DIGEST_IMPL_TEE), none, none);
}

static void ready_bench(struct raw_session *session)
{
	struct tee_ioctl_param none = { 0 };

	must(session, TA_BENCH_CMD_CIPHER_PREPARE, value(34, TA_BENCH_DECRYPT), none, none);
	must(session, TA_BENCH_CMD_CIPHER_SET_KEY, memref_in(session, 16), none, none);
	must(session, TA_BENCH_CMD_CIPHER_SET_IV, memref_in(session, 12), none, none);
	must(session, TA_BENCH_CMD_MAC_SET_KEY, value(22, 0), memref_in(session, 32), none);
}

static void ready_storage(struct raw_session *session)
{
	must(session, TA_BENCH_CMD_STORAGE_CREATE, memref_in(session, 9), memref_in(session, 64),
	     value(0, 0));
}

/*
 * From the clock's command on, which switches it on, the rest run by it. Rows
 * of one TA run side by side, each in an instance of its own.
 */
static const struct ta tas[] = {
	{ "digest",
	  TA_DIGEST_UUID,
	  { 0, 1, TA_CLOCK_CMD, 2, 3, 4, 5, 6, 7, 8, NO_MORE },
	  ready_digest },
	{ "bench",
	  TA_BENCH_UUID,
	  { 0, 1, TA_CLOCK_CMD, 10, 11, 12, 13, 14, 15, 20, 21, 22, NO_MORE },
	  ready_bench },
	{ "bench",
	  TA_BENCH_UUID,
	  { TA_CLOCK_CMD, 30, 31, 32, 33, 34, 35, 36, 37, 40, 50, 2, 16, NO_MORE },
	  ready_storage },
	{ "probe", TA_PROBE_UUID, { TA_PROBE_CMD_NOP, 5, 99, NO_MORE }, NULL },
	{ "size", TA_SIZE_UUID(32), { TA_SIZE_CMD_NOP, 1, 99, NO_MORE }, NULL },
};

static void raw_open(struct raw_session *session, const TEEC_UUID *uuid)
{
	struct tee_ioctl_open_session_arg arg = {
		.uuid = { uuid->timeLow >> 24, uuid->timeLow >> 16, uuid->timeLow >> 8,
			  uuid->timeLow, uuid->timeMid >> 8, uuid->timeMid,
			  uuid->timeHiAndVersion >> 8, uuid->timeHiAndVersion },
		.clnt_login = TEE_IOCTL_LOGIN_PUBLIC,
	};
	struct tee_ioctl_buf_data data = { (uintptr_t)&arg, sizeof(arg) };

	memcpy(arg.uuid + 8, uuid->clockSeqAndNode, 8);
	if (ioctl(session->fd, TEE_IOC_OPEN_SESSION, &data) || arg.ret)
		die("opening a session: %s, 0x%08x", strerror(errno), arg.ret);
	session->id = arg.session;
}

/* Returns whether the TAs' contracts name the result; they never say that one is dead. */
static bool is_answer(TEEC_Result res)
{
	return res == TEEC_SUCCESS || res == TEEC_ERROR_BAD_PARAMETERS ||
	       res == TEEC_ERROR_NOT_SUPPORTED || res == TEEC_ERROR_BAD_STATE ||
	       res == TEEC_ERROR_SHORT_BUFFER || res == TEEC_ERROR_ITEM_NOT_FOUND ||
	       res == TEEC_ERROR_ACCESS_CONFLICT || res == TEE_ERROR_MAC_INVALID;
}

/* How a command took them. */
struct tally {
	uint32_t calls, successes, others;
};

static TEEC_Result count(struct raw_session *session, const struct ta *ta, uint32_t cmd,
			 uint32_t types, enum memref_kind kind, struct tally *tally)
{
	TEEC_Result res = raw_invoke(session, cmd, types, kind);

	tally->calls++;
	tally->successes += res == TEEC_SUCCESS;
	if (!is_answer(res) && !tally->others++)
		printf("command %u, types 0x%04x, memory %d: 0x%08x\n", cmd, types, kind, res);
	if (res == TEEC_ERROR_TARGET_DEAD)
		raw_open(session, &ta->uuid);
	return res;
}

/* Nothing, values and references: the driver takes no other parameter. */
static bool passes_driver(uint32_t types)
{
	for (; types; types >>= 4)
		if ((types & 15) == 4 || (types & 15) > 7)
			return false;
	return true;
}

/*
 * Each step-th type for the first command of a row, for the others those of them that reach
 * the TA: the driver refuses the rest before it looks at the command. Types
 * that are taken are tried without memory too.
 */
static bool check_command(struct raw_session *session, const struct ta *ta, uint32_t cmd,
			  uint32_t step)
{
	struct tally tally = { 0 };

	if (ta->ready)
		ta->ready(session);
	for (uint32_t types = 0; types < 65536; types += step) {
		TEEC_Result res;

		if (cmd != ta->commands[0] && !passes_driver(types))
			continue;
		res = count(session, ta, cmd, types, MEMREF_64_BYTES, &tally);
		if (res == TEEC_ERROR_BAD_PARAMETERS || res == TEEC_ERROR_NOT_SUPPORTED)
			continue;
		for (int kind = MEMREF_EMPTY; kind < MEMREF_KINDS; kind++) {
			if (ta->ready && cmd)
				ta->ready(session);
			count(session, ta, cmd, types, kind, &tally);
		}
	}
	printf("command %u: %u calls, %u successes, %u neither success nor refusal\n", cmd,
	       tally.calls, tally.successes, tally.others);
	fflush(stdout);
	return tally.others == 0;
}

/* 0, or 1 when a call got what is no answer. */
static int check_row(const struct ta *ta, uint32_t step)
{
	struct tee_ioctl_shm_alloc_data shm = { .size = SHM_SIZE };
	struct raw_session session = { .fd = open("/dev/tee0", O_RDWR) };
	int findings = 0;

	if (session.fd < 0)
		die("/dev/tee0: %s", strerror(errno));
	session.shm_id = ioctl(session.fd, TEE_IOC_SHM_ALLOC, &shm);
	if (session.shm_id < 0)
		die("no shared memory: %s", strerror(errno));
	session.shm = mmap(NULL, SHM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, session.shm_id, 0);
	if (session.shm == MAP_FAILED)
		die("shared memory: %s", strerror(errno));
	close(session.shm_id);   /* the number the driver knows it by ... */
	session.shm_id = shm.id; /* ... is another */
	for (size_t i = 0; i < SHM_SIZE; i++)
		session.shm[i] = (uint8_t)(i * 7 + 1);
	raw_open(&session, &ta->uuid);
	for (const uint32_t *cmd = ta->commands; *cmd != NO_MORE; cmd++)
		findings += !check_command(&session, ta, *cmd, step);
	close(session.fd);
	return findings != 0;
}

int check_types(const char *name, uint32_t step)
{
	int rows = 0, worst = 0;

	for (size_t i = 0; i < sizeof(tas) / sizeof(tas[0]); i++) {
		pid_t child;

		if (strcmp(tas[i].name, name))
			continue;
		rows++;
		child = fork();
		if (child < 0)
			die("fork: %s", strerror(errno));
		if (!child)
			exit(check_row(&tas[i], step));
	}
	if (!rows)
		die("no such TA: %s", name);
	for (; rows; rows--) {
		int status;

		if (wait(&status) < 0)
			die("wait: %s", strerror(errno));
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
		worst = status > worst ? status : worst;
	}
	return worst;
}
