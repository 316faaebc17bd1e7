/* SPDX-License-Identifier: BSD-2-Clause */
/* How much one call may do: ta_work.h. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "board.h"
#include "torture.h"

enum { LARGE = 1 << 20, SMALL = 64 };

static uint8_t in[LARGE], out[LARGE];

static TEEC_Result digest(TEEC_Session *s, size_t len, uint32_t repeat)
{
	return INVOKE(s, TA_DIGEST_CMD_ONESHOT, TYPES(VALUE, IN, OUT, VALUE),
		      value(algorithm_by_name("sha256")->id, TA_DIGEST_IMPL_TEE), memref(in, len),
		      memref(out, 32), value(repeat, 0));
}

static TEEC_Result cipher_update(TEEC_Session *s, size_t len, uint32_t repeat)
{
	return INVOKE(s, TA_BENCH_CMD_CIPHER_UPDATE, TYPES(IN, OUT, VALUE, NONE), memref(in, len),
		      memref(out, len), value(repeat, 0));
}

static TEEC_Result cipher_message(TEEC_Session *s, size_t len, uint32_t repeat)
{
	return INVOKE(s, TA_BENCH_CMD_CIPHER_MESSAGE, TYPES(IN, IN, OUT, VALUE), memref(in, 16),
		      memref(in, len), memref(out, len), value(repeat, 0));
}

static TEEC_Result mac_message(TEEC_Session *s, size_t len, uint32_t repeat)
{
	return INVOKE(s, TA_BENCH_CMD_MAC, TYPES(IN, OUT, VALUE, NONE), memref(in, len),
		      memref(out, 32), value(repeat, 0));
}

static TEEC_Result random_bytes(TEEC_Session *s, size_t len, uint32_t repeat)
{
	return INVOKE(s, TA_BENCH_CMD_RANDOM, TYPES(OUT, VALUE, NONE, NONE), memref(out, len),
		      value(repeat, 0));
}

static TEEC_Result kernel(TEEC_Session *s, size_t len, uint32_t repeat)
{
	return INVOKE(s, TA_BENCH_CMD_KERNEL, TYPES(VALUE, IN, RESULT, NONE),
		      value(TA_BENCH_KERNEL_INTLOOP, repeat), memref(in, len));
}

static const struct {
	const char *name;
	TEEC_Result (*call)(TEEC_Session *s, size_t len, uint32_t repeat);
	uint32_t most; /* bytes */
} commands[] = {
	{ "digest", digest, TA_WORK_MAX },
	{ "cipher update", cipher_update, TA_WORK_MAX },
	{ "cipher message", cipher_message, TA_WORK_MAX },
	{ "mac", mac_message, TA_WORK_MAX },
	{ "random", random_bytes, TA_WORK_RANDOM_MAX },
	{ "kernel", kernel, TA_WORK_MAX },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void open_sessions(TEEC_Session *of_digest, TEEC_Session *of_bench)
{
	static const uint8_t key[32] = { 1 };

	if (open_session(of_digest, (TEEC_UUID)TA_DIGEST_UUID) ||
	    open_session(of_bench, (TEEC_UUID)TA_BENCH_UUID) ||
	    prepare(of_bench, algorithm_by_name("aes-128-cbc"), true, key) ||
	    set_iv(of_bench, algorithm_by_name("aes-128-cbc"), key) ||
	    INVOKE(of_bench, TA_BENCH_CMD_MAC_SET_KEY, TYPES(VALUE, IN, NONE, NONE),
		   value(algorithm_by_name("hmac-sha256")->id, 0), memref(key, sizeof(key))))
		die("cannot get the sessions ready");
}

static TEEC_Result cipher(TEEC_Session *s, const char *name, size_t len, uint32_t repeat)
{
	static const uint8_t key[64] = { 1 };
	const struct algorithm *alg = algorithm_by_name(name);
	size_t room = sizeof(out);
	TEEC_Result res = prepare(s, alg, true, key);

	return res ? res : message(s, alg, key, in, len, out, &room, repeat);
}

static TEEC_Result gcm(TEEC_Session *s, size_t len, uint32_t repeat)
{
	return cipher(s, "aes-128-gcm", len, repeat);
}

static TEEC_Result xts(TEEC_Session *s, size_t len, uint32_t repeat)
{
	return cipher(s, "aes-128-xts", len, repeat);
}

static TEEC_Result portable(TEEC_Session *s, size_t len, uint32_t repeat)
{
	return INVOKE(s, TA_DIGEST_CMD_ONESHOT, TYPES(VALUE, IN, OUT, VALUE),
		      value(algorithm_by_name("sha256")->id, TA_DIGEST_IMPL_C), memref(in, len),
		      memref(out, 32), value(repeat, 0));
}

/* The least of three times that a call takes, in seconds; dies where the call fails. */
static double seconds(TEEC_Result (*call)(TEEC_Session *s, size_t len, uint32_t repeat),
		      TEEC_Session *s, size_t len, uint32_t repeat)
{
	double least = 1e9;

	for (int i = 0; i < 3; i++) {
		struct timespec begin, end;
		TEEC_Result res;
		double took;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		res = call(s, len, repeat);
		clock_gettime(CLOCK_MONOTONIC, &end);
		if (res)
			die("%u times %zu bytes: 0x%08x", repeat, len, res);
		took = (double)(end.tv_sec - begin.tv_sec) +
		       1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
		if (took < least)
			least = took;
	}
	return least;
}

/*
 * The dearest calls that a TA takes, each in times of what 4 MiB of SHA-256 in
 * portable C take it: a measure that doesn't move with the bounds, nor with how
 * busy the machine is.
 */
int check_longest(char **argv)
{
	TEEC_Session of_digest, of_bench;
	double unit;

	(void)argv;
	open_sessions(&of_digest, &of_bench);
	unit = seconds(portable, &of_digest, LARGE, 4);
#define SHOW(name, call, s, len, repeat)                                             \
	printf("%s, %u times %u: %.2f\n", name, (unsigned)(repeat), (unsigned)(len), \
	       seconds(call, s, len, repeat) / unit)
	SHOW("digest", digest, &of_digest, SMALL, TA_REPEAT_MAX);
	SHOW("mac", mac_message, &of_bench, SMALL, TA_REPEAT_MAX);
	SHOW("gcm", gcm, &of_bench, 112, TA_REPEAT_MAX);
	SHOW("gcm", gcm, &of_bench, LARGE / 2, 2 * TA_WORK_MAX / LARGE);
	SHOW("xts", xts, &of_bench, 112, TA_REPEAT_MAX);
	SHOW("xts", xts, &of_bench, LARGE / 2, 2 * TA_WORK_MAX / LARGE);
#undef SHOW
	TEEC_CloseSession(&of_digest);
	TEEC_CloseSession(&of_bench);
	return 0;
}

int check_work(char **argv)
{
	TEEC_Session of_digest, of_bench;
	int count = atoi(argv[0]), wrong = 0;

	if (count > COMMANDS)
		die("there are %d commands", COMMANDS);
	open_sessions(&of_digest, &of_bench);
	for (int i = 0; i < count; i++) {
		TEEC_Session *s = i ? &of_bench : &of_digest;
		uint32_t times = commands[i].most / SMALL;
		const struct {
			size_t len;
			uint32_t repeat;
			TEEC_Result want;
		} tries[] = {
			{ LARGE, 1 << 20, TEEC_ERROR_BAD_PARAMETERS },
			{ SMALL, UINT32_MAX, TEEC_ERROR_BAD_PARAMETERS },
			{ SMALL, TA_REPEAT_MAX + 1, TEEC_ERROR_BAD_PARAMETERS },
			{ LARGE, TA_WORK_MAX / LARGE + 1, TEEC_ERROR_BAD_PARAMETERS },
			{ SMALL, times < TA_REPEAT_MAX ? times : TA_REPEAT_MAX, TEEC_SUCCESS },
			{ LARGE, commands[i].most / LARGE,
			  commands[i].most < LARGE ? TEEC_ERROR_BAD_PARAMETERS : TEEC_SUCCESS },
		};

		for (size_t j = 0; j < sizeof(tries) / sizeof(tries[0]); j++) {
			TEEC_Result res = commands[i].call(s, tries[j].len, tries[j].repeat);

			if (res == tries[j].want)
				continue;
			printf("%s: %u times %zu bytes: 0x%08x\n", commands[i].name,
			       tries[j].repeat, tries[j].len, res);
			wrong++;
		}
	}
	TEEC_CloseSession(&of_digest);
	TEEC_CloseSession(&of_bench);
	printf("%d commands, %d findings\n", count, wrong);
	return wrong != 0;
}

int hold(char **argv)
{
	TEEC_Session of_digest, of_bench;
	TEEC_Result res = TEEC_SUCCESS;

	(void)argv;
	open_sessions(&of_digest, &of_bench);
	printf("holding\n");
	/* Whatever the TA takes, and else the most that it may take. */
	digest(&of_digest, LARGE, 1 << 20);
	while (!res)
		res = digest(&of_digest, LARGE, TA_WORK_MAX / LARGE);
	die("0x%08x", res);
}
