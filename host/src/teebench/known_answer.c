/* SPDX-License-Identifier: BSD-2-Clause */
#include "known_answer.h"
#include "stop.h"

/* Bytes that are hashed between two checks for a signal. */
enum { STEP = 4 << 20 };

/* Computes the result of a short message on the workplace, and copies it to `out`. */
static int compute(struct workplace *workplace, const struct keyed_job *job, const uint8_t *message,
		   uint8_t *out, struct error *err)
{
	const struct backend *b = workplace->backend;
	int ret;

	if (job->alg->class == ALG_DIGEST) {
		memcpy(workplace->in.data, message, job->len);
		return b->digest(workplace->session, job->alg, &workplace->in, job->len, out, 1,
				 err);
	}
	ret = b->set_up(workplace->session, job, err);
	if (ret)
		return ret;
	memcpy(workplace->in.data, message, job->len);
	memset(workplace->out.data, 0xa5, VECTOR_MAX);
	ret = b->message(workplace->session, job, 1, err);
	memcpy(out, workplace->out.data, VECTOR_MAX);
	return ret;
}

/* Checks that decrypting refuses a message with a flipped bit, in the ciphertext or in the tag. */
static int tampered(struct workplace *workplace, const struct keyed_job *job,
		    const uint8_t *message, struct error *err)
{
	const size_t places[] = { 0, job->len - 1 - job->alg->out_bytes,
				  job->len - job->alg->out_bytes, job->len - 1 };
	uint8_t altered[VECTOR_MAX], out[VECTOR_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct error refused = { 0 };
		int ret;

		memcpy(altered, message, job->len);
		altered[places[i]] ^= 1;
		ret = compute(workplace, job, altered, out, &refused);
		if (!ret)
			return case_wrong_result(err,
						 "backend %s takes an altered message of %s for whole",
						 workplace->backend->name, job->alg->title);
		if (ret != -EBADMSG) {
			*err = refused;
			return ret;
		}
	}
	return 0;
}

static int check_vector(struct workplace *workplace, const struct algorithm *alg, bool decrypt,
			const struct vector *v, struct error *err)
{
	uint8_t key[ALG_KEY_MAX_BYTES], iv[ALG_IV_MAX_BYTES];
	uint8_t message[VECTOR_MAX], result[VECTOR_MAX], got[VECTOR_MAX];
	size_t message_len = vector_bytes(message, VECTOR_MAX, v->message);
	size_t result_len = vector_bytes(result, VECTOR_MAX, v->result);
	struct keyed_job job = {
		.alg = alg,
		.decrypt = decrypt,
		.key = key,
		.iv = iv,
		.len = decrypt ? result_len : message_len,
		.in = &workplace->in,
		.out = &workplace->out,
	};
	int ret;

	vector_bytes(key, sizeof(key), v->key);
	vector_bytes(iv, sizeof(iv), v->iv);
	ret = compute(workplace, &job, decrypt ? result : message, got, err);
	if (ret)
		return ret;
	if (decrypt ? memcmp(got, message, message_len) : memcmp(got, result, result_len))
		return case_wrong_result(err, "backend %s %s a published message wrongly with %s",
					 workplace->backend->name,
					 decrypt ? "decrypts" : "computes", alg->title);
	return alg->class == ALG_AEAD && decrypt ? tampered(workplace, &job, result, err) : 0;
}

int known_answer_check(struct workplace *workplace, const struct algorithm *alg, bool decrypt,
		       struct error *err)
{
	uint8_t saved[KNOWN_ANSWER_BYTES];
	bool found = false;
	int ret = 0;

	if (workplace->in.size < sizeof(saved))
		return error_set(err, -EINVAL, "too small a buffer for known answers");
	if (alg->class != ALG_DIGEST)
		workplace->owner = NULL;
	memcpy(saved, workplace->in.data, sizeof(saved));
	for (const struct vector *v = vectors; !ret && v->algorithm; v++) {
		if (strcmp(v->algorithm, alg->name))
			continue;
		found = true;
		ret = check_vector(workplace, alg, decrypt, v, err);
	}
	memcpy(workplace->in.data, saved, sizeof(saved));
	if (!ret && !found)
		return error_set(err, -ENOENT, "no published vector of %s is known", alg->title);
	return ret;
}

const struct backend *known_answer_referee(const struct backend *backend, enum workplace_use use,
					   size_t *next)
{
	size_t n = 0;

	while (backends[n])
		n++;
	for (; *next < 2 * n; ++*next) {
		const struct backend *b = backends[n - 1 - *next % n];
		bool local = *next < n;

		if (b == backend || b->local != local || (use == WORKPLACE_DIGEST && !b->digest) ||
		    (use == WORKPLACE_KEYED && !b->message) ||
		    (use == WORKPLACE_ASYM && !b->generate))
			continue; /* a backend that can't make keys supports few uses */
		++*next;
		return b;
	}
	return NULL;
}

/* Hashes `len` bytes by a workplace's backend, in pieces between which a signal can end it. */
static int digest_of(struct workplace *workplace, const struct algorithm *alg, const uint8_t *data,
		     size_t len, uint8_t *out, struct error *err)
{
	const struct buffer in = { .data = (uint8_t *)data, .size = len };
	const struct backend *b = workplace->backend;
	size_t at = 0;
	int ret = b->digest_init(workplace->session, alg, err);

	for (; !ret && len - at > STEP; at += STEP) {
		ret = b->digest_update(workplace->session, &in, at, STEP, err);
		if (!ret)
			ret = stop_check(err);
	}
	return ret ? ret : b->digest_final(workplace->session, &in, at, len - at, out, err);
}

int known_answer_digest(struct pool *pool, const struct backend *not_by,
			const struct algorithm *alg, const uint8_t *data, size_t len, uint8_t *out,
			const char **by, struct error *err)
{
	const struct backend *referee;
	struct workplace *workplace;
	size_t next = 0;
	int ret;

	while ((referee = known_answer_referee(not_by, WORKPLACE_DIGEST, &next))) {
		if (pool_workplace(pool, referee, WORKPLACE_DIGEST, KNOWN_ANSWER_BYTES, &workplace,
				   NULL) ||
		    referee->digest_init(workplace->session, alg, NULL))
			continue;
		ret = known_answer_check(workplace, alg, false, err);
		if (by)
			*by = referee->name;
		return ret ? ret : digest_of(workplace, alg, data, len, out, err);
	}
	return error_set(err, -ENOENT, "no other backend here has %s to compare with", alg->title);
}
