/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose objects are they? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "board.h"
#include "torture.h"

#define KEPT_NAME "torture-kept"

enum { KEPT_BYTES = 1000 };

static void fill_with(uint8_t *data, const char *marker)
{
	for (size_t i = 0; i < KEPT_BYTES; i++)
		data[i] = (uint8_t)marker[i % strlen(marker)];
}

static TEEC_Result create_kept(TEEC_Session *s, const char *marker)
{
	uint8_t data[KEPT_BYTES];

	fill_with(data, marker);
	return INVOKE(s, TA_BENCH_CMD_STORAGE_CREATE, TYPES(IN, IN, VALUE, NONE),
		      memref(KEPT_NAME, strlen(KEPT_NAME)), memref(data, sizeof(data)),
		      value(0, 0));
}

static TEEC_Result open_kept(TEEC_Session *s)
{
	return INVOKE(s, TA_BENCH_CMD_STORAGE_OPEN, TYPES(IN, VALUE, RESULT, NONE),
		      memref(KEPT_NAME, strlen(KEPT_NAME)), value(0, 0));
}

static TEEC_Result delete_kept(TEEC_Session *s)
{
	return INVOKE(s, TA_BENCH_CMD_STORAGE_DELETE, 0, value(0, 0));
}

int keep(char **argv)
{
	TEEC_Session session;
	TEEC_Result res;

	if (!*argv[0] || open_session(&session, (TEEC_UUID)TA_BENCH_UUID))
		die("no marker, or no session of the bench TA");
	if (!open_kept(&session)) /* of a test that was broken off */
		delete_kept(&session);
	res = create_kept(&session, argv[0]);
	TEEC_CloseSession(&session);
	printf("stored: 0x%08x\n", res);
	return res != TEEC_SUCCESS;
}

int kept(char **argv)
{
	uint8_t data[KEPT_BYTES] = { 0 }, want[KEPT_BYTES];
	TEEC_Parameter p[4] = { memref(data, sizeof(data)), value(0, 0) };
	TEEC_Session session;
	TEEC_Result res;
	bool same;

	if (!*argv[0] || open_session(&session, (TEEC_UUID)TA_BENCH_UUID))
		die("no marker, or no session of the bench TA");
	fill_with(want, argv[0]);
	res = open_kept(&session);
	if (!res)
		res = invoke(&session, TA_BENCH_CMD_STORAGE_READ, TYPES(OUT, VALUE, NONE, NONE), p);
	same = p[0].tmpref.size == KEPT_BYTES && !memcmp(data, want, KEPT_BYTES);
	if (!res)
		res = delete_kept(&session);
	TEEC_CloseSession(&session);
	printf("kept: 0x%08x, %s\n", res, same ? "the same" : "another");
	return res != TEEC_SUCCESS || !same;
}

int meet_stranger(char **argv)
{
	TEEC_UUID uuid = TA_BENCH_UUID;
	TEEC_Result before, made, after;
	TEEC_Session session;

	uuid.timeLow = strtoul(argv[0], NULL, 16);
	if (open_session(&session, uuid))
		die("cannot open a session of the other TA");
	before = open_kept(&session);
	made = create_kept(&session, "of a stranger");
	after = made ? made : delete_kept(&session);
	TEEC_CloseSession(&session);
	printf("stranger: 0x%08x, of its own 0x%08x 0x%08x\n", before, made, after);
	return before != TEEC_ERROR_ITEM_NOT_FOUND || made || after;
}
