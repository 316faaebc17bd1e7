/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints what every backend makes of messages of every length from 0 to twice
 * the algorithm's block and one more, at once and in pieces, for a test to
 * compare: "BACKEND ALGORITHM LENGTH ONESHOT STREAM", or "BACKEND ALGORITHM
 * skip REASON". Byte i of a message is (i * 7 + LENGTH) modulo 256.
 *
 * digests [BACKEND]…: all of them without arguments. With DIGESTS_BORDERS in the
 * environment only lengths near the ends of blocks are tried. Exit status 1: a
 * backend failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

static void print_hex(const uint8_t *data, size_t len)
{
	putchar(' ');
	for (size_t i = 0; i < len; i++)
		printf("%02x", data[i]);
}

/*
 * Three pieces of which the second is empty, and the rest to final, empty too
 * for every seventh length: few calls, since a call to a TA costs.
 */
static int stream(const struct backend *b, struct session *s, const struct algorithm *alg,
		  const struct buffer *buffer, size_t len, uint8_t *out, struct error *err)
{
	size_t first = len * 5 / 13, third = len % 7 ? len / 3 : len - first;
	size_t rest = len - first - third;
	int ret = b->digest_init(s, alg, err);

	if (!ret)
		ret = b->digest_update(s, buffer, 0, first, err);
	if (!ret)
		ret = b->digest_update(s, buffer, first, 0, err);
	if (!ret)
		ret = b->digest_update(s, buffer, first, third, err);
	if (!ret)
		ret = b->digest_final(s, buffer, first + third, rest, out, err);
	return ret;
}

static int one_length(const struct backend *b, struct session *s, const struct algorithm *alg,
		      const struct buffer *buffer, size_t len, struct error *err)
{
	uint8_t out[2][ALG_DIGEST_MAX_BYTES] = { { 0 } };
	int ret;

	for (size_t i = 0; i < len; i++)
		buffer->data[i] = (uint8_t)(i * 7 + len);
	ret = b->digest(s, alg, buffer, len, out[0], 1 + len % 3, err);
	if (!ret)
		ret = stream(b, s, alg, buffer, len, out[1], err);
	if (ret)
		return ret;
	printf("%s %s %zu", b->name, alg->name, len);
	print_hex(out[0], alg->out_bytes);
	print_hex(out[1], alg->out_bytes);
	printf("\n");
	return 0;
}

/* Returns true unless only lengths round the ends of blocks, and of padding, are asked for. */
static bool wanted_length(size_t len, size_t block)
{
	return !getenv("DIGESTS_BORDERS") || len < 2 || (len + 18) % block < 20;
}

static int one_algorithm(const struct backend *b, struct session *s, const struct algorithm *alg,
			 const struct buffer *buffer, struct error *err)
{
	int ret = b->digest_init(s, alg, err);

	if (ret && err->skip) {
		printf("%s %s skip %s\n", b->name, alg->name, err->what);
		return 0;
	}
	for (size_t len = 0; !ret && len <= 2u * alg->block_bytes + 1; len++)
		if (wanted_length(len, alg->block_bytes))
			ret = one_length(b, s, alg, buffer, len, err);
	return ret;
}

static int one_backend(const struct backend *b, struct error *err)
{
	struct session *s = NULL;
	struct buffer buffer = { 0 };
	int ret = backend_open(b, USE_DIGESTS, &s, err);

	if (ret && err->skip) {
		printf("%s all skip %s\n", b->name, err->what);
		return 0;
	}
	if (!ret)
		ret = buffer_alloc(b, s, 2 * ALG_BLOCK_MAX_BYTES + 1, &buffer, err);
	for (size_t i = 0; !ret && i < algorithms_count; i++)
		if (algorithms[i].class == ALG_DIGEST)
			ret = one_algorithm(b, s, &algorithms[i], &buffer, err);
	buffer_free(b, s, &buffer);
	backend_close(b, s);
	return ret;
}

int main(int argc, char **argv)
{
	struct error err = { 0 };
	int status = 0;

	for (size_t i = 0; backends[i]; i++) {
		bool wanted = argc < 2 && backends[i]->digest;

		for (int a = 1; a < argc; a++)
			wanted = wanted || !strcmp(argv[a], backends[i]->name);
		if (wanted && one_backend(backends[i], &err)) {
			error_print(stderr, "digests", &err);
			status = 1;
		}
	}
	return status;
}
