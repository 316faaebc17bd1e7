/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NIST's published vectors through a backend, on the board:
 *
 *   vectors BACKEND examples FILE         common/tests/vectors/examples.txt
 *   vectors BACKEND monte-carlo FILE N    monte-carlo.txt, N of 100 checkpoints
 *
 * Prints a line a vector that was right; ends with status 1 at the first that
 * is wrong. What the backend lacks is skipped, with a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "output.h"

#define MESSAGE_MAX (1u << 20)
#define STEPS       1000
#define CHECKPOINTS 100

struct run {
	const struct backend *backend;
	struct session *session;
	struct buffer buffer;
	struct error err;
};

static void fail(const struct run *run, const char *name, const char *what)
{
	printf("%s %s: %s %s\n", run->backend->name, name, what, run->err.what);
	exit(1);
}

static bool lacks(struct run *run, const struct algorithm *alg)
{
	if (!run->backend->digest_init(run->session, alg, &run->err))
		return false;
	printf("%s %s skip\n", run->backend->name, alg->name);
	return true;
}

static void digest(struct run *run, const struct algorithm *alg, size_t len, uint8_t *out)
{
	if (run->backend->digest(run->session, alg, &run->buffer, len, out, 1, &run->err))
		fail(run, alg->name, "failed:");
}

/* Reads len bytes. Returns false if these are no 2 * len digits. */
static bool hex_decode(uint8_t *bytes, size_t len, const char *hex)
{
	if (strspn(hex, "0123456789abcdefABCDEF") < 2 * len)
		return false;
	for (size_t i = 0; i < len; i++)
		sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
	return true;
}

/* In one call, and again as a stream in two pieces. */
static void example(struct run *run, const struct algorithm *alg, const char *repeat,
		    const char *message, const char *hex)
{
	uint8_t expected[ALG_DIGEST_MAX_BYTES];
	uint8_t out[ALG_DIGEST_MAX_BYTES];
	size_t times = strtoul(repeat, NULL, 10);
	size_t len = strcmp(message, "-") ? strlen(message) / 2 : 0;
	size_t half;

	if (times * len > MESSAGE_MAX || strlen(hex) != 2u * alg->out_bytes ||
	    !hex_decode(expected, alg->out_bytes, hex) ||
	    !hex_decode(run->buffer.data, len, message))
		fail(run, alg->name, "a line that is none:");
	for (size_t i = 1; i < times; i++)
		memcpy(run->buffer.data + i * len, run->buffer.data, len);
	len *= times;
	digest(run, alg, len, out);
	if (memcmp(out, expected, alg->out_bytes))
		fail(run, alg->name, "a wrong digest");
	half = len / 2;
	if (run->backend->digest_init(run->session, alg, &run->err) ||
	    run->backend->digest_update(run->session, &run->buffer, 0, half, &run->err) ||
	    run->backend->digest_final(run->session, &run->buffer, half, len - half, out,
				       &run->err))
		fail(run, alg->name, "failed:");
	if (memcmp(out, expected, alg->out_bytes))
		fail(run, alg->name, "a wrong digest of a stream");
	printf("%s %s example %zu\n", run->backend->name, alg->name, len);
}

/* SHAVS 6.4: three digests are the next message; SHA3VS 6.2.3: one. */
static void checkpoint(struct run *run, const struct algorithm *alg, uint8_t *seed)
{
	bool sha3 = !strncmp(alg->name, "sha3-", 5);
	size_t n = alg->out_bytes;
	uint8_t *data = run->buffer.data;

	for (unsigned int i = 0; i < (sha3 ? 1 : 3); i++)
		memcpy(data + i * n, seed, n);
	for (unsigned int i = 0; i < STEPS; i++) {
		digest(run, alg, sha3 ? n : 3 * n, seed);
		if (!sha3)
			memmove(data, data + n, 2 * n);
		memcpy(data + (sha3 ? 0 : 2 * n), seed, n);
	}
}

static void monte_carlo(struct run *run, const struct algorithm *alg, const char *const hex[3],
			unsigned int checkpoints)
{
	uint8_t value[3][ALG_DIGEST_MAX_BYTES];

	for (unsigned int i = 0; i < 3; i++)
		if (strlen(hex[i]) != 2u * alg->out_bytes ||
		    !hex_decode(value[i], alg->out_bytes, hex[i]))
			fail(run, alg->name, "a line that is none:");
	for (unsigned int i = 0; i < checkpoints; i++) {
		checkpoint(run, alg, value[0]);
		if ((i == 0 && memcmp(value[0], value[1], alg->out_bytes)) ||
		    (i == CHECKPOINTS - 1 && memcmp(value[0], value[2], alg->out_bytes)))
			fail(run, alg->name, "a wrong checkpoint");
	}
	printf("%s %s monte-carlo %u\n", run->backend->name, alg->name, checkpoints);
}

int main(int argc, char **argv)
{
	struct run run = { 0 };
	static char line[8192];
	unsigned int checkpoints;
	FILE *file;

	if (argc < 4)
		return 2;
	checkpoints = argc > 4 ? (unsigned int)atoi(argv[4]) : 0;
	run.backend = backend_by_name(argv[1]);
	file = fopen(argv[3], "r");
	if (!run.backend || !file)
		return 2;
	if (backend_open(run.backend, USE_DIGESTS, &run.session, &run.err) ||
	    buffer_alloc(run.backend, run.session, MESSAGE_MAX, &run.buffer, &run.err))
		fail(&run, "", "not here:");
	while (fgets(line, sizeof(line), file)) {
		const struct algorithm *alg;
		char *word[4];

		word[0] = strtok(line, " \n");
		for (unsigned int i = 1; i < 4; i++)
			word[i] = strtok(NULL, " \n");
		if (!word[0] || word[0][0] == '#')
			continue;
		alg = algorithm_by_name(word[0]);
		if (!alg || !word[3])
			fail(&run, word[0], "a line that is none:");
		if (lacks(&run, alg))
			continue;
		if (!strcmp(argv[2], "examples"))
			example(&run, alg, word[1], word[2], word[3]);
		else
			monte_carlo(&run, alg, (const char *const *)word + 1, checkpoints);
	}
	fclose(file);
	buffer_free(run.backend, run.session, &run.buffer);
	backend_close(run.backend, run.session);
	return 0;
}
