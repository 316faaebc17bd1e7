/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases with asymmetric keys by libcrypto, and by a kernel of the test's own: right ones pass, and
 * wrong implementations, planted below the backend, fail before they are timed.
 */
#include "harness.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/keyctl.h>

#include "cases.h"
#include "vectors.h"

static enum {
	RIGHT,
	WRONG_RESULT,   /* a bit of each result is flipped */
	ACCEPTS_ALL,    /* each signature is right */
	REFUSES_ALL,    /* none is */
	IGNORES_DIGEST, /* verifies with the published digest, whatever came */
} fault;

int __real_openssl_asym_step(void *asym, struct asym_job *job, enum asym_step step,
			     struct error *err);
int __wrap_openssl_asym_step(void *asym, struct asym_job *job, enum asym_step step,
			     struct error *err);
int __wrap_openssl_asym_step(void *asym, struct asym_job *job, enum asym_step step,
			     struct error *err)
{
	static uint8_t first[ASYM_IN_MAX_BYTES];
	static bool seen;
	int ret;

	if (step == ASYM_OPERATE && job->use == ASYM_VERIFY) {
		if (fault == IGNORES_DIGEST && seen)
			memcpy(job->in->data, first, job->in_len);
		memcpy(first, job->in->data, job->in_len);
		seen = fault == IGNORES_DIGEST;
	}
	ret = __real_openssl_asym_step(asym, job, step, err);
	if (step != ASYM_OPERATE)
		return ret;
	if (job->use == ASYM_VERIFY) {
		if (fault == ACCEPTS_ALL)
			return 0;
		if (fault == REFUSES_ALL)
			return error_set(err, -EBADMSG, "planted");
	} else if (fault == WRONG_RESULT && !ret) {
		job->out->data[job->out_len / 2] ^= 4;
	}
	return ret;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* A kernel of the test's own: openssl(1) computes with the key, as it was sent. */
static struct {
	char folder[32];
	int no_key, refuses; /* errno; 0: none */
	bool accepts_all, wrong_signature;
} kernel = { .folder = "/tmp/keyctl-XXXXXX" };

static size_t file(const char *name, const char *mode, void *data, size_t len)
{
	char path[64];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", kernel.folder, name);
	stream = fopen(path, mode);
	assert_non_null(stream);
	len = *mode == 'w' ? fwrite(data, 1, len, stream) : fread(data, 1, len, stream);
	fclose(stream);
	return len;
}

static bool openssl(const char *command)
{
	char line[512];

	snprintf(line, sizeof(line), "cd %s && { %s; } >/dev/null 2>&1", kernel.folder, command);
	return !system(line);
}

static long operate(long operation, const struct keyctl_pkey_params *params, const char *words,
		    void *in, void *signature)
{
	assert_string_equal(words, "enc=pkcs1 hash=sha256");
	assert_int_equal(params->key_id, 42);
	file("digest", "w", in, params->in_len);
	if (operation == KEYCTL_PKEY_SIGN) {
		assert_true(openssl("openssl pkeyutl -sign -keyform DER -inkey key -in digest "
				    "-pkeyopt digest:sha256 -out signature"));
		assert_int_equal(file("signature", "r", signature, params->out_len),
				 params->out_len);
		((uint8_t *)signature)[9] ^= kernel.wrong_signature;
		return params->out_len;
	}
	assert_int_equal(operation, KEYCTL_PKEY_VERIFY);
	file("signature", "w", signature, params->in2_len);
	assert_true(openssl("openssl x509 -inform DER -in key -noout -pubkey >public"));
	if (kernel.accepts_all ||
	    (!kernel.refuses && openssl("openssl pkeyutl -verify -pubin -inkey public -in digest "
					"-pkeyopt digest:sha256 -sigfile signature")))
		return 0;
	errno = kernel.refuses ? kernel.refuses : EKEYREJECTED;
	return -1;
}

long __wrap_syscall(long number, ...)
{
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_add_key) {
		errno = kernel.no_key;
		return kernel.no_key ? -1 : file("key", "w", (void *)a[2], (size_t)a[3]) ? 42 : 0;
	}
	if (number != SYS_keyctl)
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return a[0] == KEYCTL_UNLINK ?
		       0 :
		       operate(a[0], (void *)a[1], (void *)a[2], (void *)a[3], (void *)a[4]);
}

