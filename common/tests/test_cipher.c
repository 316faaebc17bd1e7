/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AES and HMAC of common/src against published values and against libcrypto.
 *
 *   test_cipher VECTORS
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/cipher.h>
#include <teemark/hmac.h>

#include "vectors.h"

#define MAX_LEN 700

static const char *vectors;

/* Any bytes; the same every time. */
static uint32_t random32(void)
{
	static uint32_t x = 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

static void fill(uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)(random32() >> 8);
}

/* Memory that ends where the data end, `offset` off alignment. */
struct exact {
	uint8_t *base, *data;
};

static struct exact exact(const uint8_t *data, size_t len, size_t offset)
{
	struct exact e;

	e.base = malloc(offset + len + !(offset + len));
	assert_non_null(e.base);
	e.data = e.base + offset;
	if (data && len)
		memcpy(e.data, data, len);
	return e;
}

struct message {
	const struct algorithm *alg;
	const uint8_t *key, *iv;
};

/* In pieces of any length that the mode takes, 0 too; in place or not. */
static void crypt(const struct message *m, bool encrypt, const uint8_t *in, uint8_t *out,
		  size_t len, uint8_t *tag, bool in_place, bool pieces)
{
	struct exact key = exact(m->key, m->alg->key_bytes, 0);
	struct exact iv = exact(m->iv, m->alg->iv_bytes, 0);
	struct exact from = exact(in, len, random32() % 16);
	struct exact to = in_place ? from : exact(NULL, len, random32() % 16);
	union cipher_ctx ctx;
	size_t at = 0;

	/* Whatever was there before must not matter. */
	memset(&ctx, 0xaa, sizeof(ctx));
	assert_true(cipher_set_key(&ctx, m->alg->id, encrypt, key.data));
	/* A message that is dropped leaves nothing. */
	cipher_begin(&ctx, iv.data);
	if (random32() % 2) {
		uint8_t some[32] = { 0 };

		cipher_update(&ctx, some, some, sizeof(some));
	}
	cipher_begin(&ctx, m->alg->iv_bytes ? iv.data : NULL);
	while (at < len) {
		size_t step = m->alg->unit_bytes;
		size_t n = pieces ? random32() % 40 / step * step : len;

		n = n < len - at ? n : len - at;
		cipher_update(&ctx, from.data + at, to.data + at, n);
		at += n;
	}
	if (m->alg->class == ALG_AEAD)
		cipher_tag(&ctx, tag);
	if (len)
		memcpy(out, to.data, len);
	cipher_wipe(&ctx);
	free(key.base);
	free(iv.base);
	if (!in_place)
		free(to.base);
	free(from.base);
}

static void check_cipher(const struct message *m, const uint8_t *plain, const uint8_t *cipher,
			 size_t len, const uint8_t *tag)
{
	for (int way = 0; way < 8; way++) {
		bool encrypt = way & 1;
		uint8_t out[MAX_LEN], out_tag[16];

		crypt(m, encrypt, encrypt ? plain : cipher, out, len, out_tag, way & 2, way & 4);
		assert_memory_equal(out, encrypt ? cipher : plain, len);
		if (m->alg->class == ALG_AEAD)
			assert_memory_equal(out_tag, tag, 16);
	}
}

static void mac(const struct algorithm *alg, const uint8_t *key, size_t key_len,
		const uint8_t *data, size_t len, uint8_t *out)
{
	struct exact k = exact(key, key_len, 0);
	struct exact d = exact(data, len, random32() % 16);
	struct hmac hmac;

	memset(&hmac, 0xaa, sizeof(hmac));
	assert_true(hmac_set_key(&hmac, DIGEST_CODE_C, alg->id, k.data, key_len));
	/* Another message, then twice this one, with one key. */
	hmac_message(&hmac, "another", random32() % 8, out);
	for (int i = 0; i < 2; i++)
		hmac_message(&hmac, d.data, len, out);
	hmac_wipe(&hmac);
	free(k.base);
	free(d.base);
}

