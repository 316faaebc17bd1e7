/* SPDX-License-Identifier: BSD-2-Clause */
/* Ciphers and HMACs of the backends that this machine has. */
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "known_answer.h"
#include "pool.h"

enum { BYTES = 200000 };

static const uint8_t key[ALG_KEY_MAX_BYTES] = "two halves that differ, as XTS "
					      "wants its keys, and no more";
static const uint8_t iv[ALG_IV_MAX_BYTES] = "sixteen bytes!!";

static bool has_key(const struct algorithm *alg)
{
	return alg->class != ALG_DIGEST;
}

static void each(void (*check)(struct workplace *workplace, const struct algorithm *alg))
{
	struct pool pool = { 0 };
	unsigned checked = 0;

	for (size_t b = 0; backends[b]; b++) {
		struct error err = { 0 };
		struct workplace *workplace;

		if (!backends[b]->message)
			continue;
		if (pool_workplace(&pool, backends[b], WORKPLACE_KEYED, BYTES, &workplace, &err)) {
			assert_non_null(err.skip);
			assert_null(workplace);
			continue;
		}
		for (size_t a = 0; a < algorithms_count; a++) {
			if (!has_key(&algorithms[a]))
				continue;
			check(workplace, &algorithms[a]);
			checked++;
		}
	}
	pool_close(&pool);
	/* `openssl` at least */
	assert_true(checked > 0);
}

static void known(struct workplace *workplace, const struct algorithm *alg)
{
	struct error err = { 0 };

	for (int decrypt = 0; decrypt <= (alg->class != ALG_MAC); decrypt++)
		if (known_answer_check(workplace, alg, decrypt, &err))
			fail_msg("%s", err.what);
}

static void test_published_vectors(void **state)
{
	(void)state;
	each(known);
}

/* Takes any tag: decrypts by `openssl`, and lets pass what differs from the last good message in the tag. */
static int take_any_tag(struct session *session, const struct keyed_job *job, uint32_t repeat,
			struct error *err)
{
	static uint8_t good[VECTOR_MAX];
	int ret = backend_by_name("openssl")->message(session, job, repeat, err);
	size_t tag_at = job->len - job->alg->out_bytes;

	if (ret != -EBADMSG) {
		memcpy(good, job->in->data, job->len);
		return ret;
	}
	return memcmp(good, job->in->data, tag_at) ? ret : 0;
}

static void test_a_backend_that_takes_any_tag_is_found_out(void **state)
{
	struct backend liar = *backend_by_name("openssl");
	struct pool pool = { 0 };
	struct error err = { 0 };
	struct workplace *workplace;

	(void)state;
	liar.message = take_any_tag;
	assert_int_equal(pool_workplace(&pool, &liar, WORKPLACE_KEYED, BYTES, &workplace, &err), 0);
	assert_int_equal(known_answer_check(workplace, algorithm_by_name("aes-128-gcm"), false,
					    &err),
			 0);
	assert_int_equal(known_answer_check(workplace, algorithm_by_name("aes-128-gcm"), true,
					    &err),
			 -EBADMSG);
	assert_non_null(strstr(err.what, "takes an altered message"));
	pool_close(&pool);
}

/* Shared memory that is a fixed pool: what is left of it, in bytes. */
static size_t left;

static int from_pool(struct session *session, size_t size, struct buffer *buffer, struct error *err)
{
	(void)session;
	if (size > left)
		return error_set(err, -ENOMEM, "the pool has %zu bytes left", left);
	left -= size;
	*buffer = (struct buffer){ .data = malloc(size), .size = size, .priv = &left };
	return 0;
}

static void to_pool(struct session *session, struct buffer *buffer)
{
	(void)session;
	left += buffer->size;
	free(buffer->data);
}

static void test_a_buffer_grows_to_the_whole_pool_and_no_further(void **state)
{
	struct backend pooled = *backend_by_name("openssl");
	struct pool pool = { 0 };
	struct error err = { 0 };
	struct workplace *w;

	(void)state;
	left = 4096;
	pooled.buffer_alloc = from_pool;
	pooled.buffer_free = to_pool;
	assert_int_equal(pool_reserve(&pool, &pooled, WORKPLACE_DIGEST, 8192, &err), 0);
	assert_int_equal(pool_workplace(&pool, &pooled, WORKPLACE_DIGEST, 3000, &w, &err), 0);
	assert_int_equal(pool_workplace(&pool, &pooled, WORKPLACE_DIGEST, 4096, &w, &err), 0);
	assert_int_equal(left, 0);
	assert_int_equal(pool_workplace(&pool, &pooled, WORKPLACE_DIGEST, 8192, &w, &err), -ENOMEM);
	assert_int_equal(pool_workplace(&pool, &pooled, WORKPLACE_DIGEST, 4096, &w, &err), 0);
	pool_close(&pool);
	assert_int_equal(left, 4096);
}

