/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys and peers that are none, for every asymmetric algorithm of the TEE. */
#include <stdio.h>
#include <string.h>

#include <teemark/asym.h>
#include <teemark/ta_bench.h>

#include "board.h"
#include "torture.h"

/* How the bytes of a key or a peer are made up. */
enum form { ZEROS, ONES, ONE_LAST, ONE_FIRST, EVEN, ODD, FORMS };

static const char *const names[FORMS] = {
	"zeros", "ones", "one, last", "one, first", "random and even", "random and odd",
};

static void fill(uint8_t *bytes, size_t len, enum form form)
{
	static uint32_t x = 1;

	memset(bytes, form == ONES ? 0xff : 0, len);
	for (size_t i = 0; form >= EVEN && i < len; i++)
		bytes[i] = (x = x * 1664525 + 1013904223) >> 24;
	if (form == ONE_LAST || form == ODD)
		bytes[len - 1] |= 1;
	if (form == ONE_FIRST)
		bytes[0] = 1;
	if (form == EVEN)
		bytes[len - 1] &= ~1;
	if (form >= EVEN)
		bytes[0] |= 0x80;
}

/* One key and one use of it; the calls go on after a refusal. Returns the worst answer. */
static TEEC_Result use_key(TEEC_Session *s, const struct asym_algorithm *alg, enum asym_use use,
			   const uint8_t *key, size_t len, const uint8_t *in, unsigned int *calls)
{
	static uint8_t out[ASYM_VALUE_MAX_BYTES];
	size_t in_len = use == ASYM_DERIVE  ? asym_public_bytes(alg) :
			use == ASYM_DECRYPT ? alg->out_bytes :
			alg->digest_bytes   ? alg->digest_bytes :
					      32;
	TEEC_Result res = INVOKE(s, TA_BENCH_CMD_ASYM_ALLOCATE, TYPES(VALUE, NONE, NONE, NONE),
				 value(alg->id, use));

	*calls += 4;
	if (res == TEEC_SUCCESS)
		res = INVOKE(s, TA_BENCH_CMD_ASYM_IMPORT, TYPES(IN, NONE, NONE, NONE),
			     memref(key, len));
	if (res == TEEC_SUCCESS)
		res = INVOKE(s, TA_BENCH_CMD_ASYM_PREPARE, 0, value(0, 0));
	if (res == TEEC_SUCCESS && use == ASYM_VERIFY)
		return INVOKE(s, TA_BENCH_CMD_ASYM_VERIFY, TYPES(IN, IN, NONE, NONE),
			      memref(in, in_len), memref(key, alg->out_bytes));
	if (res == TEEC_SUCCESS)
		return INVOKE(s, TA_BENCH_CMD_ASYM_OPERATE, TYPES(IN, OUT, NONE, NONE),
			      memref(in, in_len), memref(out, sizeof(out)));
	return res;
}

int check_keys(char **argv)
{
	unsigned int calls = 0, dead = 0;
	size_t most = strtoul(argv[0], NULL, 10); /* bits of the keys that are tried */
	static uint8_t key[ASYM_PUBLIC_MAX_BYTES + ASYM_PRIVATE_MAX_BYTES], in[ASYM_IN_MAX_BYTES];
	TEEC_Session s;

	if (open_session(&s, (TEEC_UUID)TA_BENCH_UUID))
		die("no session of the bench TA");
	for (size_t i = 0; i < asym_algorithms_count; i++) {
		const struct asym_algorithm *alg = &asym_algorithms[i];

		for (unsigned int at = 0; alg->tee && alg->bits <= most && at < 5 * 2 * FORMS;
		     at++) {
			enum asym_use use = at % 5;
			bool crt = at / 5 % 2;
			enum form form = at / 10;
			size_t len = asym_public_bytes(alg);

			if (!(alg->uses & 1u << use) || (crt && alg->kind != ASYM_RSA))
				continue;
			if (asym_is_private(use))
				len += asym_private_bytes(alg, crt);
			/* The numbers one by one, so that each has its own end. */
			for (size_t n = 0; n < len;) {
				size_t part = alg->kind == ASYM_RSA && n == alg->value_bytes ?
						      ASYM_EXPONENT_BYTES :
						      alg->value_bytes;

				if (n >= asym_public_bytes(alg) + alg->value_bytes)
					part /= 2;
				if (part > len - n)
					part = len - n;
				fill(key + n, part, form);
				n += part;
			}
			fill(in, sizeof(in), use == ASYM_DERIVE ? form : ODD);
			if (use_key(&s, alg, use, key, len, in, &calls) != TEEC_ERROR_TARGET_DEAD)
				continue;
			printf("%s, use %d, %s%s: the session ended\n", alg->name, use, names[form],
			       crt ? ", with primes" : "");
			dead++;
			TEEC_CloseSession(&s);
			if (open_session(&s, (TEEC_UUID)TA_BENCH_UUID))
				die("no session of the bench TA after that");
		}
	}
	TEEC_CloseSession(&s);
	printf("%u calls, %u sessions ended\n", calls, dead);
	return dead != 0;
}
