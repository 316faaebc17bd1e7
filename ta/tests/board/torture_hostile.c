/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared memory that changes during calls, and parameters that overlap in it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/digest.h>
#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "board.h"
#include "torture.h"

#define PART_IN  TEEC_MEMREF_PARTIAL_INPUT
#define PART_OUT TEEC_MEMREF_PARTIAL_OUTPUT

/* Anything changes in HOSTILE bytes; behind them nothing but one byte. */
enum { HOSTILE = 8192, QUIET = 4096, MESSAGE = 1024 };

struct hostile {
	TEEC_SharedMemory memory;
	volatile uint8_t *bytes; /* of it */
	atomic_bool stop;
	atomic_size_t toggled; /* the thread is to change this byte between two values; 0: none */
	atomic_size_t held;    /* the one that it does change: its answer to `toggled` */
	TEEC_Session bench, digest;
	uint64_t random;
	unsigned int calls, findings;
};

static uint32_t next(struct hostile *h)
{
	h->random = h->random * UINT64_C(6364136223846793005) + 1;
	return h->random >> 33;
}

static void *change(void *arg)
{
	struct hostile *h = arg;
	uint32_t x = 1;

	while (!h->stop) {
		x = x * 1664525 + 1013904223;
		h->bytes[(x >> 8) % HOSTILE] ^= x >> 4;
		h->held = h->toggled;
		if (h->held)
			h->bytes[h->held] ^= 1;
	}
	return NULL;
}

/*
 * Returns when the thread toggles that byte, and has let go of the one before: without waiting, the
 * thread may write the old byte once more at any time, into what the next test puts there.
 */
static void toggle(struct hostile *h, size_t at)
{
	h->toggled = at;
	while (h->held != at)
		sched_yield();
}

/* Any part of what changes; two of them overlap more often than not. */
static TEEC_Parameter part(struct hostile *h)
{
	static const size_t lengths[] = { 0,  1,  12,  16,  17,   28,   32,
					  48, 64, 256, 512, 1024, 2000, 4096 };
	size_t len = lengths[next(h) % 14];

	return (TEEC_Parameter){ .memref = { &h->memory, len, next(h) % (2 * QUIET - len + 1) } };
}

/* TARGET_DEAD above all is none. */
static bool is_answer(TEEC_Result res)
{
	return res == TEEC_SUCCESS || res == TEEC_ERROR_BAD_PARAMETERS ||
	       res == TEEC_ERROR_NOT_SUPPORTED || res == TEEC_ERROR_BAD_STATE ||
	       res == TEEC_ERROR_SHORT_BUFFER || res == TEEC_ERROR_ACCESS_CONFLICT ||
	       res == TEE_ERROR_MAC_INVALID;
}

static void call(struct hostile *h, TEEC_Session *s, uint32_t cmd, uint32_t types)
{
	TEEC_Operation op = { .paramTypes = types };
	TEEC_Result res;

	for (int i = 0; i < 4; i++) {
		uint32_t type = TEEC_PARAM_TYPE_GET(types, i);

		if (type == PART_IN || type == PART_OUT)
			op.params[i] = part(h);
		else if (type)
			op.params[i] = value(1 + next(h) % 40, next(h) % 3);
	}
	/* Objects would stay behind where nobody finds them. */
	if (cmd == TA_BENCH_CMD_STORAGE_CREATE)
		op.params[2].value.a = TA_BENCH_STORAGE_REE_FS;
	res = TEEC_InvokeCommand(s, cmd, &op, NULL);
	h->calls++;
	if (is_answer(res))
		return;
	printf("command %u, types 0x%04x: 0x%08x\n", cmd, types, res);
	h->findings++;
}