/* The result of a job, whose message is `in`, on a workplace. */
static void compute(struct workplace *workplace, struct keyed_job *job, const uint8_t *in,
		    uint32_t repeat)
{
	struct error err = { 0 };

	job->in = &workplace->in;
	job->out = &workplace->out;
	assert_int_equal(workplace->backend->set_up(workplace->session, job, &err), 0);
	memcpy(workplace->in.data, in, job->len);
	assert_int_equal(workplace->backend->message(workplace->session, job, repeat, &err), 0);
}

/* Computes by backend `openssl`, into the caller's memory. */
static void by_openssl(const struct keyed_job *job, const uint8_t *in, uint8_t *out)
{
	struct keyed_job copy = *job;
	struct pool pool = { 0 };
	struct error err = { 0 };
	struct workplace *workplace;

	assert_int_equal(pool_workplace(&pool, backend_by_name("openssl"), WORKPLACE_KEYED,
					job->len, &workplace, &err),
			 0);
	compute(workplace, &copy, in, 3);
	memcpy(out, workplace->out.data, keyed_result_len(job));
	pool_close(&pool);
}

static void lengths(struct workplace *workplace, const struct algorithm *alg)
{
	static const size_t all[] = { 16, 32, 4096, 65536, 65552, BYTES };
	static uint8_t message[BYTES + ALG_TAG_MAX_BYTES];
	static uint8_t want[BYTES + ALG_TAG_MAX_BYTES];
	const struct backend *backend = workplace->backend;
	struct keyed_job job = { .alg = alg, .key = key, .iv = iv };

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 31 >> 3);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		job.decrypt = false;
		job.len = all[i];
		if (backend->len_max && job.len > backend->len_max(workplace->session, &job))
			continue;
		by_openssl(&job, message, want);
		compute(workplace, &job, message, 2);
		assert_memory_equal(workplace->out.data, want, keyed_result_len(&job));
		if (alg->class == ALG_MAC)
			continue;
		job.len = keyed_result_len(&job);
		job.decrypt = true;
		compute(workplace, &job, want, 2);
		assert_memory_equal(workplace->out.data, message, all[i]);
	}
}

static void test_lengths_against_libcrypto(void **state)
{
	(void)state;
	each(lengths);
}

/* Step by step the same comes out, and a second buffer goes on. */
static void steps(struct workplace *workplace, const struct algorithm *alg)
{
	static const enum keyed_step order[] = {
		KEYED_PREPARE,       KEYED_SET_KEY,       KEYED_SET_IV,
		KEYED_CIPHER_BUFFER, KEYED_CIPHER_BUFFER,
	};
	uint8_t message[512], want[512];
	const struct backend *backend = workplace->backend;
	struct keyed_job job = {
		.alg = alg,
		.key = key,
		.iv = iv,
		.in = &workplace->in,
		.out = &workplace->out,
	};
	struct error err = { 0 };

	/* AF_ALG has no step that sets the IV: nothing goes on there. */
	if (alg->class != ALG_CIPHER || !strcmp(alg->kernel, "xts(aes)") || !backend->step ||
	    !strcmp(backend->name, "afalg"))
		return;
	memset(message, 0x3c, sizeof(message));
	job.len = sizeof(message);
	by_openssl(&job, message, want);
	job.len = sizeof(message) / 2;
	memcpy(workplace->in.data, message, job.len);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (backend->no_step[order[i]])
			continue;
		if (backend->arrange)
			backend->arrange(workplace->session, &job, order[i]);
		assert_int_equal(backend->step(workplace->session, &job, order[i], &err), 0);
		if (i >= 3)
			assert_memory_equal(workplace->out.data, want + (i - 3) * job.len, job.len);
	}
}

static void test_steps(void **state)
{
	(void)state;
	each(steps);
}

/* A digest is no cipher, and portable C has no keys at all. */
static void test_digests_have_no_key(void **state)
{
	const struct backend *openssl = backend_by_name("openssl");
	struct keyed_job job = { .alg = algorithm_by_name("sm3"), .key = key };
	struct error err = { 0 };
	struct session *session;

	(void)state;
	assert_int_equal(backend_open(backend_by_name("c"), USE_KEYS, &session, &err), -EOPNOTSUPP);
	assert_string_equal(err.skip, "unsupported-algorithm");
	assert_null(session);
	assert_int_equal(backend_open(openssl, USE_KEYS, &session, &err), 0);
	assert_int_equal(openssl->set_up(session, &job, &err), -EOPNOTSUPP);
	assert_string_equal(err.skip, "unsupported-algorithm");
	backend_close(openssl, session);
	backend_close(openssl, NULL);
	assert_null(backend_by_name("gpu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_vectors),
		cmocka_unit_test(test_a_backend_that_takes_any_tag_is_found_out),
		cmocka_unit_test(test_a_buffer_grows_to_the_whole_pool_and_no_further),
		cmocka_unit_test(test_lengths_against_libcrypto),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_digests_have_no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
