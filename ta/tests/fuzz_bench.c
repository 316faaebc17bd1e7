/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that means harm: the input is a list of calls of two sessions. The
 * shim aborts where a TEE would panic, and the sanitizers see every access
 * beside a buffer.
 *
 * A call is: the session and the command; a byte that picks the right
 * parameter types (below 240) or any (then two more bytes give them); and for
 * each parameter two bytes that make its values, or its size and content.
 *
 * Memory changes while the TA works on it (shim_hostile), and may lie partly in
 * that of a parameter before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "command.h"
#include "session.h"
#include "shim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes_left {
	const uint8_t *data;
	size_t left;
};

static uint8_t next(struct bytes_left *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

/* A row that exists, or any number. */
static const struct command *pick(uint8_t byte)
{
	size_t count = 0;

	while (commands[count].run)
		count++;
	return &commands[byte % count];
}

/* Small numbers mostly, and those at the edges. */
static uint32_t value(uint8_t byte)
{
	static const uint32_t edges[] = { UINT32_MAX,
					  1u << 31,
					  65536,
					  TA_REPEAT_MAX + 1,
					  TA_BENCH_OBJECT_MAX,
					  TA_BENCH_OBJECT_MAX + 1 };

	return byte >= 250 ? edges[byte - 250] : byte % 48;
}

/* Lengths that mean something, and any up to 127. */
static size_t length(uint8_t byte)
{
	static const size_t lengths[] = {
		0, 1, 12, 15, 16, 17, 24, 28, 32, 48, 64, 100, 4096, 9000
	};

	return byte < 128 ? lengths[byte % 14] : byte - 128u;
}

/*
 * Memory of exactly that size, or none and a size nevertheless, or part of
 * that of a parameter before (NULL: there is none). Returns what is to be
 * freed.
 */
static void *make_memref(TEE_Param *param, const TEE_Param *before, struct bytes_left *in)
{
	uint8_t fill = next(in);
	size_t size = length(next(in));

	param->memref.size = size;
	param->memref.buffer = NULL;
	if (fill == 255)
		return NULL;
	if (fill >= 192 && before) {
		size_t from = (fill - 192) % (before->memref.size + 1);
		size_t left = before->memref.size - from;

		param->memref.buffer = (uint8_t *)before->memref.buffer + from;
		param->memref.size = size < left ? size : left;
		return NULL;
	}
	param->memref.buffer = malloc(size ? size : 1);
	memset(param->memref.buffer, fill % 4, size);
	return param->memref.buffer;
}

static bool is_memref(uint32_t types, int i)
{
	return TEE_PARAM_TYPE_GET(types, i) >= TEE_PARAM_TYPE_MEMREF_INPUT &&
	       TEE_PARAM_TYPE_GET(types, i) <= TEE_PARAM_TYPE_MEMREF_INOUT;
}

static bool is_answer(TEE_Result res)
{
	switch (res) {
	case TEE_SUCCESS:
	case TEE_ERROR_ACCESS_CONFLICT:
	case TEE_ERROR_BAD_PARAMETERS:
	case TEE_ERROR_BAD_STATE:
	case TEE_ERROR_ITEM_NOT_FOUND:
	case TEE_ERROR_MAC_INVALID:
	case TEE_ERROR_NOT_SUPPORTED:
	case TEE_ERROR_OUT_OF_MEMORY:
	case TEE_ERROR_SHORT_BUFFER:
	case TEE_ERROR_SIGNATURE_INVALID:
		return true;
	default:
		return false;
	}
}

static void call(void *session, struct bytes_left *in)
{
	uint8_t which = next(in), picked = next(in);
	const struct command *command = pick(which);
	uint32_t id = which < 240 ? command->id : which;
	uint32_t types = picked < 240 && command->types != ANY_TYPES ? command->types : 0;
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };
	size_t sizes[TEE_NUM_PARAMS] = { 0 };
	void *owned[TEE_NUM_PARAMS] = { NULL };
	const TEE_Param *before = NULL;
	TEE_Result res;

	if (picked >= 240) {
		types = next(in);
		types |= (uint32_t)next(in) << 8;
	}
	for (int i = 0; i < TEE_NUM_PARAMS; i++) {
		if (is_memref(types, i)) {
			owned[i] = make_memref(&p[i], before, in);
			sizes[i] = p[i].memref.size;
			if (owned[i])
				before = &p[i];
			shim_hostile[i] = (struct shim_region){
				p[i].memref.buffer,
				p[i].memref.buffer ? sizes[i] : 0,
			};
		} else if (TEE_PARAM_TYPE_GET(types, i)) {
			p[i].value.a = value(next(in));
			p[i].value.b = value(next(in));
		}
	}
	/* Seconds of one call find nothing. */
	for (int i = 0; i < TEE_NUM_PARAMS; i++) {
		if (is_memref(types, i) || id == TA_BENCH_CMD_STORAGE_WRITE)
			continue;
		if (p[i].value.a == 65536)
			p[i].value.a = 3;
		if (p[i].value.b == 65536)
			p[i].value.b = 3;
	}
	if (id == TA_BENCH_CMD_STORAGE_TRUNCATE && p[0].value.a == TA_BENCH_OBJECT_MAX)
		p[0].value.a = 100000;

	res = TA_InvokeCommandEntryPoint(session, id, types, p);
	memset(shim_hostile, 0, sizeof(shim_hostile));

	if (!is_answer(res)) {
		fprintf(stderr, "command %u, types 0x%04x: 0x%08x\n", id, types, res);
		abort();
	}
	for (int i = 0; i < TEE_NUM_PARAMS; i++) {
		if (!is_memref(types, i))
			continue;
		/* Only a size that was too small may come back larger. */
		if (res != TEE_ERROR_SHORT_BUFFER && p[i].memref.size > sizes[i])
			abort();
		free(owned[i]);
	}
}

