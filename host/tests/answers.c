/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answers BACKEND: what a backend answers to operations with asymmetric keys. A line of the input is
 * "ALGORITHM USE KEY IN SIGNATURE": the use as a number of enum asym_use, the rest in hexadecimal,
 * "-" for nothing; the key as asym.h lays it out. For each a line is written: the result in
 * hexadecimal, "right" for a signature that is verified, "refused REASON", or "dead" if the TA ended
 * (the next line finds a new one).
 *
 * FAULT in the environment plants a fault: "accepts", "refuses", "flips" or "high-bit" (the first
 * byte of a signature loses its highest bit before it is verified).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tee_client_api.h>

#include "backend.h"

enum { FIELDS = 5 };

/* Returns the bytes of a field, or -1 if there is no room for them. */
static int unhex(const char *hex, uint8_t *at, size_t room)
{
	size_t len = strcmp(hex, "-") ? strlen(hex) / 2 : 0;

	if (len > room)
		return -1;
	for (size_t i = 0; i < len; i++) {
		char digits[] = { hex[2 * i], hex[2 * i + 1], 0 };

		at[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return (int)len;
}

static int steps(const struct backend *b, struct session *s, struct asym_job *job,
		 struct error *err)
{
	const char *fault = getenv("FAULT") ? getenv("FAULT") : "";
	bool verify = job->use == ASYM_VERIFY;
	int ret = 0;

	if (verify && !strcmp(fault, "high-bit"))
		job->out->data[0] &= 0x7f;
	for (int i = ASYM_ALLOCATE; !ret && i < ASYM_STEPS; i++)
		ret = b->asym_step(s, job, (enum asym_step)i, err);
	if (verify && !strcmp(fault, "accepts"))
		return 0;
	if (verify && !strcmp(fault, "refuses"))
		return error_set(err, -EBADMSG, "planted");
	if (!verify && !ret && !strcmp(fault, "flips"))
		job->out->data[job->out_len / 2] ^= 1;
	return ret;
}

static int answer(const struct backend *b, struct session *s, char **field,
		  const struct buffer *buffers, struct error *why)
{
	struct asym_job job = {
		.alg = asym_by_name(field[0]),
		.use = (enum asym_use)atoi(field[1]),
		.in = &buffers[0],
		.out = &buffers[1],
	};
	struct error err = { 0 };
	uint8_t *key;
	int key_len, in_len, out_len, ret;

	if (!job.alg || !(job.alg->uses & 1u << job.use))
		return error_set(why, -EINVAL, "no %s", field[0]);
	key = asym_key_in(&job);
	key_len = unhex(field[2], key, (size_t)(job.in->data + job.in->size - key));
	in_len = unhex(field[3], job.in->data, (size_t)(key - job.in->data));
	out_len = unhex(field[4], job.out->data, job.out->size);
	if (key_len < 0 || in_len < 0 || out_len < 0)
		return error_set(why, -E2BIG, "too long");
	job.key_len = (size_t)key_len;
	job.in_len = (size_t)in_len;
	job.out_len = (size_t)out_len;
	ret = steps(b, s, &job, &err);
	if (ret && err.tee_result == TEEC_ERROR_TARGET_DEAD && b->asym_again) {
		puts("dead");
		return b->asym_again(s, why);
	}
	if (ret) {
		printf("refused %s\n", err.what);
	} else if (job.use == ASYM_VERIFY) {
		puts("right");
	} else {
		for (size_t i = 0; i < job.out_len; i++)
			printf("%02x", job.out->data[i]);
		putchar('\n');
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct backend *b = argc == 2 ? backend_by_name(argv[1]) : NULL;
	struct session *s = NULL;
	struct buffer buffers[2] = { 0 };
	struct error err = { 0 };
	char *line = NULL;
	size_t size = 0;
	int ret = b ? backend_open(b, USE_ASYM, &s, &err) : -EINVAL;

	for (size_t i = 0; !ret && i < 2; i++)
		ret = buffer_alloc(b, s, ASYM_BUFFER_BYTES, &buffers[i], &err);
	while (!ret && getline(&line, &size, stdin) > 0) {
		char *field[FIELDS], *rest = line;
		int n = 0;

		while (n < FIELDS && (field[n] = strtok_r(n ? NULL : line, " \n", &rest)))
			n++;
		ret = n == FIELDS ? answer(b, s, field, buffers, &err) : -EINVAL;
		fflush(stdout);
	}
	free(line);
	for (size_t i = 0; i < 2; i++)
		buffer_free(b, s, &buffers[i]);
	if (b)
		backend_close(b, s);
	if (ret)
		error_print(stderr, "answers", &err);
	return ret ? 1 : 0;
}
