/* SPDX-License-Identifier: BSD-2-Clause */
/* The bench TA's asymmetric algorithms, against published keys and answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <teemark/asym.h>

#include "../../host/src/teebench/vectors.h"
#include "bench_client.h"
#include "session.h"
#include "shim.h"

enum { RSA = 1, RSA_OAEP = 7, P256 = 10, ECDH = 13, ED25519 = 17 };

static size_t unhex(uint8_t *at, const char *hex)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], 0 };

		at[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return n;
}

static TEE_Result allocate(void *s, uint32_t id, uint32_t use)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(id, use) };

	return invoke(s, TA_BENCH_CMD_ASYM_ALLOCATE, 0x0001, p);
}

static TEE_Result import(void *s, const void *key, size_t len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(SMALL, key, len), len) };

	return invoke(s, TA_BENCH_CMD_ASYM_IMPORT, 0x0005, p);
}

static TEE_Result operate(void *s, const void *in, size_t len, size_t *out_len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(IN, in, len), len), MEMREF(OUT, *out_len) };
	TEE_Result res = invoke(s, TA_BENCH_CMD_ASYM_OPERATE, 0x0065, p);

	*out_len = p[1].memref.size;
	return res;
}

static TEE_Result verify(void *s, const void *in, size_t len, const void *signature,
			 size_t signature_len)
{
	TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(put(IN, in, len), len),
					MEMREF(put(SMALL, signature, signature_len),
					       signature_len) };

	return invoke(s, TA_BENCH_CMD_ASYM_VERIFY, 0x0055, p);
}

/* The published key and answer of an algorithm, as they are sent. */
struct published {
	const struct asym_algorithm *alg;
	uint8_t key[3000], in[600], result[600];
	size_t public, whole, in_len, result_len;
};

static void publish(struct published *p, const struct asym_algorithm *alg)
{
	const struct asym_vector *v = asym_vectors;
	const struct asym_key *k = asym_keys;

	while (strcmp(v->algorithm, alg->name))
		v++;
	while (strcmp(k->name, v->key))
		k++;
	p->alg = alg;
	p->public = unhex(p->key, k->public);
	p->whole = p->public + unhex(p->key + p->public, k->private);
	p->in_len = unhex(p->in, v->in);
	p->result_len = unhex(p->result, v->result);
	assert_int_equal(p->public, asym_public_bytes(alg));
	assert_int_equal(p->whole - p->public, asym_private_bytes(alg, alg->kind == ASYM_RSA));
}

static void ready(void *s, const struct published *p, uint32_t use, bool plain)
{
	size_t len = !asym_is_private(use) ? p->public :
		     plain                 ? p->public + p->alg->value_bytes :
					     p->whole;

	assert_int_equal(allocate(s, p->alg->id, use), TEE_SUCCESS);
	assert_int_equal(import(s, p->key, len), TEE_SUCCESS);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_ASYM_PREPARE), TEE_SUCCESS);
}

static void check_signing(void *s, const struct published *p, bool plain)
{
	bool one_answer = !strcmp(p->alg->padding, "pkcs1") || !p->alg->digest_bytes;
	uint8_t signature[600];
	size_t n = sizeof(signature);

	ready(s, p, ASYM_SIGN, plain);
	n = p->result_len - 1;
	assert_int_equal(operate(s, p->in, p->in_len, &n), SHORT_BUFFER);
	assert_int_equal(n, p->result_len);
	assert_int_equal(operate(s, p->in, p->in_len, &n), TEE_SUCCESS);
	assert_int_equal(n, p->result_len);
	memcpy(signature, OUT, n);
	if (one_answer)
		assert_memory_equal(signature, p->result, n);
	assert_int_equal(verify(s, p->in, p->in_len, signature, n), BAD_STATE);

	ready(s, p, ASYM_VERIFY, false);
	assert_int_equal(verify(s, p->in, p->in_len, signature, n), TEE_SUCCESS);
	assert_int_equal(verify(s, p->in, p->in_len, p->result, n), TEE_SUCCESS);
	signature[n / 2] ^= 1;
	assert_int_equal(verify(s, p->in, p->in_len, signature, n), TEE_ERROR_SIGNATURE_INVALID);
	signature[n / 2] ^= 1;
	OUT[0] = 0;
	memcpy(OUT + 1, p->in, p->in_len);
	OUT[1] ^= 1;
	assert_int_equal(verify(s, OUT + 1, p->in_len, signature, n), TEE_ERROR_SIGNATURE_INVALID);
	assert_int_equal(verify(s, p->in, p->in_len, signature, n - 1), BAD_PARAMETERS);
	n = 600;
	assert_int_equal(operate(s, p->in, p->in_len, &n), BAD_STATE);
}

