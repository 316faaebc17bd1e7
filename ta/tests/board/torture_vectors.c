/* SPDX-License-Identifier: BSD-2-Clause */
/* The published vectors. */
#include <stdio.h>
#include <string.h>

#include <teemark/ta_bench.h>

#include "board.h"
#include "torture.h"
#include "vectors.h"

static const char *check_mac(TEEC_Session *s, const struct vector *v)
{
	uint8_t out[ALG_DIGEST_MAX_BYTES] = { 0 };
	TEEC_Result res = mac(s, v->alg, v->key.data, v->key.len, v->plain.data, v->plain.len, out);

	/* Which lengths a TEE takes is its own affair. */
	if (res == TEEC_ERROR_NOT_SUPPORTED || v->key.len > ALG_KEY_MAX_BYTES)
		return "skip";
	if (res != TEEC_SUCCESS || memcmp(out, v->cipher.data, v->cipher.len))
		return "the MAC";
	return NULL;
}

static const char *check_steps(TEEC_Session *s, const struct vector *v, const uint8_t *in,
			       const uint8_t *expected)
{
	bool xts = !strcmp(v->alg->kernel, "xts(aes)");
	size_t len = v->plain.len, step = xts ? len : 16, at = 0;
	uint8_t out[300] = { 0 };

	if (set_iv(s, v->alg, v->iv.data))
		return "set IV";
	for (; at + step <= len; at += step)
		if (update(s, in + at, out + at, step))
			return "update";
	return memcmp(out, expected, len) ? "in steps" : NULL;
}

static const char *check_cipher(TEEC_Session *s, const struct vector *v, bool encrypt)
{
	const uint8_t *in = encrypt ? v->plain.data : v->cipher.data;
	const uint8_t *expected = encrypt ? v->cipher.data : v->plain.data;
	uint8_t with_tag[300], out[300] = { 0 };
	bool aead = v->alg->class == ALG_AEAD;
	size_t len = v->plain.len, in_len = len, out_len = sizeof(out);

	memcpy(with_tag, in, len);
	if (aead && !encrypt) {
		memcpy(with_tag + len, v->tag.data, TAG);
		in_len += TAG;
	}
	if (prepare(s, v->alg, encrypt, v->key.data))
		return "prepare";
	if (message(s, v->alg, v->iv.data, with_tag, in_len, out, &out_len, 3))
		return "message";
	if (out_len != len + (aead && encrypt ? TAG : 0) || memcmp(out, expected, len))
		return "output";
	if (aead && encrypt && memcmp(out + len, v->tag.data, TAG))
		return "tag";
	if (!aead)
		return check_steps(s, v, in, expected);
	if (encrypt)
		return NULL;
	/* One bit wrong, wherever: nothing comes out. */
	for (size_t bit = 0; bit < 8 * in_len; bit += 13) {
		with_tag[bit / 8] ^= 1 << bit % 8;
		memset(out, 0xee, sizeof(out));
		out_len = sizeof(out);
		if (message(s, v->alg, v->iv.data, with_tag, in_len, out, &out_len, 1) !=
		    TEE_ERROR_MAC_INVALID)
			return "a wrong tag was taken";
		for (size_t i = 0; i < sizeof(out); i++)
			if (out[i] != 0xee)
				return "plaintext left with a wrong tag";
		with_tag[bit / 8] ^= 1 << bit % 8;
	}
	return NULL;
}

int check_vectors(char **argv)
{
	FILE *file = fopen(argv[0], "r");
	unsigned int right = 0, skipped = 0, wrong = 0;
	TEEC_Session session;
	struct vector v;
	int more;

	if (!file)
		die("cannot open %s", argv[0]);
	if (open_session(&session, (TEEC_UUID)TA_BENCH_UUID))
		die("cannot open a session of the bench TA");
	while ((more = vector_read(file, &v)) > 0) {
		const char *what;

		if (v.alg->class == ALG_MAC)
			what = check_mac(&session, &v);
		else if (v.aad.len)
			what = "skip"; /* the TA takes none */
		else if (!(what = check_cipher(&session, &v, true)))
			what = check_cipher(&session, &v, false);
		if (!what) {
			right++;
		} else if (!strcmp(what, "skip")) {
			skipped++;
		} else {
			printf("%s: %s\n", v.alg->name, what);
			wrong++;
		}
	}
	TEEC_CloseSession(&session);
	if (more < 0)
		die("%s: a line that is no vector", argv[0]);
	printf("%u right, %u not for a TEE, %u wrong\n", right, skipped, wrong);
	return wrong || !right;
}
