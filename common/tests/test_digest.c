/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All digests of common/src against published values and against libcrypto.
 *
 *   test_digest VECTORS [COMMAND…]
 *
 * VECTORS: directory of the vector files. COMMAND: an engine_pipe, perhaps of
 * another architecture; without one the digests run in this process.
 * In the environment: QUICK=1 for fewer splits and no Monte Carlo, EXPECT_CE=1 where the
 * engine is one for Arm with Crypto Extensions, THOROUGH=1 for Monte Carlo of portable code
 * there too (in an emulator, where only the compiler differs, it takes longest of all).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine.h"

static const char *vectors;
static int to_engine = -1;
static int from_engine = -1;
static uint32_t split_step = 1; /* 1: every split */

static void transfer(int fd, void *data, size_t len, int out)
{
	uint8_t *p = data;

	while (len) {
		ssize_t n = out ? write(fd, p, len) : read(fd, p, len);

		if (n <= 0)
			fail_msg("the engine died");
		p += n;
		len -= n;
	}
}

static void run(struct engine_request request, const uint8_t *message, struct engine_reply *reply)
{
	size_t size = (request.offset + request.len + 63) / 64 * 64;

	if (to_engine >= 0) {
		transfer(to_engine, &request, sizeof(request), 1);
		transfer(to_engine, (void *)message, request.len, 1);
		transfer(from_engine, reply, sizeof(*reply), 0);
	} else {
		uint8_t *base = NULL;
		/* Ends where the allocation ends, for the sanitizer. */
		int err = posix_memalign((void **)&base, 64, request.offset + request.len + !size);

		assert_int_equal(err, 0);
		if (request.len)
			memcpy(base + request.offset, message, request.len);
		engine_run(&request, base, reply);
		free(base);
	}
}

static int has(enum digest_code code, const struct algorithm *alg)
{
	struct engine_request request = { .job = JOB_HAS, .code = code, .alg_id = alg->id };
	struct engine_reply reply;

	run(request, NULL, &reply);
	return reply.status == 0;
}

static void expected(const struct algorithm *alg, const uint8_t *data, size_t len, uint8_t *out)
{
	const EVP_MD *md = EVP_get_digestbyname(alg->evp);

	assert_non_null(md);
	assert_int_equal(EVP_MD_get_size(md), alg->out_bytes);
	assert_int_equal(EVP_MD_get_block_size(md), alg->block_bytes);
	assert_int_equal(EVP_Digest(data, len, out, NULL, md, NULL), 1);
}

/* Any bytes; the same every time. */
static void fill(uint8_t *data, size_t len, uint32_t seed)
{
	uint32_t x = seed * 2654435761u + 1;

	for (size_t i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		data[i] = (uint8_t)x;
	}
}

/* Calls f for every algorithm of both codes; says how many there were. */
static size_t for_each(void (*f)(enum digest_code, const struct algorithm *))
{
	size_t count = 0;

	for (int code = DIGEST_CODE_C; code <= DIGEST_CODE_CE; code++) {
		for (size_t i = 0; i < algorithms_count; i++) {
			if (algorithms[i].class != ALG_DIGEST || !has(code, &algorithms[i]))
				continue;
			f(code, &algorithms[i]);
			count++;
		}
	}
	return count;
}

static size_t from_hex(const char *hex, uint8_t *out, size_t max)
{
	size_t n = strlen(hex) / 2;

	assert_true(n <= max);
	for (size_t i = 0; i < n; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		out[i] = (uint8_t)byte;
	}
	return n;
}

static FILE *open_vectors(const char *name)
{
	char path[4096];
	FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/%s", vectors, name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("cannot open %s", path);
	return file;
}