static void test_published(void **state)
{
	size_t count[5] = { 0 };
	struct vector v;
	FILE *file;
	char path[512];
	int more;

	(void)state;
	snprintf(path, sizeof(path), "%s/ciphers.txt", vectors);
	file = fopen(path, "r");
	assert_non_null(file);
	while ((more = vector_read(file, &v)) > 0) {
		struct message m = { v.alg, v.key.data, v.iv.data };

		if (v.aad.len) /* the code takes none */
			continue;
		count[v.alg->class]++;
		if (v.alg->class == ALG_MAC) {
			uint8_t out[ALG_DIGEST_MAX_BYTES];

			assert_int_equal(v.cipher.len, v.alg->out_bytes);
			mac(v.alg, v.key.data, v.key.len, v.plain.data, v.plain.len, out);
			assert_memory_equal(out, v.cipher.data, v.cipher.len);
			continue;
		}
		assert_int_equal(v.key.len, v.alg->key_bytes);
		assert_int_equal(v.iv.len, v.alg->iv_bytes);
		assert_int_equal(v.tag.len, v.alg->out_bytes);
		assert_int_equal(v.cipher.len, v.plain.len);
		check_cipher(&m, v.plain.data, v.cipher.data, v.plain.len, v.tag.data);
	}
	fclose(file);
	assert_int_equal(more, 0);
	assert_int_equal(count[ALG_CIPHER], 13);
	assert_int_equal(count[ALG_AEAD], 10);
	assert_int_equal(count[ALG_MAC], 16);
}

static void libcrypto_encrypt(const struct message *m, const uint8_t *in, size_t len, uint8_t *out,
			      uint8_t *tag)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	EVP_CIPHER *evp = EVP_CIPHER_fetch(NULL, m->alg->evp, NULL);
	int n = 0;

	assert_non_null(evp);
	assert_int_equal(EVP_CIPHER_get_key_length(evp), m->alg->key_bytes);
	assert_int_equal(EVP_CIPHER_get_iv_length(evp), m->alg->iv_bytes);
	assert_int_equal(EVP_EncryptInit_ex2(ctx, evp, m->key, m->iv, NULL), 1);
	EVP_CIPHER_CTX_set_padding(ctx, 0);
	if (len)
		assert_int_equal(EVP_EncryptUpdate(ctx, out, &n, in, len), 1);
	if (m->alg->class == ALG_AEAD) {
		uint8_t none[16];

		assert_int_equal(EVP_EncryptFinal_ex(ctx, none, &n), 1);
		assert_int_equal(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag), 1);
	}
	EVP_CIPHER_free(evp);
	EVP_CIPHER_CTX_free(ctx);
}

static void test_ciphers_and_libcrypto(void **state)
{
	size_t ciphers = 0;

	(void)state;
	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];

		if (alg->class != ALG_CIPHER && alg->class != ALG_AEAD)
			continue;
		ciphers++;
		for (size_t n = 0; n < 150; n++) {
			uint8_t key[64], iv[16], plain[MAX_LEN];
			uint8_t cipher[MAX_LEN], tag[16];
			struct message m = { alg, key, iv };
			size_t len = n < 70 ? n : random32() % MAX_LEN;

			len = len / alg->unit_bytes * alg->unit_bytes;
			if (!strcmp(alg->kernel, "xts(aes)") && !len)
				continue;
			fill(key, sizeof(key));
			fill(iv, sizeof(iv));
			fill(plain, len);
			/* Counters that overflow. */
			if (n % 5 == 0)
				memset(iv + n % 16, 0xff, 16 - n % 16);
			libcrypto_encrypt(&m, plain, len, cipher, tag);
			check_cipher(&m, plain, cipher, len, tag);
		}
	}
	assert_int_equal(ciphers, 14);
}

