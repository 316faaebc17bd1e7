/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample of three calls with two operations each does six operations: as many as a rate is
 * divided by, whoever computes. What computes is replaced by something that writes down the bytes.
 */
#include "harness.h"

#include <dlfcn.h>
#include <linux/if_alg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <teemark/digest.h>
#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>

#include "afalg.h"
#include "cases.h"
#include "ta_session.h"
#include "tee_client.h"

static char work[1 << 14];

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	size_t len = strlen(work);
	va_list words;

	va_start(words, format);
	vsnprintf(work + len, sizeof(work) - len, format, words);
	va_end(words);
}

/* ---- Portable C. */

const struct digest_class *__wrap_digest_class_find(enum digest_code code, uint16_t id);

static void class_init(union digest_ctx *ctx)
{
	(void)ctx;
	note("begin ");
}

static void class_update(union digest_ctx *ctx, const void *data, size_t len)
{
	(void)ctx;
	(void)data;
	note("%zu ", len);
}

static void class_final(union digest_ctx *ctx, uint8_t *out)
{
	(void)ctx;
	(void)out;
	note("end ");
}

const struct digest_class *__wrap_digest_class_find(enum digest_code code, uint16_t id)
{
	static const struct digest_class noting = { 0, class_init, class_update, class_final };

	(void)code;
	(void)id;
	return &noting;
}

/* ---- libcrypto, which is loaded by name, and the kernel. */

void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);
ssize_t __wrap_getrandom(void *data, size_t len, unsigned flags);
int __wrap_afalg_probe(struct error *err);
int __wrap_afalg_bind(struct afalg *s, const char *type, const char *name, const char *title,
		      struct error *err);
int __wrap_afalg_set_key(struct afalg *s, const void *key, size_t len, struct error *err);
int __wrap_afalg_accept(struct afalg *s, struct error *err);
void __wrap_afalg_close(struct afalg *s);
int __wrap_afalg_send(const struct afalg *s, const uint8_t *data, size_t len, bool more,
		      struct error *err);
int __wrap_afalg_receive(const struct afalg *s, uint8_t *data, size_t len, struct error *err);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);

/* A digest is right all the same: it serves to check other results. */
static int (*real_digest_update)(void *ctx, const void *data, size_t len);

static int evp_digest_update(void *ctx, const void *data, size_t len)
{
	note("evp %zu ", len);
	return real_digest_update(ctx, data, len);
}

static int evp_cipher_update(void *ctx, uint8_t *out, int *out_len, const uint8_t *in, int len)
{
	(void)ctx;
	(void)out;
	(void)in;
	note("evp %d ", len);
	*out_len = len;
	return 1;
}

static int evp_hmac_update(void *ctx, const uint8_t *data, size_t len)
{
	(void)ctx;
	(void)data;
	note("evp %zu ", len);
	return 1;
}

static int evp_random(uint8_t *data, int len)
{
	memset(data, len, (size_t)len);
	note("evp %d ", len);
	return 1;
}

void *__wrap_dlsym(void *handle, const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} noting[] = {
		{ "EVP_DigestUpdate", (void *)evp_digest_update },
		{ "EVP_CipherUpdate", (void *)evp_cipher_update },
		{ "HMAC_Update", (void *)evp_hmac_update },
		{ "RAND_bytes", (void *)evp_random },
	};

	void *real = __real_dlsym(handle, name);

	if (!strcmp(name, "EVP_DigestUpdate"))
		memcpy(&real_digest_update, &real, sizeof(real));
	for (size_t i = 0; i < sizeof(noting) / sizeof(*noting); i++)
		if (!strcmp(name, noting[i].name))
			return noting[i].function;
	return real;
}

ssize_t __wrap_getrandom(void *data, size_t len, unsigned flags)
{
	(void)data;
	(void)flags;
	note("kernel %zu ", len);
	return (ssize_t)len;
}

int __wrap_afalg_probe(struct error *err)
{
	(void)err;
	return 0;
}

int __wrap_afalg_bind(struct afalg *s, const char *type, const char *name, const char *title,
		      struct error *err)
{
	(void)type;
	(void)name;
	(void)err;
	*s = (struct afalg){ .bound = -1, .op = -1, .piece = 4096, .title = title };
	return 0;
}