static void test_published_answers(void **state)
{
	struct published p;
	size_t n;

	for (size_t i = 0; i < asym_algorithms_count; i++) {
		const struct asym_algorithm *alg = &asym_algorithms[i];
		bool rsa = alg->kind == ASYM_RSA;

		if (!alg->tee) {
			/* Post-quantum: GlobalPlatform has no number, and the TA asks nobody for 0. */
			for (uint32_t use = 0; use < ASYM_USES; use++)
				assert_int_equal(allocate(*state, alg->id, use), NOT_SUPPORTED);
			continue;
		}
		publish(&p, alg);
		for (int plain = 0; plain <= rsa; plain++) {
			if (alg->uses & 1u << ASYM_SIGN)
				check_signing(*state, &p, plain);
			n = 600;
			if (alg->uses & 1u << ASYM_DERIVE) {
				ready(*state, &p, ASYM_DERIVE, false);
				assert_int_equal(operate(*state, p.in, p.in_len, &n), TEE_SUCCESS);
				assert_int_equal(n, p.result_len);
				assert_memory_equal(OUT, p.result, n);
			}
			if (alg->uses & 1u << ASYM_DECRYPT) {
				ready(*state, &p, ASYM_DECRYPT, plain);
				assert_int_equal(operate(*state, p.result, p.result_len, &n),
						 TEE_SUCCESS);
				assert_int_equal(n, p.in_len);
				assert_memory_equal(OUT, p.in, n);
			}
		}
	}
}

static void test_encrypt(void **state)
{
	static const uint8_t zeros[ASYM_IN_MAX_BYTES + ASYM_VALUE_MAX_BYTES];
	const struct session *session = *state;
	uint8_t sealed[600];
	struct published p;
	size_t n = 600;

	publish(&p, asym_by_id(RSA_OAEP));
	ready(*state, &p, ASYM_ENCRYPT, false);
	assert_int_equal(operate(*state, p.in, 256 - 66 + 1, &n), BAD_PARAMETERS);
	assert_int_equal(operate(*state, p.in, p.in_len, &n), TEE_SUCCESS);
	memcpy(sealed, OUT, n);
	ready(*state, &p, ASYM_DECRYPT, false);
	n = p.in_len - 1;
	assert_int_equal(operate(*state, sealed, 256, &n), SHORT_BUFFER);
	n = 600;
	assert_int_equal(operate(*state, sealed, 256, &n), TEE_SUCCESS);
	assert_int_equal(n, p.in_len);
	assert_memory_equal(OUT, p.in, n);
	assert_memory_equal(session->buffer, zeros, sizeof(zeros)); /* nothing of it stays */
	sealed[3] ^= 1;
	n = 600;
	assert_int_not_equal(operate(*state, sealed, 256, &n), TEE_SUCCESS);
	assert_int_equal(operate(*state, sealed, 255, &n), BAD_PARAMETERS);
}

/* A generated key has another public key each time, and can be used. */
static void test_generate(void **state)
{
	static const uint8_t ids[] = { P256, ECDH, ED25519 };
	uint8_t first[600];

	for (size_t i = 0; i < sizeof(ids); i++) {
		const struct asym_algorithm *alg = asym_by_id(ids[i]);
		size_t len = asym_public_bytes(alg);
		TEE_Param p[TEE_NUM_PARAMS] = { MEMREF(OUT, len - 1) };
		void *s = *state;

		assert_int_equal(allocate(s, ids[i], alg->uses & 1 ? ASYM_SIGN : ASYM_DERIVE),
				 TEE_SUCCESS);
		assert_int_equal(invoke(s, TA_BENCH_CMD_ASYM_PUBLIC, 6, p), BAD_STATE);
		for (int turn = 0; turn < 2; turn++) {
			assert_int_equal(call_plain(s, TA_BENCH_CMD_ASYM_GENERATE), TEE_SUCCESS);
			p[0].memref.size = len - 1;
			assert_int_equal(invoke(s, TA_BENCH_CMD_ASYM_PUBLIC, 6, p), SHORT_BUFFER);
			assert_int_equal(p[0].memref.size, len);
			assert_int_equal(invoke(s, TA_BENCH_CMD_ASYM_PUBLIC, 6, p), TEE_SUCCESS);
			if (turn)
				assert_memory_not_equal(first, OUT, len);
			memcpy(first, OUT, len);
		}
		assert_int_equal(allocate(s, ids[i], alg->uses & 1 ? ASYM_VERIFY : ASYM_DERIVE),
				 TEE_SUCCESS);
		if (alg->uses & 1)
			assert_int_equal(call_plain(s, TA_BENCH_CMD_ASYM_GENERATE), BAD_STATE);
	}
}