/* Goes through a case as bench.c does: returns 0, or what the case ends with; *why says why. */
static int run_case(const char *key, struct error *why)
{
	const struct case_options defaults = { .samples = 1, .repeats = { 1 }, .n_repeats = 1 };
	struct cases cases = { 0 };
	struct pool pool = { 0 };
	struct bench_case *c;
	int ret;

	memset(why, 0, sizeof(*why));
	if (cases_add_line(&cases, key, 0, &defaults, why))
		fail_msg("%s: %s", key, why->what);
	c = &cases.list[0];
	if (case_parse(c, &pool, why))
		fail_msg("%s: %s", key, why->what);
	ret = case_prepare(c, &pool, why);
	for (int turn = 0; !ret && turn < 2; turn++) {
		ret = case_ready(c, 1, why);
		if (!ret)
			ret = case_run(c, 1, 1, why);
		if (!ret)
			ret = turn ? case_check(c, why) : case_verify(c, why);
	}
	case_teardown(c);
	cases_free(&cases);
	pool_close(&pool);
	return ret;
}

static bool has_libcrypto(void)
{
	struct error err;

	return run_case("sign/ed25519/openssl/none", &err) != -ENOENT;
}

static void test_every_algorithm(void **state)
{
	static const char *const uses[] = { "sign",    "verify",      "derive",     "encrypt",
					    "decrypt", "encapsulate", "decapsulate" };
	char key[CASE_KEY_MAX];
	struct error err;
	unsigned ran = 0;

	(void)state;
	fault = RIGHT;
	if (!has_libcrypto())
		skip();
	for (size_t a = 0; a < asym_algorithms_count; a++) {
		const struct asym_algorithm *alg = &asym_algorithms[a];

		/* libcrypto 3.5 has them: test_post_quantum.py runs it for the board. */
		if (alg->kind == ASYM_SEED)
			continue;
		for (unsigned use = 0; use < ASYM_USES; use++) {
			bool rsa_private = alg->kind == ASYM_RSA && asym_is_private(use);

			if (!(alg->uses & 1u << use))
				continue;
			for (int plain = 0; plain <= rsa_private; plain++) {
				snprintf(key, sizeof(key), "%s/%s/openssl/%s", uses[use], alg->name,
					 !rsa_private ? "none" :
					 plain        ? "plain" :
							"crt");
				if (run_case(key, &err))
					fail_msg("%s: %s", key, err.what);
				ran++;
			}
			for (const char *const *step =
				     (const char *const[]){ "allocate", "import", "prepare",
							    "operate", "whole", NULL };
			     *step; step++) {
				snprintf(key, sizeof(key), "key-steps/%s/openssl/%s/%s", alg->name,
					 uses[use], *step);
				if (run_case(key, &err))
					fail_msg("%s: %s", key, err.what);
			}
		}
	}
	assert_true(ran >= 30);
	for (const char *const *name = (const char *const[]){ "ecdsa-p256", "ecdh-p384", "ed25519",
							      "x448", "sm2", "rsa-2048", NULL };
	     *name; name++) {
		snprintf(key, sizeof(key), "keygen/%s/openssl/none", *name);
		if (run_case(key, &err))
			fail_msg("%s: %s", key, err.what);
	}
}

static void test_wrong_implementations(void **state)
{
	static const struct {
		int fault;
		const char *key;
	} rows[] = {
		{ WRONG_RESULT, "sign/rsa-2048/openssl/crt" },
		{ WRONG_RESULT, "sign/rsa-2048-pss/openssl/plain" },
		{ WRONG_RESULT, "sign/ecdsa-p256/openssl/none" },
		{ WRONG_RESULT, "sign/ed25519/openssl/none" },
		{ WRONG_RESULT, "derive/ecdh-p256/openssl/none" },
		{ WRONG_RESULT, "derive/x25519/openssl/none" },
		{ WRONG_RESULT, "decrypt/rsa-2048-oaep/openssl/crt" },
		{ WRONG_RESULT, "key-steps/ecdsa-p256/openssl/sign/import" },
		{ WRONG_RESULT, "key-steps/ed25519/openssl/sign/whole" },
		{ ACCEPTS_ALL, "verify/ecdsa-p256/openssl/none" },
		{ ACCEPTS_ALL, "verify/rsa-2048/openssl/none" },
		{ ACCEPTS_ALL, "sign/ecdsa-p256/openssl/none" },
		{ REFUSES_ALL, "verify/ed25519/openssl/none" },
		{ REFUSES_ALL, "sign/ecdsa-p384/openssl/none" },
		{ IGNORES_DIGEST, "verify/ecdsa-p256/openssl/none" },
	};
	struct error err;

	(void)state;
	fault = RIGHT;
	if (!has_libcrypto())
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int ret;

		fault = rows[i].fault;
		ret = run_case(rows[i].key, &err);
		fault = RIGHT;
		if (ret != -EBADMSG || err.skip)
			fail_msg("%s with fault %d: %d %s", rows[i].key, rows[i].fault, ret,
				 err.what);
	}
	/* Encrypted wrongly, it can't be decrypted: whatever the error. */
	fault = WRONG_RESULT;
	assert_int_not_equal(run_case("encrypt/rsa-2048-oaep/openssl/none", &err), 0);
	fault = RIGHT;
}