static void test_examples(void **state)
{
	FILE *file = open_vectors("examples.txt");
	char line[1024];
	size_t count = 0;

	(void)state;
	while (fgets(line, sizeof(line), file)) {
		char name[16], message_hex[512], digest_hex[256];
		const struct algorithm *alg;
		unsigned int repeat;
		uint8_t unit[256], digest[64], *message;
		size_t n;

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%15s %u %511s %255s", name, &repeat, message_hex,
					digest_hex),
				 4);
		alg = algorithm_by_name(name);
		assert_non_null(alg);
		if (!strcmp(message_hex, "-"))
			message_hex[0] = 0;
		n = from_hex(message_hex, unit, sizeof(unit));
		assert_int_equal(from_hex(digest_hex, digest, sizeof(digest)), alg->out_bytes);
		message = malloc(n * repeat + 1);
		assert_non_null(message);
		for (size_t i = 0; i < repeat; i++)
			memcpy(message + i * n, unit, n);

		for (int code = DIGEST_CODE_C; code <= DIGEST_CODE_CE; code++) {
			struct engine_request request = {
				.job = JOB_CHUNKS,
				.code = code,
				.alg_id = alg->id,
				.chunk = 65536,
				.len = n * repeat,
			};
			struct engine_reply reply;

			if (!has(code, alg))
				continue;
			run(request, message, &reply);
			assert_int_equal(reply.status, 0);
			assert_memory_equal(reply.out, digest, alg->out_bytes);
			count++;
		}
		free(message);
	}
	fclose(file);
	print_message("             %zu examples\n", count);
	assert_true(count >= 49);
}

static void test_monte_carlo(void **state)
{
	int all = to_engine < 0 || getenv("THOROUGH");
	FILE *file = open_vectors("monte-carlo.txt");
	char line[1024];
	size_t count = 0;

	(void)state;
	while (fgets(line, sizeof(line), file)) {
		char name[16], hex[3][256];
		const struct algorithm *alg;
		uint8_t seed[64], first[64], last[64];

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%15s %255s %255s %255s", name, hex[0], hex[1],
					hex[2]),
				 4);
		alg = algorithm_by_name(name);
		assert_non_null(alg);
		assert_int_equal(from_hex(hex[0], seed, 64), alg->out_bytes);
		assert_int_equal(from_hex(hex[1], first, 64), alg->out_bytes);
		assert_int_equal(from_hex(hex[2], last, 64), alg->out_bytes);

		for (int code = DIGEST_CODE_C; code <= DIGEST_CODE_CE; code++) {
			struct engine_request request = {
				.job = JOB_MONTE_CARLO,
				.code = code,
				.alg_id = alg->id,
				.len = alg->out_bytes,
			};
			struct engine_reply reply;

			if (!has(code, alg) || (code == DIGEST_CODE_C && !all))
				continue;
			run(request, seed, &reply);
			assert_int_equal(reply.status, 0);
			assert_memory_equal(reply.out, first, alg->out_bytes);
			assert_memory_equal(reply.out + ALG_DIGEST_MAX_BYTES, last, alg->out_bytes);
			count++;
		}
	}
	fclose(file);
	print_message("             %zu algorithms\n", count);
	assert_true(count >= (all ? 9 : 3));
}

static void lengths_and_splits(enum digest_code code, const struct algorithm *alg)
{
	size_t max = 2 * alg->block_bytes + 1;
	uint8_t message[2 * ALG_BLOCK_MAX_BYTES + 1];

	for (size_t len = 0; len <= max; len++) {
		struct engine_request request = {
			.job = JOB_SPLITS,
			.code = code,
			.alg_id = alg->id,
			.chunk = split_step,
			.offset = len % 16,
			.len = len,
		};
		uint8_t want[ALG_DIGEST_MAX_BYTES];
		struct engine_reply reply;

		fill(message, len, len + 1);
		expected(alg, message, len, want);
		run(request, message, &reply);
		if (reply.status || memcmp(reply.out, want, alg->out_bytes))
			fail_msg("code %d, %s, %zu bytes", code, alg->name, len);
	}
}

static void test_lengths_and_splits(void **state)
{
	(void)state;
	assert_true(for_each(lengths_and_splits) >= 9);
}