static void call_anything(struct hostile *h)
{
	static const struct {
		bool of_digest;
		uint32_t cmd, types;
	} all[] = {
		{ true, TA_DIGEST_CMD_ONESHOT, TYPES(VALUE, PART_IN, PART_OUT, VALUE) },
		{ true, TA_DIGEST_CMD_INIT, TYPES(VALUE, NONE, NONE, NONE) },
		{ true, TA_DIGEST_CMD_UPDATE, TYPES(PART_IN, NONE, NONE, NONE) },
		{ true, TA_DIGEST_CMD_FINAL, TYPES(PART_IN, PART_OUT, NONE, NONE) },
		{ false, TA_BENCH_CMD_CIPHER_PREPARE, TYPES(VALUE, NONE, NONE, NONE) },
		{ false, TA_BENCH_CMD_CIPHER_SET_KEY, TYPES(PART_IN, NONE, NONE, NONE) },
		{ false, TA_BENCH_CMD_CIPHER_SET_IV, TYPES(PART_IN, NONE, NONE, NONE) },
		{ false, TA_BENCH_CMD_CIPHER_UPDATE, TYPES(PART_IN, PART_OUT, VALUE, NONE) },
		{ false, TA_BENCH_CMD_CIPHER_MESSAGE, TYPES(PART_IN, PART_IN, PART_OUT, VALUE) },
		{ false, TA_BENCH_CMD_MAC_SET_KEY, TYPES(VALUE, PART_IN, NONE, NONE) },
		{ false, TA_BENCH_CMD_MAC, TYPES(PART_IN, PART_OUT, VALUE, NONE) },
		{ false, TA_BENCH_CMD_RANDOM, TYPES(PART_OUT, VALUE, NONE, NONE) },
		{ false, TA_BENCH_CMD_KERNEL, TYPES(VALUE, PART_IN, RESULT, NONE) },
	};
	size_t i = next(h) % (sizeof(all) / sizeof(all[0]));

	call(h, all[i].of_digest ? &h->digest : &h->bench, all[i].cmd, all[i].types);
}

/* With names from there; the object is removed by its handle. */
static void store_anything(struct hostile *h)
{
	call(h, &h->bench, TA_BENCH_CMD_STORAGE_CREATE, TYPES(PART_IN, PART_IN, VALUE, NONE));
	call(h, &h->bench, TA_BENCH_CMD_STORAGE_WRITE, TYPES(PART_IN, VALUE, NONE, NONE));
	call(h, &h->bench, TA_BENCH_CMD_STORAGE_RENAME, TYPES(PART_IN, NONE, NONE, NONE));
	call(h, &h->bench, TA_BENCH_CMD_STORAGE_READ, TYPES(PART_OUT, VALUE, NONE, NONE));
	call(h, &h->bench, TA_BENCH_CMD_STORAGE_DELETE, 0);
}

/*
 * A ciphertext of which one byte is right and wrong in turn: the plaintext, or
 * a refusal and not a byte.
 */
static void decrypt_toggled(struct hostile *h, unsigned int calls)
{
	const struct algorithm *alg = algorithm_by_name("aes-128-gcm");
	uint8_t plain[MESSAGE], sealed[MESSAGE + TAG], key[16] = { 3 };
	uint8_t *quiet = (uint8_t *)h->memory.buffer + HOSTILE;
	unsigned int right = 0, refused = 0;

	memset(plain, 0x55, sizeof(plain));
	encrypt_here(alg, key, key, plain, MESSAGE, sealed);
	if (prepare(&h->bench, alg, false, key))
		die("cannot prepare %s", alg->name);
	memcpy(quiet, sealed, sizeof(sealed));
	toggle(h, HOSTILE + MESSAGE - 5);
	for (unsigned int i = 0; i < calls; i++) {
		uint8_t out[MESSAGE];
		TEEC_Operation op = {
			.paramTypes = TYPES(IN, PART_IN, OUT, VALUE),
			.params = { memref(key, alg->iv_bytes),
				    { .memref = { &h->memory, sizeof(sealed), HOSTILE } },
				    memref(out, sizeof(out)),
				    value(1, 0) },
		};
		size_t touched = 0;
		TEEC_Result res;

		memset(out, 0xee, sizeof(out));
		res = TEEC_InvokeCommand(&h->bench, TA_BENCH_CMD_CIPHER_MESSAGE, &op, NULL);
		for (size_t k = 0; k < sizeof(out); k++)
			touched += out[k] != 0xee;
		h->calls++;
		if (!res && !memcmp(out, plain, sizeof(plain)))
			right++;
		else if (res == TEE_ERROR_MAC_INVALID && !touched)
			refused++;
		else
			h->findings++;
	}
	toggle(h, 0);
	printf("a byte right and wrong in turn: %u right, %u refused\n", right, refused);
}