/* One call with a value and a piece of memory, in either order. */
static void step(void *session, uint32_t id, uint32_t types, uint32_t a, uint32_t b, uint8_t *data,
		 size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };

	for (int i = 0; i < 2; i++) {
		if (is_memref(types, i)) {
			p[i].memref.buffer = data;
			p[i].memref.size = len;
		} else {
			p[i].value.a = a;
			p[i].value.b = b;
		}
	}
	TA_InvokeCommandEntryPoint(session, id, types, p);
}

/*
 * Gives a session a key and an IV of a cipher that the byte picks, in either
 * direction, and a MAC's key, so that inputs get beyond the first step.
 */
static void make_ready(void *session, uint8_t pick)
{
	const struct algorithm *alg = &algorithms[pick / 2 % algorithms_count];
	uint8_t key[ALG_KEY_MAX_BYTES] = { 1 };

	step(session, TA_BENCH_CMD_CIPHER_PREPARE, 0x0001, alg->id, pick % 2, NULL, 0);
	step(session, TA_BENCH_CMD_CIPHER_SET_KEY, 0x0005, 0, 0, key, alg->key_bytes);
	step(session, TA_BENCH_CMD_CIPHER_SET_IV, 0x0005, 0, 0, key, alg->iv_bytes);
	step(session, TA_BENCH_CMD_MAC_SET_KEY, 0x0051, 22, 0, key, 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes_left in = { data, size };
	TEE_Param none[TEE_NUM_PARAMS] = { 0 };
	void *sessions[2];

	for (int i = 0; i < 2; i++)
		if (TA_OpenSessionEntryPoint(0, none, &sessions[i]) != TEE_SUCCESS)
			abort();
	make_ready(sessions[0], next(&in));
	shim_fail_alloc = next(&in) == 1 ? next(&in) % 8 : 0;
	while (in.left)
		call(sessions[next(&in) % 2], &in);
	shim_fail_alloc = 0;
	for (int i = 0; i < 2; i++)
		TA_CloseSessionEntryPoint(sessions[i]);
	shim_storage_clear();
	if (shim_allocations) {
		fprintf(stderr, "%zu allocations were left\n", shim_allocations);
		abort();
	}
	return 0;
}
