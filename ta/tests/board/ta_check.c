/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of the TAs on a real TEE, from a client that means harm.
 *
 *   ta_check types    every parameter type on every command of the digest TA
 *   ta_check apart    an instance that dies takes no session along
 *   ta_check probe    what a TA may do here: "NAME yes|no|absent VALUE…"
 *   ta_check stack    stack high-water of every algorithm and implementation
 *
 * Exit status: 0 fine, 1 a finding, 2 usage or no TEE.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/tee.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <tee_client_api.h>
#include <teemark/algorithms.h>
#include <teemark/ta_digest.h>
#include <teemark/ta_probe.h>

static TEEC_Context context;

__attribute__((noreturn, format(printf, 1, 2))) static void
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("error: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

static TEEC_Result open_session(TEEC_Session *session, TEEC_UUID uuid)
{
	uint32_t origin = 0;

	return TEEC_OpenSession(&context, session, &uuid, TEEC_LOGIN_PUBLIC,
				NULL, NULL, &origin);
}

static void must_open(TEEC_Session *session, TEEC_UUID uuid)
{
	TEEC_Result res = open_session(session, uuid);

	if (res != TEEC_SUCCESS)
		die("opening a session: 0x%08x", res);
}

static TEEC_Result invoke(TEEC_Session *session, uint32_t cmd,
			  TEEC_Operation *op)
{
	uint32_t origin = 0;

	return TEEC_InvokeCommand(session, cmd, op, &origin);
}

/*
 * The types go to the driver itself: libteec would refuse most of them. What
 * the driver refuses can't reach a TA: it is refused all the same.
 */
enum memref_kind {
	MEMREF_64_BYTES,
	MEMREF_EMPTY,
	MEMREF_NULL, /* no memory, and a size nevertheless */
	MEMREF_KINDS,
};

struct raw_session {
	int fd;
	int shm_id;
	uint32_t id;
};

static void raw_open(struct raw_session *session)
{
	static const uint8_t uuid[] = { 0x5e, 0x5b, 0x2f, 0x0c, 0x6d, 0x0a,
					0x4b, 0x57, 0x9c, 0x1e, 0x3a, 0x7f,
					0x41, 0xd2, 0x88, 0x60 };
	struct tee_ioctl_open_session_arg arg = {
		.clnt_login = TEE_IOCTL_LOGIN_PUBLIC,
	};
	struct tee_ioctl_buf_data data = { (uintptr_t)&arg, sizeof(arg) };

	memcpy(arg.uuid, uuid, sizeof(uuid));
	if (ioctl(session->fd, TEE_IOC_OPEN_SESSION, &data) || arg.ret)
		die("opening a session: %s, 0x%08x", strerror(errno), arg.ret);
	session->id = arg.session;
}

/* The TA's answer, or TEEC_ERROR_BAD_PARAMETERS where the driver gave one. */
static TEEC_Result raw_invoke(struct raw_session *session, uint32_t cmd,
			      uint32_t types, enum memref_kind kind)
{
	struct {
		struct tee_ioctl_invoke_arg arg;
		struct tee_ioctl_param params[4];
	} call = {
		.arg = { .func = cmd, .session = session->id, .num_params = 4 }
	};
	struct tee_ioctl_buf_data data = { (uintptr_t)&call, sizeof(call) };

	for (int i = 0; i < 4; i++) {
		struct tee_ioctl_param *param = &call.params[i];

		param->attr = types >> 4 * i & 15;
		if (param->attr >= 1 && param->attr <= 3) {
			/* An algorithm, an implementation, repetitions. */
			param->a = 1;
			param->b = 1;
		} else if (param->attr) {
			param->a = kind == MEMREF_NULL ? 0 : 64 * i;
			param->b = kind == MEMREF_EMPTY ? 0 : 64;
			param->c = kind == MEMREF_NULL ?
					   TEE_MEMREF_NULL :
					   (uint64_t)session->shm_id;
		}
	}
	if (ioctl(session->fd, TEE_IOC_INVOKE, &data))
		return errno == EINVAL ? TEEC_ERROR_BAD_PARAMETERS :
					 TEEC_ERROR_COMMUNICATION;
	return call.arg.ret;
}

static bool is_answer(TEEC_Result res)
{
	return res == TEEC_SUCCESS || res == TEEC_ERROR_BAD_PARAMETERS ||
	       res == TEEC_ERROR_NOT_SUPPORTED || res == TEEC_ERROR_BAD_STATE ||
	       res == TEEC_ERROR_SHORT_BUFFER;
}

/* Anything else never gets past the driver, whatever the memory. */
static bool driver_lets_through(uint32_t types)
{
	for (int i = 0; i < 4; i++)
		if ((types >> 4 * i & 15) == 4 || (types >> 4 * i & 15) > 7)
			return false;
	return true;
}

static int check_types(void)
{
	struct tee_ioctl_shm_alloc_data shm = { .size = 4096 };
	struct raw_session session = { .fd = open("/dev/tee0", O_RDWR) };
	int findings = 0;

	if (session.fd < 0)
		die("/dev/tee0: %s", strerror(errno));
	if (ioctl(session.fd, TEE_IOC_SHM_ALLOC, &shm) < 0)
		die("no shared memory: %s", strerror(errno));
	session.shm_id = shm.id;
	raw_open(&session);

	for (uint32_t cmd = 0; cmd <= TA_DIGEST_CMD_STATS + 1; cmd++) {
		uint32_t calls = 0, successes = 0, others = 0;

		for (uint32_t types = 0; types < 65536; types++) {
			int kinds = driver_lets_through(types) ? MEMREF_KINDS :
								 1;

			for (int kind = 0; kind < kinds; kind++) {
				TEEC_Result res =
					raw_invoke(&session, cmd, types, kind);

				calls++;
				successes += res == TEEC_SUCCESS;
				if (!is_answer(res) && !others++)
					printf("command %u, types 0x%04x, "
					       "memory %d: 0x%08x\n",
					       cmd, types, kind, res);
				if (res == TEEC_ERROR_TARGET_DEAD)
					raw_open(&session);
			}
		}
		printf("command %u: %u calls, %u successes, "
		       "%u neither success nor refusal\n",
		       cmd, calls, successes, others);
		fflush(stdout);
		findings += others != 0;
	}
	close(session.shm_id);
	close(session.fd);
	return findings != 0;
}

/* Commands of the probe that died here; -1: none can be made to die. */
static int kill_a_probe(void)
{
	int died = 0;

	for (uint32_t cmd = TA_PROBE_CMD_COUNTER_VIRTUAL;
	     cmd <= TA_PROBE_CMD_COUNTER_PHYSICAL; cmd++) {
		TEEC_Operation op = {
			.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT,
						       TEEC_VALUE_OUTPUT,
						       TEEC_NONE, TEEC_NONE)
		};
		TEEC_Session session;

		must_open(&session, (TEEC_UUID)TA_PROBE_UUID);
		died += invoke(&session, cmd, &op) == TEEC_ERROR_TARGET_DEAD;
		TEEC_CloseSession(&session);
	}
	return died;
}

