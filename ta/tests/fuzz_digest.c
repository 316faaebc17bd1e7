/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that means harm: the input is a list of calls of one session.
 *
 * The first byte says whether memory changes while the TA works on it; then the
 * model knows no digests. Of a call: the command; a byte that picks the right parameter types (below
 * 224) or any (then two more bytes give them); and for each parameter two
 * bytes that make its values, or its size and where in the input it lies.
 */
#include <stdlib.h>
#include <string.h>

#include <teemark/ta_clock.h>
#include <teemark/ta_digest.h>

#include "model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t left;
};

static uint8_t next(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

static uint32_t right_types(uint32_t cmd, uint8_t pick)
{
	static const uint32_t types[] = { 0x0000, 0x0002, 0x1651, 0x0001,
					  0x0005, 0x0065, 0x0002, 0x0002 };

	if (cmd == TA_CLOCK_CMD)
		return 0x0221;
	if (cmd == TA_DIGEST_CMD_FINAL && pick % 4 == 0)
		return 0x0060;
	return cmd < sizeof(types) / sizeof(types[0]) ? types[cmd] : 0;
}

/* Small numbers mostly: ids, implementations, counts, clocks. */
static uint32_t value(uint8_t byte)
{
	switch (byte) {
	case 255:
		return UINT32_MAX;
	case 254:
		return 65536 + 3;
	case 253:
		return 1u << 31;
	default:
		return byte % 16;
	}
}

static void make_memref(TEE_Param *param, struct input *in, uint8_t *first, uint8_t *memory,
			size_t memory_size)
{
	uint8_t kind = next(in);
	size_t size = next(in);

	/* Around the sizes of digests and blocks, and at times large. */
	if (kind % 8 == 7)
		size *= 37;
	if (size > memory_size)
		size = memory_size;
	param->memref.buffer = memory;
	/* The same as the first's. */
	if (kind >= 224 && kind < 252)
		param->memref.buffer = first;
	param->memref.size = size;
	if (kind >= 252)
		param->memref.buffer = NULL;
	if (kind >= 254)
		param->memref.size = 0;
	if (kind == 253)
		param->memref.size = SIZE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t memory[TEE_NUM_PARAMS][2000];
	struct input in = { data, size };
	struct model *model = model_open();

	if (next(&in) % 2)
		model_hostile(model);
	for (int i = 0; i < TEE_NUM_PARAMS; i++)
		for (size_t j = 0; j < sizeof(memory[i]); j++)
			memory[i][j] = size ? data[(i + j) % size] + j : 0;

	while (in.left) {
		TEE_Param params[TEE_NUM_PARAMS] = { 0 };
		uint32_t cmd = next(&in);
		uint8_t pick = next(&in);
		uint32_t types = 0;

		if (cmd < 240)
			cmd %= 8;
		else if (cmd < 248)
			cmd = TA_CLOCK_CMD;
		else if (cmd == 248)
			cmd = UINT32_MAX;
		types = right_types(cmd, pick);
		if (pick >= 224)
			types = next(&in) | (uint32_t)next(&in) << 8;
		if (pick == 255)
			types |= 1u << 16;

		for (int i = 0; i < TEE_NUM_PARAMS; i++) {
			uint32_t type = TEE_PARAM_TYPE_GET(types, i);

			if (type >= TEE_PARAM_TYPE_MEMREF_INPUT) {
				make_memref(&params[i], &in, memory[0], memory[i],
					    sizeof(memory[i]));
			} else if (type) {
				params[i].value.a = value(next(&in));
				params[i].value.b = value(next(&in));
			}
		}
		/* Repetitions are bounded by the TA, but by a large number. */
		if (params[3].value.a == 65536 + 3)
			params[3].value.a = 3;
		model_invoke(model, cmd, types, params);
	}
	model_close(model);
	return 0;
}
