/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "keyed_case.h"
#include "known_cipher.h"
#include "prng.h"

/* Who may be asked for another opinion, first who is the least like others. */
static const char *const referees[] = { "openssl", "c", "afalg", NULL };

static int open_share(const void *kind, size_t size, void **value,
		      struct error *err)
{
	struct keyed_share *share = calloc(1, sizeof(*share));
	int ret;

	*value = NULL;
	if (!share)
		return error_set(err, -ENOMEM, "out of memory");
	share->backend = kind;
	ret = share->backend->open(&share->k, size, err);
	if (ret)
		free(share);
	else
		*value = share;
	return ret;
}

static void close_share(void *value)
{
	struct keyed_share *share = value;

	share->backend->close(share->k);
	free(share);
}

static int take_share(struct pool *pool, const struct keyed_backend *backend,
		      struct keyed_share **share, struct error *err)
{
	void *value;
	int ret =
		pool_share(pool, backend, open_share, close_share, &value, err);

	*share = value;
	return ret;
}

int keyed_case_reserve(struct pool *pool, const char *backend_name,
		       uint64_t bytes, struct error *err)
{
	const struct keyed_backend *backend =
		keyed_backend_by_name(backend_name);
	size_t size = bytes > KNOWN_CIPHER_BYTES ? bytes : KNOWN_CIPHER_BYTES;
	int ret = 0;

	if (backend)
		ret = pool_share_reserve(pool, backend, size, err);
	for (size_t i = 0; !ret && referees[i]; i++)
		ret = pool_share_reserve(pool,
					 keyed_backend_by_name(referees[i]),
					 size, err);
	return ret;
}

static int too_long(const struct keyed_case *k, struct error *err)
{
	const struct keyed_backend *backend = k->share->backend;
	size_t max = backend->len_max ? backend->len_max(k->share->k, &k->job) :
					SIZE_MAX;

	if (k->job.len <= max)
		return 0;
	return error_skip(err, -EMSGSIZE, "too-long",
			  "backend %s %s %s of at most %zu bytes in one message",
			  backend->name, k->job.decrypt ? "decrypts" : "takes",
			  k->job.alg->title, max);
}

/* Computes job by another session; the result stays in its k->out. */
static int compute(struct keyed_share *share, const struct keyed_job *job,
		   const uint8_t *in, struct error *err)
{
	int ret = share->backend->set_up(share->k, job, err);

	share->owner = NULL;
	if (!ret) {
		memcpy(share->k->in, in, job->len);
		ret = share->backend->message(share->k, job, 1, err);
	}
	return ret;
}

struct keyed_share *keyed_case_other(const struct keyed_case *k,
				     const struct keyed_job *job)
{
	for (size_t i = 0; referees[i]; i++) {
		const struct keyed_backend *backend =
			keyed_backend_by_name(referees[i]);
		struct keyed_share *share;

		if (backend == k->share->backend ||
		    take_share(k->pool, backend, &share, NULL))
			continue;
		if (backend->len_max &&
		    job->len > backend->len_max(share->k, job))
			continue;
		share->owner = NULL;
		if (!backend->set_up(share->k, job, NULL))
			return share;
	}
	return NULL;
}

/* The ciphertext that is to be decrypted. */
static int make_ciphertext(struct keyed_case *k, const uint8_t *message,
			   size_t bytes, struct error *err)
{
	struct keyed_job job = k->job;
	struct keyed_share *referee;
	int ret;

	job.decrypt = false;
	job.len = bytes;
	referee = keyed_case_other(k, &job);
	if (!referee) /* then the backend's own, and vectors must do */
		referee = k->share;
	else
		k->computed_by = referee->backend->name;
	ret = compute(referee, &job, message, err);
	if (!ret)
		memcpy(k->in, referee->k->out, k->job.len);
	return ret;
}

static int fill(struct keyed_case *k, size_t bytes, struct error *err)
{
	uint8_t *message = malloc(bytes ? bytes : 1);
	int ret = 0;

	k->in = malloc(k->job.len ? k->job.len : 1);
	if (!message || !k->in) {
		free(message);
		return error_set(err, -ENOMEM, "out of memory");
	}
	pool_message(message, bytes);
	if (!k->job.decrypt) {
		memcpy(k->in, message, bytes);
		free(message);
		return 0;
	}
	ret = make_ciphertext(k, message, bytes, err);
	k->want = message;
	return ret;
}