int __wrap_afalg_set_key(struct afalg *s, const void *key, size_t len, struct error *err)
{
	(void)s;
	(void)key;
	(void)len;
	(void)err;
	return 0;
}

int __wrap_afalg_accept(struct afalg *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

void __wrap_afalg_close(struct afalg *s)
{
	(void)s;
}

int __wrap_afalg_send(const struct afalg *s, const uint8_t *data, size_t len, bool more,
		      struct error *err)
{
	(void)s;
	(void)data;
	(void)err;
	note("send %zu%s ", len, more ? "…" : "");
	return 0;
}

int __wrap_afalg_receive(const struct afalg *s, uint8_t *data, size_t len, struct error *err)
{
	(void)s;
	(void)data;
	(void)err;
	note("receive %zu ", len);
	return 0;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	uint32_t way;

	(void)fd;
	/* The first control message says which way. */
	memcpy(&way, CMSG_DATA(CMSG_FIRSTHDR(msg)), sizeof(way));
	assert_int_equal(CMSG_FIRSTHDR(msg)->cmsg_type, ALG_SET_OP);
	note("%s ", way == ALG_OP_ENCRYPT ? "encrypt" : "decrypt");
	note("send %zu%s ", msg->msg_iov->iov_len, flags ? "…" : "");
	return (ssize_t)msg->msg_iov->iov_len;
}

/* ---- The TAs. */

int __wrap_tee_probe(struct error *err);
int __wrap_ta_session_open(const struct ta_name *ta, struct tee_session **tee, uint32_t *more,
			   struct error *err);
void __wrap_tee_session_close(struct tee_session *session);
int __wrap_tee_shm_alloc(struct tee_session *session, size_t size, uint32_t flags,
			 TEEC_SharedMemory **shm, struct error *err);
void __wrap_tee_shm_free(struct tee_session *session, TEEC_SharedMemory *shm);
int __wrap_tee_invoke(struct tee_session *session, uint32_t command, TEEC_Operation *op,
		      const char *doing, struct error *err);
int __wrap_tee_invoke_times(struct tee_session *session, uint32_t command, TEEC_Operation *op,
			    uint32_t times, const char *doing, struct error *err);

static struct tee_session ta;

int __wrap_tee_probe(struct error *err)
{
	(void)err;
	return 0;
}

int __wrap_ta_session_open(const struct ta_name *name, struct tee_session **tee, uint32_t *more,
			   struct error *err)
{
	(void)name;
	(void)err;
	*tee = &ta;
	*more = 7;
	return 0;
}

void __wrap_tee_session_close(struct tee_session *session)
{
	(void)session;
}

int __wrap_tee_shm_alloc(struct tee_session *session, size_t size, uint32_t flags,
			 TEEC_SharedMemory **shm, struct error *err)
{
	(void)session;
	(void)flags;
	(void)err;
	*shm = calloc(1, sizeof(**shm));
	assert_non_null(*shm);
	(*shm)->buffer = calloc(1, size);
	(*shm)->size = size;
	return 0;
}

void __wrap_tee_shm_free(struct tee_session *session, TEEC_SharedMemory *shm)
{
	(void)session;
	if (shm)
		free(shm->buffer);
	free(shm);
}

/* Notes the command and what the TA is to read: "15: 64 x2" is a message of 64 bytes, twice. */
int __wrap_tee_invoke(struct tee_session *session, uint32_t command, TEEC_Operation *op,
		      const char *doing, struct error *err)
{
	assert_ptr_equal(session, &ta);
	(void)doing;
	(void)err;
	note("%u: ", command);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t type = TEEC_PARAM_TYPE_GET(op->paramTypes, i);

		if (type == TEEC_MEMREF_PARTIAL_INPUT)
			note("%zu ", op->params[i].memref.size);
		else if (type == TEEC_VALUE_INPUT && i)
			note("x%u ", op->params[i].value.a);
	}
	if (command == TA_DIGEST_CMD_ONESHOT)
		op->params[2].memref.size = 32;
	else if (command == TA_DIGEST_CMD_FINAL)
		op->params[1].memref.size = 32;
	else if (command == TA_DIGEST_CMD_STACK)
		op->params[0].value = (TEEC_Value){ 100 * command, 2000 * command };
	return 0;
}