static int check_apart(void)
{
	static const uint8_t abc[32] = {
		0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
		0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
		0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
		0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
	};
	uint8_t digest[32] = { 0 };
	TEEC_Session session;
	TEEC_Operation op = { 0 };
	int died = 0;

	must_open(&session, (TEEC_UUID)TA_DIGEST_UUID);
	op.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, TEEC_NONE, TEEC_NONE,
					 TEEC_NONE);
	op.params[0].value.a = 3;
	op.params[0].value.b = TA_DIGEST_IMPL_TEE;
	if (invoke(&session, TA_DIGEST_CMD_INIT, &op) != TEEC_SUCCESS)
		die("INIT failed");
	op.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_TEMP_INPUT, TEEC_NONE,
					 TEEC_NONE, TEEC_NONE);
	op.params[0].tmpref.buffer = (void *)"ab";
	op.params[0].tmpref.size = 2;
	if (invoke(&session, TA_DIGEST_CMD_UPDATE, &op) != TEEC_SUCCESS)
		die("UPDATE failed");

	died = kill_a_probe();

	op.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_TEMP_INPUT,
					 TEEC_MEMREF_TEMP_OUTPUT, TEEC_NONE,
					 TEEC_NONE);
	op.params[0].tmpref.buffer = (void *)"c";
	op.params[0].tmpref.size = 1;
	op.params[1].tmpref.buffer = digest;
	op.params[1].tmpref.size = sizeof(digest);
	if (invoke(&session, TA_DIGEST_CMD_FINAL, &op) != TEEC_SUCCESS ||
	    memcmp(digest, abc, sizeof(abc))) {
		printf("a session did not survive: %d instances died\n", died);
		return 1;
	}
	TEEC_CloseSession(&session);
	printf("%d instances died, the session lived\n", died);
	return 0;
}