static void test_hmacs_and_libcrypto(void **state)
{
	size_t macs = 0;

	(void)state;
	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];

		if (alg->class != ALG_MAC)
			continue;
		macs++;
		for (size_t n = 0; n < 600; n++) {
			uint8_t key[300], data[MAX_LEN];
			uint8_t want[64], out[64];
			size_t key_len = n < 300 ? n : alg->key_bytes;
			size_t len = random32() % MAX_LEN;

			fill(key, key_len);
			fill(data, len);
			assert_non_null(HMAC(EVP_get_digestbyname(alg->evp), key, key_len, data,
					     len, want, NULL));
			mac(alg, key, key_len, data, len, out);
			assert_memory_equal(out, want, alg->out_bytes);
		}
	}
	assert_int_equal(macs, 5);
}

/* XTS, the others that chain, and an AEAD: a changed byte is noticed. */
static void test_tags_differ(void **state)
{
	uint8_t key[32] = { 1 }, iv[12] = { 2 }, data[100] = { 3 }, tag[16];
	const struct algorithm *alg = algorithm_by_name("aes-256-gcm");
	struct message m = { alg, key, iv };
	uint8_t cipher[100];

	(void)state;
	crypt(&m, true, data, cipher, sizeof(data), tag, false, false);
	for (size_t i = 0; i < 8 * sizeof(cipher); i++) {
		uint8_t out[100], other[16];

		cipher[i / 8] ^= 1 << i % 8;
		crypt(&m, false, cipher, out, sizeof(out), other, false, false);
		assert_memory_not_equal(tag, other, 16);
		cipher[i / 8] ^= 1 << i % 8;
	}
}

static void test_what_there_is(void **state)
{
	union cipher_ctx ctx, before;
	struct hmac hmac;
	uint8_t key[64] = { 0 };

	(void)state;
	memset(&ctx, 0x55, sizeof(ctx));
	before = ctx;
	for (size_t i = 0; i < algorithms_count; i++) {
		const struct algorithm *alg = &algorithms[i];

		assert_int_equal(hmac_set_key(&hmac, DIGEST_CODE_C, alg->id, key, 16),
				 alg->class == ALG_MAC);
		if (alg->class == ALG_CIPHER || alg->class == ALG_AEAD)
			continue;
		assert_false(cipher_set_key(&ctx, alg->id, true, key));
	}
	assert_false(cipher_set_key(&ctx, 0, true, key));
	assert_false(cipher_set_key(&ctx, 38, true, key));
	assert_memory_equal(&ctx, &before, sizeof(ctx));
	assert_false(hmac_set_key(&hmac, DIGEST_CODE_C, 65535, key, 16));
}

static void test_wiped(void **state)
{
	union cipher_ctx ctx, zeros = { { 0 } };
	struct hmac hmac, no_hmac;
	uint8_t key[64];

	(void)state;
	memset(&no_hmac, 0, sizeof(no_hmac));
	memset(&hmac, 0, sizeof(hmac));
	fill(key, sizeof(key));
	assert_true(cipher_set_key(&ctx, 43, true, key));
	cipher_begin(&ctx, key);
	cipher_wipe(&ctx);
	assert_memory_equal(&ctx, &zeros, sizeof(ctx));
	assert_true(hmac_set_key(&hmac, DIGEST_CODE_C, 24, key, 64));
	hmac_wipe(&hmac);
	assert_memory_equal(&hmac, &no_hmac, sizeof(hmac));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_ciphers_and_libcrypto),
		cmocka_unit_test(test_hmacs_and_libcrypto),
		cmocka_unit_test(test_tags_differ),
		cmocka_unit_test(test_what_there_is),
		cmocka_unit_test(test_wiped),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: test_cipher VECTORS\n");
		return 2;
	}
	vectors = argv[1];
	return cmocka_run_group_tests_name("ciphers", tests, NULL, NULL) != 0;
}
