/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A normal world that means harm to the broker TA: the input is a list of
 * calls, memory changes under each (shim_hostile), and what comes out must be
 * nothing, not even bytes without a tag, or a copy that its receiver opens to
 * what alice once sealed.
 *
 * A byte picks what is called: any command with any types, a message of
 * alice's with bytes changed, or an order with a plaintext of the input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker_client.h"
#include "shim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *input;
static size_t left;

static uint8_t next(void)
{
	return left ? left--, *input++ : 0;
}

static size_t next_bytes(uint8_t *out, size_t most)
{
	size_t n = next() | (size_t)(next() & 3) << 8;

	n = n < most ? n : most;
	for (size_t i = 0; i < n; i++)
		out[i] = next();
	return n;
}

/* All content of a message is this, so that any plaintext tells. */
#define BYTE 0x5a

/* Exact memory for each parameter, which the normal world writes to. */
static void any_call(struct world *w)
{
	uint8_t cmd = next() % 10;
	uint32_t types = next() | (uint32_t)next() << 8;
	TEE_Param p[TEE_NUM_PARAMS] = { 0 };
	uint8_t *owned[TEE_NUM_PARAMS] = { NULL };

	static const uint16_t right[] = { 0,      0x0002, 0x0006, 0x0005, 0x0005,
					  0x3655, 0x0006, 0x0063, 0,      0 };

	if (next() < 200)
		types = right[cmd];
	for (int i = 0; i < TEE_NUM_PARAMS; i++) {
		uint32_t type = TEE_PARAM_TYPE_GET(types, i);

		if (type >= TEE_PARAM_TYPE_MEMREF_INPUT) {
			size_t n = next() * (next() % 4 + 1u);

			owned[i] = malloc(n + !n);
			memset(owned[i], next(), n);
			p[i].memref.buffer = owned[i];
			p[i].memref.size = n;
			next_bytes(owned[i], n);
			shim_hostile[i] = (struct shim_region){ owned[i], n };
		} else {
			p[i].value.a = next();
			p[i].value.b = next() % 3;
		}
	}
	call(w, cmd, types, p);
	memset(shim_hostile, 0, sizeof(shim_hostile));
	for (int i = 0; i < TEE_NUM_PARAMS; i++)
		free(owned[i]);
}

/* Bob gets what alice sealed, or he can't open it. */
static void check(struct world *w, size_t len)
{
	static uint8_t plain[TZ_MESSAGE_MAX];
	struct tz_opened opened;

	if (tz_open(&w->bob, "tz/c", output, len, plain, &opened, NULL))
		return;
	for (size_t i = 0; i < opened.len; i++)
		if (plain[i] != BYTE)
			abort();
}

static void any_message(struct world *w)
{
	static uint8_t text[5000];
	size_t len = next() * (next() % 20u), step = 0;
	uint32_t done = 0;
	TEE_Result res = 0;
	bool hostile = next() & 1;

	len = len > sizeof(text) ? sizeof(text) : len;
	memset(text, BYTE, len);
	len = seal(&w->alice, "tz/c", text, len);
	for (int n = next() % 4; n; n--)
		message[next() | (next() & 1) << 8] ^= next();
	if (next() & 1) {
		size_t cut = next() % 64;

		len -= cut < len ? cut : len;
	}
	if (hostile)
		shim_hostile[0] = (struct shim_region){ message, len };
	step = (len + 15) / 16 * 16;
	memset(output, 0, 3 * step);
	res = call_forward(w, next() % 8 ? "tz/c" : "tz/d", "bob,carol,no", len,
			   next() % 4 ? TZ_FRESH : next(), &done);
	memset(shim_hostile, 0, sizeof(shim_hostile));
	if (res && done)
		abort();
	/*
	 * Whoever has a receiver's key needs no tag to decrypt: so a message that was refused, and
	 * a receiver who gets none, leave not a byte.
	 */
	for (size_t i = 0; i < 3; i++)
		for (size_t at = i * step; !(done >> i & 1) && at < (i + 1) * step; at++)
			if (output[at])
				abort();
	check(w, len);
	/* Nothing of it is there in the clear. */
	for (size_t i = 0; i + 12 < 3 * len; i++)
		if (!memcmp(output + i, text, 12) && output[i] == BYTE)
			abort();
}

static void any_order(struct world *w)
{
	uint8_t plain[400], sealed[600];
	size_t len = next_bytes(plain, 300);
	struct tz_client *who = next() & 1 ? &w->bob : &w->carol;

	if (next() & 1) {
		tz_seal_order(&w->admin, plain, len, sealed, NULL);
		give(w, sealed, len + TZ_OVERHEAD(5));
		return;
	}
	plain[len] = 0;
	next_bytes(who->public, sizeof(who->public));
	call_order(w, "EAPR"[next() % 4], who, next() & 1 ? (char *)plain : "r tz/c\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	static bool made;

	/* Instances outlive inputs: making one takes seven key agreements. */
	if (!made)
		world_make(&w);
	made = true;
	input = data;
	left = size;
	while (left) {
		switch (next() % 4) {
		case 0:
			any_call(&w);
			break;
		case 1:
			any_order(&w);
			break;
		default:
			any_message(&w);
		}
	}
	return 0;
}