static void test_out_of_sequence(void **state)
{
	struct published p;
	void *s = *state;
	size_t n = 600;

	publish(&p, asym_by_id(P256));
	for (uint32_t cmd = TA_BENCH_CMD_ASYM_GENERATE; cmd <= TA_BENCH_CMD_ASYM_PREPARE; cmd++)
		if (cmd != TA_BENCH_CMD_ASYM_PUBLIC)
			assert_int_equal(call_plain(s, cmd), BAD_STATE);
	assert_int_equal(import(s, p.key, p.whole), BAD_STATE);
	assert_int_equal(operate(s, p.in, p.in_len, &n), BAD_STATE);
	assert_int_equal(allocate(s, P256, ASYM_DERIVE), NOT_SUPPORTED);
	assert_int_equal(allocate(s, P256, ASYM_USES), NOT_SUPPORTED);
	assert_int_equal(allocate(s, P256, UINT32_MAX), NOT_SUPPORTED);
	assert_int_equal(allocate(s, 0, ASYM_SIGN), NOT_SUPPORTED);
	assert_int_equal(allocate(s, 1000, ASYM_SIGN), NOT_SUPPORTED);

	assert_int_equal(allocate(s, P256, ASYM_SIGN), TEE_SUCCESS);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_ASYM_PREPARE), BAD_STATE);
	for (size_t len = 0; len <= p.whole + 1; len++)
		if (len != p.whole)
			assert_int_equal(import(s, p.key, len), BAD_PARAMETERS);
	assert_int_equal(import(s, p.key, p.whole), TEE_SUCCESS);
	assert_int_equal(operate(s, p.in, p.in_len, &n), BAD_STATE);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_ASYM_PREPARE), TEE_SUCCESS);
	for (size_t len = 0; len < 600; len++)
		if (len != p.in_len)
			assert_int_equal(operate(s, IN, len, &n), BAD_PARAMETERS);
	/* A key anew, and given anew to the operation. */
	assert_int_equal(import(s, p.key, p.whole), TEE_SUCCESS);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_ASYM_PREPARE), TEE_SUCCESS);
	n = 600;
	assert_int_equal(operate(s, p.in, p.in_len, &n), TEE_SUCCESS);
	/* Another algorithm drops it all. */
	assert_int_equal(allocate(s, ED25519, ASYM_SIGN), TEE_SUCCESS);
	assert_int_equal(operate(s, p.in, p.in_len, &n), BAD_STATE);
}

/* OP-TEE would end the session at such a key, or at its first use. */
static void test_numbers_that_no_rsa_key_has_are_refused(void **state)
{
	enum { N = 256, E = N, D = N + 4, P = D + N, Q = P + N / 2, COEFFICIENT = Q + 3 * N / 2 };
	static const struct {
		size_t at, len;
		bool may_be_even;
	} numbers[] = {
		{ 0, N, false },         { E, 4, false },
		{ D, N, false },         { P, N / 2, false },
		{ Q, N / 2, false },     { Q + N / 2, N / 2, false },
		{ Q + N, N / 2, false }, { COEFFICIENT, N / 2, true },
	};
	static const size_t full[] = { 0, P, Q };
	struct published p;
	uint8_t key[3000];
	void *s = *state;

	publish(&p, asym_by_id(RSA));
	assert_int_equal(allocate(s, RSA, ASYM_SIGN), TEE_SUCCESS);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint8_t *last = key + numbers[i].at + numbers[i].len - 1;

		for (uint8_t tiny = 0; tiny < 2; tiny++) {
			memcpy(key, p.key, p.whole);
			memset(key + numbers[i].at, 0, numbers[i].len);
			*last = tiny;
			assert_int_equal(import(s, key, p.whole), BAD_PARAMETERS);
		}
		memcpy(key, p.key, p.whole);
		*last &= ~1u;
		assert_int_equal(import(s, key, p.whole),
				 numbers[i].may_be_even ? TEE_SUCCESS : BAD_PARAMETERS);
	}
	for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++) {
		memcpy(key, p.key, p.whole);
		key[full[i]] &= 0x7f;
		assert_int_equal(import(s, key, p.whole), BAD_PARAMETERS);
	}
	/* The refused key is none, and the next one is. */
	assert_int_equal(import(s, key, p.whole), BAD_PARAMETERS);
	assert_int_equal(call_plain(s, TA_BENCH_CMD_ASYM_PREPARE), BAD_STATE);
	ready(s, &p, ASYM_SIGN, false);
	/* A public key alone, too. */
	assert_int_equal(allocate(s, RSA, ASYM_VERIFY), TEE_SUCCESS);
	memset(key, 0, sizeof(key));
	assert_int_equal(import(s, key, p.public), BAD_PARAMETERS);
}