int __wrap_tee_invoke_times(struct tee_session *session, uint32_t command, TEEC_Operation *op,
			    uint32_t times, const char *doing, struct error *err)
{
	for (uint32_t i = 0; i < times; i++)
		__wrap_tee_invoke(session, command, op, doing, err);
	return 0;
}

/* ---- The tests. */

static struct cases cases;
static struct pool pool;

/* Prepares the case, and lets it make one call, as the measuring core does. */
static struct bench_case *prepared(const char *key, uint32_t repeat)
{
	const struct case_options options = { .samples = 1, .repeats = { repeat }, .n_repeats = 1 };
	struct error err = { 0 };
	struct bench_case *c;
	int ret;

	cases = (struct cases){ 0 };
	pool = (struct pool){ 0 };
	ret = cases_add_line(&cases, key, 0, &options, &err);
	c = cases.list;
	if (!ret)
		ret = case_parse(c, &pool, &err);
	if (!ret)
		ret = case_prepare(c, &pool, &err);
	if (!ret)
		ret = case_ready(c, 1, &err);
	if (!ret)
		ret = case_run(c, 1, repeat, &err);
	if (ret)
		fail_msg("%s: %s", key, err.what);
	work[0] = '\0';
	return c;
}

static void forget(void)
{
	case_teardown(cases.list);
	pool_close(&pool);
	cases_free(&cases);
}

static void check_work(const char *key, uint32_t loops, uint32_t repeat, const char *once,
		       unsigned times)
{
	struct bench_case *c = prepared(key, repeat);
	struct error err = { 0 };
	const char *at = work;
	unsigned n = 0;

	assert_int_equal(case_ready(c, loops, &err), 0);
	work[0] = '\0';
	assert_int_equal(case_target(c).run(c, loops, repeat, &err), 0);
	for (; *at && !strncmp(at, once, strlen(once)); at += strlen(once))
		n++;
	if (*at || n != times)
		fail_msg("%s: %u times \"%s\", not %u, and then \"%s\"", key, n, once, times, at);
	forget();
}