/* Several blocks in each way of cutting; once more than 16 bits of length. */
static void alignments_and_chunks(enum digest_code code, const struct algorithm *alg)
{
	static const struct {
		uint32_t chunk, len;
	} ways[] = {
		{ 1, 1001 },   { 63, 9001 },    { 64, 9001 },      { 65, 9001 },
		{ 200, 9001 }, { 4096, 20001 }, { 100000, 70001 },
	};
	static uint8_t message[70001];
	uint8_t want[ALG_DIGEST_MAX_BYTES];
	struct engine_reply reply;

	fill(message, sizeof(message), alg->id);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		expected(alg, message, ways[i].len, want);
		for (uint32_t offset = 0; offset <= ENGINE_OFFSET_MAX; offset += 5) {
			struct engine_request request = {
				.job = JOB_CHUNKS,
				.code = code,
				.alg_id = alg->id,
				.chunk = ways[i].chunk,
				.offset = offset,
				.len = ways[i].len,
			};

			run(request, message, &reply);
			assert_int_equal(reply.status, 0);
			assert_memory_equal(reply.out, want, alg->out_bytes);
		}
	}
}

static void test_alignments_and_chunks(void **state)
{
	(void)state;
	assert_true(for_each(alignments_and_chunks) >= 9);
}

/*
 * Portable C for every SHA; on Arm with Crypto Extensions these three and no
 * others.
 */
static void test_what_there_is(void **state)
{
	int arm64 = getenv("EXPECT_CE") != NULL;

	(void)state;
	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];
		int ce = arm64 && (!strcmp(alg->name, "sha1") || !strcmp(alg->name, "sha224") ||
				   !strcmp(alg->name, "sha256"));

		assert_int_equal(has(DIGEST_CODE_C, alg), !strncmp(alg->name, "sha", 3));
		assert_int_equal(has(DIGEST_CODE_CE, alg), ce);
	}
	assert_null(digest_class_find(DIGEST_CODE_C, 0));
	assert_null(digest_class_find(DIGEST_CODE_C, 65535));
	assert_null(digest_class_find((enum digest_code)2, 3));
}

static void test_contexts_are_wiped(void **state)
{
	(void)state;
	for (size_t i = 0; i < algorithms_count; i++) {
		const struct digest_class *class =
			digest_class_find(DIGEST_CODE_C, algorithms[i].id);
		uint8_t out[ALG_DIGEST_MAX_BYTES];
		union digest_ctx ctx = { { 0 } };
		union digest_ctx zeros = { { 0 } };

		if (!class)
			continue;
		class->init(&ctx);
		class->update(&ctx, "a secret of some length", 23);
		assert_memory_not_equal(&ctx, &zeros, sizeof(ctx));
		class->final(&ctx, out);
		assert_memory_equal(&ctx, &zeros, sizeof(ctx));
	}
}

static void start(char **command)
{
	int in[2], out[2];

	if (pipe(in) || pipe(out)) {
		perror("pipe");
		exit(1);
	}
	switch (fork()) {
	case -1:
		perror("fork");
		exit(1);
	case 0:
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	default:
		close(in[0]);
		close(out[1]);
		to_engine = in[1];
		from_engine = out[0];
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_there_is),
		cmocka_unit_test(test_contexts_are_wiped),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_lengths_and_splits),
		cmocka_unit_test(test_alignments_and_chunks),
		cmocka_unit_test(test_monte_carlo),
	};
	/* All but Monte Carlo, which takes longest. */
	const struct CMUnitTest quick_tests[] = {
		tests[0], tests[1], tests[2], tests[3], tests[4],
	};
	int failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: test_digest VECTORS [COMMAND…]\n");
		return 2;
	}
	vectors = argv[1];
	if (argc > 2)
		start(argv + 2);
	if (getenv("QUICK")) {
		split_step = 7;
		failed = cmocka_run_group_tests(quick_tests, NULL, NULL);
	} else {
		failed = cmocka_run_group_tests(tests, NULL, NULL);
	}
	if (to_engine >= 0) {
		close(to_engine);
		wait(NULL);
	}
	return failed != 0;
}
