/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A persistent object of the bench TA, for tests that reboot a board:
 *
 * objects create|check|delete NAME BYTES
 *
 * Byte i of it is (i * 7 + BYTES) modulo 256. check reads it back, in pieces.
 * Exit status: 0 fine, 1 not what it should be (the reason on stderr), 2 usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "tee_client.h"

enum { PIECE = 5000 };

static struct tee_session *tee;
static uint8_t *data;
static size_t bytes;

static int call(uint32_t command, TEEC_Operation *op, struct error *err)
{
	return tee_invoke(tee, command, op, "handle an object", err);
}

static int open_object(const char *name, struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_TEMP_INPUT, TEEC_VALUE_INPUT,
					       TEEC_VALUE_OUTPUT, TEEC_NONE),
	};
	int ret;

	op.params[0].tmpref.buffer = (void *)name;
	op.params[0].tmpref.size = strlen(name);
	op.params[1].value.a = TA_BENCH_STORAGE_REE_FS;
	ret = call(TA_BENCH_CMD_STORAGE_OPEN, &op, err);
	if (!ret && op.params[2].value.a != bytes)
		ret = error_set(err, -1, "it has %u bytes", op.params[2].value.a);
	return ret;
}

static int create(const char *name, struct error *err)
{
	TEEC_Operation op = {
		.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_TEMP_INPUT, TEEC_MEMREF_TEMP_INPUT,
					       TEEC_VALUE_INPUT, TEEC_NONE),
	};

	op.params[0].tmpref.buffer = (void *)name;
	op.params[0].tmpref.size = strlen(name);
	op.params[1].tmpref.buffer = data;
	op.params[1].tmpref.size = bytes;
	op.params[2].value.a = TA_BENCH_STORAGE_REE_FS;
	return call(TA_BENCH_CMD_STORAGE_CREATE, &op, err);
}

static int check(const char *name, struct error *err)
{
	uint8_t got[PIECE];
	int ret = open_object(name, err);

	for (size_t at = 0, n; !ret && at < bytes; at += n) {
		TEEC_Operation op = {
			.paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_TEMP_OUTPUT, TEEC_VALUE_INPUT,
						       TEEC_NONE, TEEC_NONE),
		};

		n = bytes - at < PIECE ? bytes - at : PIECE;
		memset(got, 0xa5, sizeof(got));
		op.params[0].tmpref.buffer = got;
		op.params[0].tmpref.size = n;
		op.params[1].value.a = (uint32_t)at;
		ret = call(TA_BENCH_CMD_STORAGE_READ, &op, err);
		if (!ret && (op.params[0].tmpref.size != n || memcmp(got, data + at, n)))
			ret = error_set(err, -1, "other bytes from %zu on", at);
	}
	return ret;
}

static int destroy(const char *name, struct error *err)
{
	TEEC_Operation op = { 0 };
	int ret = open_object(name, err);

	return ret ? ret : call(TA_BENCH_CMD_STORAGE_DELETE, &op, err);
}

int main(int argc, char **argv)
{
	static const TEEC_UUID uuid = TA_BENCH_UUID;
	struct error err = { 0 };
	int ret;

	if (argc != 4 || (bytes = strtoul(argv[3], NULL, 10)) < 1)
		return 2;
	data = malloc(bytes);
	if (!data)
		return 1;
	for (size_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(i * 7 + bytes);
	ret = tee_session_open(&tee, &uuid, "the bench TA", &err);
	if (!ret && !strcmp(argv[1], "create"))
		ret = create(argv[2], &err);
	else if (!ret && !strcmp(argv[1], "check"))
		ret = check(argv[2], &err);
	else if (!ret && !strcmp(argv[1], "delete"))
		ret = destroy(argv[2], &err);
	else if (!ret)
		return 2;
	if (ret)
		error_print(stderr, "objects", &err);
	if (tee)
		tee_session_close(tee);
	free(data);
	return ret ? 1 : 0;
}