static void test_operations_that_repeat(void **state)
{
	static const struct {
		const char *key, *once;
		unsigned times; /* in three calls of two operations; in a TA, two are one call */
	} rows[] = {
		{ "oneshot/sha256/c/100", "begin 100 end ", 6 },
		{ "oneshot/sha256/openssl/100", "evp 100 ", 6 },
		{ "oneshot/hmac-sha256/openssl/100", "evp 100 ", 6 },
		{ "cipher/aes-128-cbc/openssl/enc/64", "evp 64 ", 6 },
		{ "rng/random/openssl/64", "evp 64 ", 6 },
		{ "rng/random/getrandom/64", "kernel 64 ", 6 },
		{ "oneshot/sha256/afalg/100", "send 100 receive 32 ", 6 },
		{ "oneshot/hmac-sha256/afalg/100", "send 100 receive 32 ", 6 },
		{ "cipher/aes-128-cbc/afalg/enc/64", "encrypt send 64 receive 64 ", 6 },
		{ "cipher/aes-128-cbc/afalg/enc/5008",
		  "encrypt send 4096… receive 4096 send 912 receive 912 ", 6 },
		{ "rng/random/afalg/300", "receive 128 receive 128 receive 44 ", 6 },
		{ "oneshot/sha256/tee/100", "2: 100 x2 ", 3 },
		{ "oneshot/sha256/ta-c/100", "2: 100 x2 ", 3 },
		{ "oneshot/hmac-sha256/tee/100", "21: 100 x2 ", 3 },
		{ "cipher/aes-128-cbc/tee/enc/64", "15: 16 64 x2 ", 3 },
		{ "rng/random/tee/64", "40: x2 ", 3 },
		{ "digest-parts/sha256/tee/reset", "70: x2 ", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_work(rows[i].key, 3, 2, rows[i].once, rows[i].times);
}

static void test_calls_of_one_operation(void **state)
{
	(void)state;
	check_work("stream/sha256/c/100/30", 3, 1, "begin 30 30 30 10 end ", 3);
	check_work("stream/sha256/c/90/30", 3, 1, "begin 30 30 30 end ", 3);
	check_work("stream/sha256/openssl/100/60", 3, 1, "evp 60 evp 40 ", 3);
	check_work("stream/sha256/afalg/100/60", 3, 1, "send 60… send 40 receive 32 ", 3);
	check_work("stream/sha256/tee/100/60", 3, 1, "3: 4: 60 5: 40 ", 3);
	check_work("invoke/none/tee/none", 3, 1, "0: ", 3);
	check_work("invoke/increment/tee/none", 3, 1, "2: ", 3);
	check_work("time/ree/tee/5", 3, 1, "60: ", 3);
	check_work("cipher-steps/aes-128-cbc/tee/enc/64/set-iv/all", 3, 1, "12: 16 ", 3);
	check_work("cipher-steps/aes-128-cbc/openssl/enc/64/cipher-buffer/all", 3, 1, "evp 64 ", 3);
}

/* The work before a sample doesn't count as the sample's. */
static void test_code_that_runs_in_both_worlds(void **state)
{
	(void)state;
	check_work("same-code/intloop/ta-c/64", 3, 2, "50: 64 ", 3);
}

/* The most operations in a call count, not the first number of the list. */
static void test_a_call_into_a_ta_has_a_bound(void **state)
{
	static const struct {
		const char *key;
		uint32_t most;
		int code;
	} rows[] = {
		{ "oneshot/sha256/tee/1048576", 4, 0 },
		{ "oneshot/sha256/tee/1048576", 5, -EINVAL },
		{ "oneshot/sha256/c/1048576", 5, 0 },
		{ "rng/random/tee/32768", 2, 0 },
		{ "rng/random/tee/32768", 3, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct case_options options = { 1, 0, 0, { 1, rows[i].most }, 2 };
		struct error err = { 0 };

		cases = (struct cases){ 0 };
		pool = (struct pool){ 0 };
		assert_int_equal(cases_add_line(&cases, rows[i].key, 0, &options, &err), 0);
		assert_int_equal(case_parse(cases.list, &pool, &err), rows[i].code);
		cases_free(&cases);
		pool_close(&pool);
	}
}

/* A TA reports the memory that it used at most, and the memory that it has. */
static void test_the_memory_of_a_ta(void **state)
{
	const struct backend *tee = backend_by_name("tee");
	struct peak stack;
	struct session *session;

	(void)state;
	assert_int_equal(backend_open(tee, USE_DIGESTS, &session, NULL), 0);
	tee->stack(session, &stack);
	assert_int_equal(stack.bytes, 100 * TA_DIGEST_CMD_STACK);
	assert_int_equal(stack.of, 2000 * TA_DIGEST_CMD_STACK);
	backend_close(tee, session);
}

/* The bits of OpenSSL's manual: AES-NI and PCLMULQDQ in its first word, SHA in the second. */
static void test_the_mask_of_openssl_hides_the_cpus_instructions(void **state)
{
	const uint64_t first = UINT64_C(1) << 57 | UINT64_C(1) << 33, second = UINT64_C(1) << 29;
	const char *value, *variable = backend_by_name("openssl")->mask(&value);
	char want[64];

	(void)state;
	if (!strcmp(variable, "OPENSSL_armcap")) {
		assert_true(!strcmp(value, "1") || !strcmp(value, "0")); /* NEON at most */
		return;
	}
	snprintf(want, sizeof(want), "~0x%llx:~0x%llx", (unsigned long long)first,
		 (unsigned long long)second);
	assert_string_equal(variable, "OPENSSL_ia32cap");
	assert_string_equal(value, want);
}

/* Each byte of a result is compared. */
static void test_a_result_is_compared_to_its_end(void **state)
{
	const uint8_t want[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	assert_int_equal(case_compare("it", want, want, sizeof(want), NULL), 0);
	for (size_t i = 0; i < sizeof(want); i++) {
		uint8_t result[8];

		memcpy(result, want, sizeof(want));
		result[i] ^= 1;
		assert_int_equal(case_compare("it", result, want, sizeof(want), NULL), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations_that_repeat),
		cmocka_unit_test(test_calls_of_one_operation),
		cmocka_unit_test(test_code_that_runs_in_both_worlds),
		cmocka_unit_test(test_a_call_into_a_ta_has_a_bound),
		cmocka_unit_test(test_the_memory_of_a_ta),
		cmocka_unit_test(test_the_mask_of_openssl_hides_the_cpus_instructions),
		cmocka_unit_test(test_a_result_is_compared_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