/* The digest of what was there before or after, of no third message. */
static void hash_toggled(struct hostile *h, unsigned int calls)
{
	const struct algorithm *alg = algorithm_by_name("sha256");
	const struct digest_class *class = digest_class_find(DIGEST_CODE_C, alg->id);
	uint8_t *quiet = (uint8_t *)h->memory.buffer + HOSTILE;
	uint8_t want[2][32];
	union digest_ctx ctx;

	memset(quiet, 0, QUIET);
	for (int i = 0; i < 2; i++) {
		quiet[MESSAGE / 2] = (uint8_t)i;
		class->init(&ctx);
		class->update(&ctx, quiet, MESSAGE);
		class->final(&ctx, want[i]);
	}
	toggle(h, HOSTILE + MESSAGE / 2);
	for (unsigned int i = 0; i < calls; i++) {
		uint8_t out[32] = { 0 };
		TEEC_Operation op = {
			.paramTypes = TYPES(VALUE, PART_IN, OUT, VALUE),
			.params = { value(alg->id, i % 2),
				    { .memref = { &h->memory, MESSAGE, HOSTILE } },
				    memref(out, sizeof(out)),
				    value(1, 0) },
		};
		TEEC_Result res = TEEC_InvokeCommand(&h->digest, TA_DIGEST_CMD_ONESHOT, &op, NULL);

		h->calls++;
		h->findings += res || (memcmp(out, want[0], 32) && memcmp(out, want[1], 32));
	}
	toggle(h, 0);
}

/* Both TAs still compute what is right, of memory that stays as it is. */
static void check_alive(struct hostile *h)
{
	const struct algorithm *alg = algorithm_by_name("aes-128-cbc");
	uint8_t key[16] = { 1 }, in[64] = { 2 }, out[64], want[64];
	size_t len = sizeof(out);

	encrypt_here(alg, key, key, in, sizeof(in), want);
	h->findings += prepare(&h->bench, alg, true, key) ||
		       message(&h->bench, alg, key, in, sizeof(in), out, &len, 2) ||
		       memcmp(out, want, sizeof(want));
	h->calls += 3;
}

int check_hostile(char **argv)
{
	unsigned int calls = atoi(argv[0]);
	struct hostile h = {
		.memory = { .size = HOSTILE + QUIET, .flags = TEEC_MEM_INPUT | TEEC_MEM_OUTPUT },
		.random = 1,
	};
	pthread_t thread;

	if (open_session(&h.digest, (TEEC_UUID)TA_DIGEST_UUID) ||
	    open_session(&h.bench, (TEEC_UUID)TA_BENCH_UUID) ||
	    TEEC_AllocateSharedMemory(&context, &h.memory))
		die("cannot get the sessions ready");
	h.bytes = h.memory.buffer;
	if (pthread_create(&thread, NULL, change, &h))
		die("no thread");
	while (h.calls < calls && !h.findings) {
		call_anything(&h);
		if (next(&h) % 200 == 0)
			store_anything(&h);
	}
	if (!h.findings) {
		decrypt_toggled(&h, calls / 10);
		hash_toggled(&h, calls / 10);
	}
	h.stop = true;
	pthread_join(thread, NULL);
	check_alive(&h);
	TEEC_ReleaseSharedMemory(&h.memory);
	TEEC_CloseSession(&h.bench);
	TEEC_CloseSession(&h.digest);
	printf("%u calls, %u findings\n", h.calls, h.findings);
	return h.findings != 0;
}