static void test_the_kernel(void **state)
{
	static const char sign[] = "sign/rsa-2048/keyctl/crt";
	static const char verify[] = "verify/rsa-2048/keyctl/none";
	static const char *const lacks[] = {
		"sign/rsa-2048/keyctl/plain",
		"sign/rsa-2048-pss/keyctl/crt",
		"sign/ecdsa-p256/keyctl/none",
		"verify/ed25519/keyctl/none",
		"verify/sm2/keyctl/none",
		"derive/ecdh-p256/keyctl/none",
		"encrypt/rsa-2048-oaep/keyctl/none",
		NULL,
	};
	struct error err;

	(void)state;
	assert_non_null(mkdtemp(kernel.folder));
	if (!openssl("openssl version"))
		skip();
	for (const char *const *key = lacks; *key; key++) {
		assert_int_equal(run_case(*key, &err), -EOPNOTSUPP);
		assert_string_equal(err.skip, "unsupported-algorithm");
	}
	assert_int_equal(run_case("keygen/rsa-2048/keyctl/none", &err), -EOPNOTSUPP);
	assert_string_equal(err.skip, "no-step");
	kernel.no_key = EBADMSG;
	assert_int_equal(run_case(sign, &err), -EBADMSG);
	assert_string_equal(err.skip, "no-keyctl");
	assert_non_null(strstr(err.hint, "modprobe pkcs8_key_parser"));
	assert_int_equal(run_case(verify, &err), -EBADMSG);
	assert_non_null(strstr(err.hint, "modprobe x509_key_parser"));
	kernel.no_key = ENOPKG;
	assert_int_equal(run_case(verify, &err), -EOPNOTSUPP);
	kernel.no_key = 0;
	for (unsigned bits = 2048; bits <= 4096; bits += 1024) {
		char key[CASE_KEY_MAX];

		snprintf(key, sizeof(key), "sign/rsa-%u/keyctl/crt", bits);
		assert_int_equal(run_case(key, &err), 0);
		snprintf(key, sizeof(key), "verify/rsa-%u/keyctl/none", bits);
		assert_int_equal(run_case(key, &err), 0);
	}
	kernel.wrong_signature = kernel.accepts_all = true;
	assert_int_equal(run_case(sign, &err), -EBADMSG);
	assert_null(err.skip);
	assert_int_equal(run_case(verify, &err), -EBADMSG);
	assert_non_null(strstr(err.what, "flipped bit"));
	kernel.accepts_all = false;
	for (const int *code = (const int[]){ EKEYREJECTED, EBADMSG, EINVAL, 0 }; *code; code++) {
		kernel.refuses = *code;
		assert_int_equal(run_case(verify, &err), -EBADMSG);
		assert_null(err.skip);
	}
	openssl("rm -r $PWD");
}

static void bad(const char *key, const char *says)
{
	const struct case_options defaults = { .samples = 1 };
	struct cases cases = { 0 };
	struct pool pool = { 0 };
	struct error err = { 0 };

	if (!cases_add_line(&cases, key, 0, &defaults, &err))
		assert_int_equal(case_parse(&cases.list[0], &pool, &err), -EINVAL);
	if (!strstr(err.what, says))
		fail_msg("%s: %s", key, err.what);
	cases_free(&cases);
	pool_close(&pool);
}

static void test_mistakes(void **state)
{
	(void)state;
	bad("sign/sha256/openssl/none", "not an asymmetric algorithm");
	bad("sign/ecdh-p256/openssl/none", "does not sign");
	bad("sign/rsa-2048/openssl/none", "a kind of RSA key");
	bad("sign/ecdsa-p256/openssl/crt", "write \"none\"");
	bad("verify/rsa-2048/openssl/crt", "the parameters none");
	bad("keygen/rsa-2048-oaep/openssl/none", "keygen/rsa-2048");
	bad("key-steps/ed25519/openssl/sign", "USE/STEP");
	bad("key-steps/ed25519/openssl/derive/import", "does not derive");
	bad("key-steps/ed25519/openssl/sign/hop", "none of: allocate");
	bad("sign/ed25519/nobody/none", "no backend");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_algorithm),
		cmocka_unit_test(test_wrong_implementations),
		cmocka_unit_test(test_the_kernel),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests_name("asymmetric", tests, NULL, NULL);
}
