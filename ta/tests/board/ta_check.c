/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of the TAs on a real TEE, from a client that means harm.
 *
 *   ta_check types TA STEP
 *                     each STEPth parameter type (1: all) on every command of
 *                     digest, bench, probe or size
 *   ta_check apart    an instance that dies takes no session along
 *   ta_check probe    what a TA may do here: "NAME yes|no|absent VALUE…"
 *   ta_check stack    stack high-water of every algorithm and implementation
 *
 * Exit status: 0 fine, 1 a finding, 2 usage or no TEE.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tee_client_api.h>
#include <teemark/algorithms.h>
#include <teemark/ta_digest.h>
#include <teemark/ta_probe.h>

#include "board.h"

static TEEC_Context context;

static TEEC_Result open_session(TEEC_Session *session, TEEC_UUID uuid)
{
	uint32_t origin = 0;

	return TEEC_OpenSession(&context, session, &uuid, TEEC_LOGIN_PUBLIC, NULL, NULL, &origin);
}

static void must_open(TEEC_Session *session, TEEC_UUID uuid)
{
	TEEC_Result res = open_session(session, uuid);

	if (res != TEEC_SUCCESS)
		die("opening a session: 0x%08x", res);
}

static TEEC_Result invoke(TEEC_Session *session, uint32_t cmd, TEEC_Operation *op)
{
	uint32_t origin = 0;

	return TEEC_InvokeCommand(session, cmd, op, &origin);
}

/* Commands of the probe that died here; -1: none can be made to die. */
static int kill_a_probe(void)
{
	int died = 0;

	for (uint32_t cmd = TA_PROBE_CMD_COUNTER_VIRTUAL; cmd <= TA_PROBE_CMD_COUNTER_PHYSICAL;
	     cmd++) {
		TEEC_Operation op = { .paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_OUTPUT,
								     TEEC_VALUE_OUTPUT, TEEC_NONE,
								     TEEC_NONE) };
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
		0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
		0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
		0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
	};
	uint8_t digest[32] = { 0 };
	TEEC_Session session;
	TEEC_Operation op = { 0 };
	int died = 0;

	must_open(&session, (TEEC_UUID)TA_DIGEST_UUID);
	op.paramTypes = TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, TEEC_NONE, TEEC_NONE, TEEC_NONE);
	op.params[0].value.a = 3;
	op.params[0].value.b = TA_DIGEST_IMPL_TEE;
	if (invoke(&session, TA_DIGEST_CMD_INIT, &op) != TEEC_SUCCESS)
		die("INIT failed");
	op.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_TEMP_INPUT, TEEC_NONE, TEEC_NONE, TEEC_NONE);
	op.params[0].tmpref.buffer = (void *)"ab";
	op.params[0].tmpref.size = 2;
	if (invoke(&session, TA_DIGEST_CMD_UPDATE, &op) != TEEC_SUCCESS)
		die("UPDATE failed");

	died = kill_a_probe();

	op.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_TEMP_INPUT, TEEC_MEMREF_TEMP_OUTPUT, TEEC_NONE,
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

static TEEC_Result get_stack(TEEC_Session *session, uint32_t *used, uint32_t *size)
{
	TEEC_Operation op = { .paramTypes = TEEC_VALUE_OUTPUT };
	TEEC_Result res = invoke(session, TA_DIGEST_CMD_STACK, &op);

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
					TEEC_PARAM_TYPES(TEEC_VALUE_INPUT, TEEC_MEMREF_TEMP_INPUT,
							 TEEC_MEMREF_TEMP_OUTPUT, TEEC_VALUE_INPUT),
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
			if (res != TEEC_SUCCESS && res != TEEC_ERROR_NOT_SUPPORTED)
				die("%s: 0x%08x", algorithms[i].name, res);
			if (get_stack(&session, &used, &size) != TEEC_SUCCESS)
				die("STATS failed");
			TEEC_CloseSession(&session);
			if (res == TEEC_SUCCESS)
				printf("%s impl %u: %u of %u bytes\n", algorithms[i].name, impl,
				       used, size);
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
		{ "apart", check_apart },
		{ "probe", show_probes },
		{ "stack", show_stack },
	};
	TEEC_Result res;

	if (argc == 4 && !strcmp(argv[1], "types") && atoi(argv[3]) > 0)
		return check_types(argv[2], atoi(argv[3]));
	for (size_t i = 0; argc == 2 && i < sizeof(checks) / sizeof(*checks); i++) {
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
	fprintf(stderr, "usage: ta_check types TA STEP|apart|probe|stack\n");
	return 2;
}