/* With these the secret is 0; the list is that of cr.yp.to/ecdh.html, and RFC 7748's two for X448. */
static void test_peers_of_low_order_are_refused(void **state)
{
	static const struct {
		const char *algorithm, *u;
	} peers[] = {
#define F8   "ffffffffffffffff"
#define Z8   "0000000000000000"
#define X(u) { "x25519", u }
		X("00000000" Z8 Z8 Z8 "00000000"),
		X("01000000" Z8 Z8 Z8 "00000000"),
		X("00000000" Z8 Z8 Z8 "00000080"),
		X("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
		X("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880"),
		X("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
		X("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7"),
		X("ecffffff" F8 F8 F8 "ffffff7f"),
		X("edffffff" F8 F8 F8 "ffffff7f"),
		X("eeffffff" F8 F8 F8 "ffffffff"),
		{ "x448", Z8 Z8 Z8 Z8 Z8 Z8 Z8 },
		{ "x448", "0100000000000000" Z8 Z8 Z8 Z8 Z8 Z8 },
		{ "x448", "feffffffffffffff" F8 F8 "fffffffffeffffff" F8 F8 F8 },
		{ "x448", F8 F8 F8 "fffffffffeffffff" F8 F8 F8 },
		{ "x448", Z8 Z8 Z8 "00000000ffffffff" F8 F8 F8 },
	};
	struct published p;
	uint8_t u[56];
	void *s = *state;

	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
		size_t len = unhex(u, peers[i].u), n = 600;

		publish(&p, asym_by_name(peers[i].algorithm));
		assert_int_equal(len, p.public);
		ready(s, &p, ASYM_DERIVE, false);
		assert_int_equal(operate(s, u, len, &n), BAD_PARAMETERS);
		/* Its neighbour isn't one, and the session goes on. */
		u[2] ^= 0x20;
		n = 600;
		assert_int_equal(operate(s, u, len, &n), TEE_SUCCESS);
	}
}

static void test_says(void **state)
{
	TEE_Param p[TEE_NUM_PARAMS] = { VALUE(P256, 0), VALUE(7, 7) };

	assert_int_equal(invoke(*state, TA_BENCH_CMD_ASYM_SAYS, 0x0021, p), TEE_SUCCESS);
	assert_int_equal(p[1].value.a, 1);
	assert_int_equal(p[1].value.b, 0);
	shim_unsupported_alg = asym_by_id(P256)->tee;
	assert_int_equal(invoke(*state, TA_BENCH_CMD_ASYM_SAYS, 0x0021, p), TEE_SUCCESS);
	assert_int_equal(p[1].value.a, 0);
	assert_int_equal(allocate(*state, P256, ASYM_SIGN), NOT_SUPPORTED);
	p[0].value.a = asym_by_name("ml-kem-768")->id;
	assert_int_equal(invoke(*state, TA_BENCH_CMD_ASYM_SAYS, 0x0021, p), NOT_SUPPORTED);
	p[0].value.a = 99;
	assert_int_equal(invoke(*state, TA_BENCH_CMD_ASYM_SAYS, 0x0021, p), NOT_SUPPORTED);
}

/* Nothing of a private key is left in what is freed; and memory may run out. */
static void test_wiped_and_out_of_memory(void **state)
{
	struct published p;

	publish(&p, asym_by_id(P256));
	shim_secret = p.key + p.public;
	shim_secret_len = 16;
	ready(*state, &p, ASYM_SIGN, false);
	TA_CloseSessionEntryPoint(*state);
	*state = open_session();
	for (unsigned n = 1; n < 3; n++) {
		shim_fail_alloc = n;
		assert_int_equal(allocate(*state, P256, ASYM_SIGN), TEE_ERROR_OUT_OF_MEMORY);
		shim_fail_alloc = 0;
		assert_int_equal(import(*state, p.key, p.whole), BAD_STATE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_published_answers),
		TEST(test_encrypt),
		TEST(test_generate),
		TEST(test_out_of_sequence),
		TEST(test_numbers_that_no_rsa_key_has_are_refused),
		TEST(test_peers_of_low_order_are_refused),
		TEST(test_says),
		TEST(test_wiped_and_out_of_memory),
	};

	return cmocka_run_group_tests_name("bench TA: asymmetric", tests, NULL, NULL) != 0;
}