int keyed_case_open(struct keyed_case **result, struct pool *pool,
		    const char *backend_name, const struct algorithm *alg,
		    bool decrypt, size_t bytes, struct error *err)
{
	const struct keyed_backend *backend =
		keyed_backend_by_name(backend_name);
	struct keyed_share *share;
	struct keyed_case *k;
	struct prng prng;
	int ret;

	*result = NULL;
	if (!backend)
		return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				  "backend %s has no %s", backend_name,
				  alg->title);
	ret = take_share(pool, backend, &share, err);
	if (ret)
		return ret;
	k = calloc(1, sizeof(*k));
	if (!k)
		return error_set(err, -ENOMEM, "out of memory");
	*result = k;
	k->pool = pool;
	k->share = share;
	prng_seed(&prng, 0x6b657973); /* "keys" */
	prng_fill(&prng, k->key, sizeof(k->key));
	prng_fill(&prng, k->iv, sizeof(k->iv));
	k->job = (struct keyed_job){
		.alg = alg,
		.decrypt = decrypt,
		.key = k->key,
		.iv = k->iv,
		.len = bytes +
		       (decrypt && alg->class == ALG_AEAD ? alg->out_bytes : 0),
	};
	k->want_len = keyed_result_len(&k->job);
	ret = too_long(k, err);
	if (!ret) {
		share->owner = NULL;
		ret = backend->set_up(share->k, &k->job, err);
	}
	return ret ? ret : fill(k, bytes, err);
}

void keyed_case_free(struct keyed_case *k)
{
	if (!k)
		return;
	/* Its address may be another case's soon. */
	keyed_case_disown(k);
	free(k->in);
	free(k->want);
	free(k);
}

int keyed_case_claim(struct keyed_case *k, struct error *err)
{
	struct keyed_share *share = k->share;
	int ret;

	if (share->owner == k)
		return 0;
	share->owner = NULL;
	ret = share->backend->set_up(share->k, &k->job, err);
	if (ret)
		return ret;
	memcpy(share->k->in, k->in, k->job.len);
	share->owner = k;
	return 0;
}

void keyed_case_disown(struct keyed_case *k)
{
	if (k->share->owner == k)
		k->share->owner = NULL;
}

int keyed_case_check(struct keyed_case *k, struct error *err)
{
	uint8_t *out = k->share->k->out;
	int differs = memcmp(out, k->want, k->want_len);

	memset(out, 0, k->want_len);
	if (!differs)
		return 0;
	error_set(err, -EBADMSG,
		  "wrong result of %s of %zu bytes by backend %s",
		  k->job.alg->title, k->job.len, k->share->backend->name);
	error_hint(err, "the timing of a wrong result means nothing; the "
			"backend or its installation is broken");
	return -EBADMSG;
}

/* What was encrypted, decrypted by another, must be the message. */
static int understood(struct keyed_case *k, struct error *err)
{
	struct keyed_job job = k->job;
	struct keyed_share *referee;
	int ret;

	job.decrypt = true;
	job.len = k->want_len;
	referee = keyed_case_other(k, &job);
	if (!referee)
		return 0;
	ret = compute(referee, &job, k->want, err);
	if (!ret && memcmp(referee->k->out, k->in, k->job.len))
		ret = error_set(err, -EBADMSG,
				"backend %s decrypts otherwise what backend %s "
				"encrypted with %s",
				referee->backend->name, k->share->backend->name,
				job.alg->title);
	return ret;
}

/* The result by another backend; where there is none, what came out first. */
static int find_want(struct keyed_case *k, struct error *err)
{
	struct keyed_share *referee = keyed_case_other(k, &k->job);
	const uint8_t *result = k->share->k->out;
	int ret = 0;

	k->want = malloc(k->want_len ? k->want_len : 1);
	if (!k->want)
		return error_set(err, -ENOMEM, "out of memory");
	if (referee) {
		ret = compute(referee, &k->job, k->in, err);
		result = referee->k->out;
		k->computed_by = referee->backend->name;
	}
	if (!ret)
		memcpy(k->want, result, k->want_len);
	return ret;
}

int keyed_case_verify(struct keyed_case *k, struct error *err)
{
	const struct keyed_backend *backend = k->share->backend;
	int ret = k->want ? 0 : find_want(k, err);

	if (!ret)
		ret = keyed_case_check(k, err);
	if (!ret && !k->job.decrypt && k->job.alg->class != ALG_MAC)
		ret = understood(k, err);
	if (ret)
		return ret;
	keyed_case_disown(k);
	return known_cipher_check(backend, k->share->k, k->job.alg,
				  k->job.decrypt, err);
}

struct tee_session *keyed_case_ta(const struct keyed_case *k)
{
	const struct keyed_backend *backend = k->share->backend;

	return backend->tee ? backend->tee(k->share->k) : NULL;
}

void keyed_case_facts(const struct keyed_case *k, struct json *json)
{
	json_string_or_null(json, "checked_by", k->computed_by);
}
