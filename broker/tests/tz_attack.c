/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the machine's root does to the broker TA, for tests on a board. Each prints the TA's result,
 * such as 0x00000000, in its first line.
 *
 *   tz_attack forward TOPIC RECEIVERS <message    calls FORWARD; then the output buffer in hexadecimal,
 *                                                 whatever the result: bytes that it wrote aren't ee
 *   tz_attack claim KEY-FILE IDENTITY             claims by a key that is wrapped for that enrolment key
 *   tz_attack longest KEY-FILE TOPIC RECEIVERS    seals the longest message and calls FORWARD; then the
 *                                                 milliseconds of the call
 *   tz_attack orders ADMIN-FILE ID COUNT          no call: COUNT policies of one start, a line each; the
 *                                                 last but one has a rule that is none
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"
#include "ta.h"

#define OUT_BYTES (4u << 20)

static struct error error;
static struct tee_session *tee;
static uint8_t message[TZ_MESSAGE_MAX + 64];

static void must(int rc)
{
	if (rc)
		errx(1, "%s %s", error.what, error.hint);
}

static TEEC_SharedMemory *memory(size_t len)
{
	TEEC_SharedMemory *shm = NULL;

	must(tee_shm_alloc(tee, len, TEEC_MEM_INPUT | TEEC_MEM_OUTPUT, &shm, &error));
	memset(shm->buffer, 0xee, len);
	return shm;
}

/* Writes the names of FORWARD; receivers: ids with a comma between. Returns their length. */
static size_t put_names(uint8_t *names, const char *topic, const char *receivers)
{
	size_t n = strlen(topic), len = 2 + n;

	names[0] = (uint8_t)(n >> 8);
	names[1] = (uint8_t)n;
	memcpy(names + 2, topic, n);
	for (; *receivers; receivers += n + (receivers[n] == ',')) {
		n = strcspn(receivers, ",");
		names[len] = (uint8_t)n;
		memcpy(names + len + 1, receivers, n);
		len += 1 + n;
	}
	return len;
}

static TEEC_SharedMemory *forward(const char *topic, const char *receivers, size_t len)
{
	TEEC_SharedMemory *in = memory(sizeof(message)), *names = memory(4096);
	TEEC_SharedMemory *out = memory(OUT_BYTES);
	TEEC_Operation op = { 0 };

	memcpy(in->buffer, message, len);
	tee_set_memref(&op, 0, TEEC_MEMREF_PARTIAL_INPUT, in, 0, len);
	tee_set_memref(&op, 1, TEEC_MEMREF_PARTIAL_INPUT, names, 0,
		       put_names(names->buffer, topic, receivers));
	tee_set_memref(&op, 2, TEEC_MEMREF_PARTIAL_OUTPUT, out, 0, OUT_BYTES);
	tee_set_type(&op, 3, TEEC_VALUE_INOUT);
	error.tee_result = 0;
	if (tee_invoke(tee, TA_BROKER_CMD_FORWARD, &op, "forward", &error) && !error.tee_result)
		errx(1, "%s", error.what);
	printf("0x%08x\n", error.tee_result);
	return out;
}

static void claim(const char *file, const char *digits)
{
	uint8_t bytes[1 + TZ_ID_MAX + TZ_WRAPPED_BYTES], identity[TZ_PUBLIC_BYTES];
	TEEC_Operation op = { .paramTypes = TEEC_MEMREF_TEMP_INPUT };
	struct tz_client client;
	size_t len = 0;

	must(tz_client_load(&client, file, &error));
	for (size_t i = 0; i < sizeof(identity); i++)
		if (sscanf(digits + 2 * i, "%2hhx", identity + i) != 1)
			errx(2, "no enrolment key");
	len = strlen(client.id);
	bytes[0] = (uint8_t)len;
	memcpy(bytes + 1, client.id, len);
	must(tz_wrap(&client, identity, bytes + 1 + len, &error));
	op.params[0].tmpref.buffer = bytes;
	op.params[0].tmpref.size = 1 + len + TZ_WRAPPED_BYTES;
	tee_invoke(tee, TA_BROKER_CMD_CLAIM, &op, "claim", &error);
	printf("0x%08x\n", error.tee_result);
}

static void longest(const char *file, const char *topic, const char *receivers)
{
	static uint8_t plain[TZ_TEXT_MAX];
	struct timespec begin, end;
	struct tz_client client;

	must(tz_client_load(&client, file, &error));
	must(tz_seal(&client, topic, plain, sizeof(plain), message, &error));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	forward(topic, receivers, sizeof(plain) + TZ_OVERHEAD(strlen(client.id)));
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%ld\n", (long)((end.tv_sec - begin.tv_sec) * 1000 +
			       (end.tv_nsec - begin.tv_nsec) / 1000000));
}

static void orders(const char *file, const char *id, int count)
{
	struct tz_client admin;

	must(tz_client_load(&admin, file, &error));
	for (int i = 0; i < count; i++) {
		uint8_t plain[2 + TZ_ID_MAX + TZ_RULES_MAX], sealed[sizeof(plain) + 128];
		int n = snprintf((char *)plain, sizeof(plain), "P%c%s%s tz/%d\n", (int)strlen(id),
				 id, i == count - 2 ? "no rule" : "r", i);

		must(tz_seal_order(&admin, plain, (size_t)n, sealed, &error));
		for (size_t at = 0; at < (size_t)n + TZ_OVERHEAD(strlen(admin.id)); at++)
			printf("%02x", sealed[at]);
		puts("");
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	size_t len = 0;

	if (!strcmp(what, "orders") && argc == 5) {
		orders(argv[2], argv[3], atoi(argv[4]));
		return 0;
	}
	must(tz_ta_open(&tee, true, &error));
	if (!strcmp(what, "forward") && argc == 4) {
		TEEC_SharedMemory *out = NULL;

		len = fread(message, 1, sizeof(message), stdin);
		out = forward(argv[2], argv[3], len);
		for (size_t i = 0; i < 4 * (len + 16); i++)
			printf("%02x", ((uint8_t *)out->buffer)[i]);
		puts("");
	} else if (!strcmp(what, "claim") && argc == 4) {
		claim(argv[2], argv[3]);
	} else if (!strcmp(what, "longest") && argc == 5) {
		longest(argv[2], argv[3], argv[4]);
	} else {
		errx(2, "see the top of tz_attack.c");
	}
	tee_session_close(tee);
	return 0;
}