static int show_probes(void)
{
	static const struct {
		const char *name;
		uint32_t cmd;
		uint32_t types;
	} probes[] = {
		{ "call", TA_PROBE_CMD_NOP, 0x0000 },
		{ "counter-virtual", TA_PROBE_CMD_COUNTER_VIRTUAL, 0x0022 },
		{ "counter-physical", TA_PROBE_CMD_COUNTER_PHYSICAL, 0x0022 },
		{ "ce-sha1", TA_PROBE_CMD_CE_SHA1, 0x0000 },
		{ "ce-sha256", TA_PROBE_CMD_CE_SHA256, 0x0000 },
	};

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		TEEC_Operation op = { .paramTypes = probes[i].types };
		TEEC_Session session;
		TEEC_Result res;

		must_open(&session, (TEEC_UUID)TA_PROBE_UUID);
		res = invoke(&session, probes[i].cmd, &op);
		TEEC_CloseSession(&session);
		printf("%s %s", probes[i].name,
		       res == TEEC_SUCCESS             ? "yes" :
		       res == TEEC_ERROR_TARGET_DEAD   ? "no" :
		       res == TEEC_ERROR_NOT_SUPPORTED ? "absent" :
							 "error");
		if (res == TEEC_SUCCESS && probes[i].types)
			printf(" count=%llu hz=%u",
			       (unsigned long long)op.params[0].value.b << 32 |
				       op.params[0].value.a,
			       op.params[1].value.a);
		printf("\n");
		if (res != TEEC_SUCCESS && res != TEEC_ERROR_TARGET_DEAD &&
		    res != TEEC_ERROR_NOT_SUPPORTED)
			return 1;
	}
	return 0;
}

static TEEC_Result get_stats(TEEC_Session *session, uint32_t *used,
			     uint32_t *size)
{
	TEEC_Operation op = { .paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT,
							     TEEC_VALUE_OUTPUT,
							     TEEC_VALUE_OUTPUT,
							     TEEC_NONE) };
	TEEC_Result res = invoke(session, TA_DIGEST_CMD_STATS, &op);

	*used = op.params[0].value.a;
	*size = op.params[0].value.b;
	return res;
}

static int show_stack(void)
{
	static uint8_t message[1000];
	uint32_t used = 0, size = 0, most = 0;

	for (size_t i = 0; i < algorithms_count; i++) {
		for (uint32_t impl = 0; impl < 3; impl++) {
			uint8_t digest[64];
			TEEC_Operation op = {
				.paramTypes =
					TEEC_PARAM_TYPES(TEEC_VALUE_INPUT,
							 TEEC_MEMREF_TEMP_INPUT,
							 TEEC_MEMREF_TEMP_OUTPUT,
							 TEEC_VALUE_INPUT),
			};
			TEEC_Session session;
			TEEC_Result res;

			if (algorithms[i].class != ALG_DIGEST)
				continue;
			op.params[0].value.a = algorithms[i].id;
			op.params[0].value.b = impl;
			op.params[1].tmpref.buffer = message;
			op.params[1].tmpref.size = sizeof(message);
			op.params[2].tmpref.buffer = digest;
			op.params[2].tmpref.size = sizeof(digest);
			op.params[3].value.a = 2;
			must_open(&session, (TEEC_UUID)TA_DIGEST_UUID);
			res = invoke(&session, TA_DIGEST_CMD_ONESHOT, &op);
			if (res != TEEC_SUCCESS &&
			    res != TEEC_ERROR_NOT_SUPPORTED)
				die("%s: 0x%08x", algorithms[i].name, res);
			if (get_stats(&session, &used, &size) != TEEC_SUCCESS)
				die("STATS failed");
			TEEC_CloseSession(&session);
			if (res == TEEC_SUCCESS)
				printf("%s impl %u: %u of %u bytes\n",
				       algorithms[i].name, impl, used, size);
			if (used > most)
				most = used;
		}
	}
	/* Known, not all of it, and a quarter to spare. */
	return !most || most > size / 4 * 3;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} checks[] = {
		{ "types", check_types },
		{ "apart", check_apart },
		{ "probe", show_probes },
		{ "stack", show_stack },
	};
	TEEC_Result res;

	for (size_t i = 0; argc == 2 && i < sizeof(checks) / sizeof(*checks);
	     i++) {
		int status;

		if (strcmp(argv[1], checks[i].name))
			continue;
		res = TEEC_InitializeContext(NULL, &context);
		if (res != TEEC_SUCCESS)
			die("no TEE: 0x%08x", res);
		status = checks[i].run();
		TEEC_FinalizeContext(&context);
		return status;
	}
	fprintf(stderr, "usage: ta_check types|apart|probe|stack\n");
	return 2;
}
