/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <tee_client_api.h>

#include "asym_case.h"
#include "json.h"
#include "known_answer.h"

static const char *const step_names[ASYM_STEPS] = {
	[ASYM_ALLOCATE] = "allocated",
	[ASYM_IMPORT] = "given a key",
	[ASYM_PREPARE] = "prepared",
	[ASYM_OPERATE] = "used",
};

static int take_desk(struct pool *pool, const struct backend *backend, struct desk **desk,
		     struct error *err)
{
	return pool_desk(pool, backend, DESK_ASYM, ASYM_BUFFER_BYTES, desk, err);
}

int asym_case_parse(struct bench_case *c, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && backends[i]; i++)
		if (backends[i]->asym_step)
			ret = pool_reserve(c->pool, backends[i], DESK_ASYM, ASYM_BUFFER_BYTES, err);
	/* An operation takes seconds on some boards: a sample is one of them. */
	if (case_in_ta(c))
		c->loops_max = 1;
	return ret;
}

/* Writes the published key to `at`, for a private use both halves of it; returns its length. */
static size_t put_key(const struct asym_case *k, enum asym_use use, uint8_t *at)
{
	const struct asym_key *key = asym_key_of(k->vector);
	size_t room = ASYM_BUFFER_BYTES - (size_t)(asym_key_in(&k->job) - k->job.in->data);
	size_t len = vector_bytes(at, room, key->public);

	if (!asym_is_private(use))
		return len;
	vector_bytes(at + len, room - len, key->private);
	return len + asym_private_bytes(k->job.alg, k->job.alg->kind == ASYM_RSA && !k->plain);
}

/*
 * Takes a step on a desk. A TA that dies of it gets a new session, so that the other cases go on;
 * the case that was on the desk begins anew.
 */
static int take(struct asym_case *k, struct desk *desk, struct asym_job *job, enum asym_step step,
		struct error *err)
{
	struct error why = { 0 };
	int ret = desk->backend->asym_step(desk->session, job, step, &why);

	if (!ret)
		return 0;
	if (why.tee_result == TEEC_ERROR_TARGET_DEAD && desk->backend->asym_again) {
		struct error again = { 0 };

		desk->owner = NULL;
		if (desk->backend->asym_again(desk->session, &again))
			why = again;
		else if (!k->works)
			error_skip(&why, -EHOSTDOWN, "ta-ended",
				   "the TEE says that it has %s%s, and ends the TA when it is %s",
				   k->says ? "" : "no ", job->alg->title, step_names[step]);
	}
	if (err)
		*err = why;
	return why.code;
}

static int lead_to(struct asym_case *k, struct desk *desk, struct asym_job *job, enum asym_step end,
		   struct error *err)
{
	int ret = 0;

	for (int i = ASYM_ALLOCATE; !ret && i < (int)end; i++)
		ret = take(k, desk, job, (enum asym_step)i, err);
	return ret;
}

/* Puts the case's things on its desk. */
static void lay_out(struct asym_case *k)
{
	memcpy(k->c->desk->in.data, k->in, k->job.in_len);
	k->job.key_len = put_key(k, k->job.use, asym_key_in(&k->job));
	if (k->job.use == ASYM_VERIFY) {
		memcpy(k->c->desk->out.data, k->want, k->want_len);
		k->job.out_len = k->want_len;
	}
}

int asym_case_open(struct bench_case *c, enum asym_use use, struct error *err)
{
	struct asym_case *k = c->state;
	const char *in, *want;
	int ret;

	if (!c->backend->asym_step)
		return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				  "backend %s has no asymmetric algorithms", c->backend->name);
	if (!c->backend->generate && k->step != ASYM_OPERATE)
		return error_skip(err, -EOPNOTSUPP, "no-step",
				  "backend %s makes no keys, and has no steps", c->backend->name);
	if (c->backend->crosses && !c->asym->tee)
		return error_skip(err, -EOPNOTSUPP, "unsupported-algorithm",
				  "GlobalPlatform's API for TAs has no %s", c->asym->title);
	k->vector = asym_vector_of(c->asym->name);
	if (!k->vector || !asym_key_of(k->vector))
		return error_set(err, -ENOENT, "no published vector of %s is known",
				 c->asym->title);
	k->c = c;
	ret = take_desk(c->pool, c->backend, &c->desk, err);
	if (ret)
		return ret;
	k->job = (struct asym_job){
		.alg = c->asym,
		.use = use,
		.in = &k->c->desk->in,
		.out = &k->c->desk->out,
	};
	in = use == ASYM_DECRYPT ? k->vector->result : k->vector->in;
	want = use == ASYM_DECRYPT ? k->vector->in : k->vector->result;
	if (use == ASYM_ENCAPSULATE)
		in = "";
	k->job.in_len = vector_bytes(k->in, sizeof(k->in), in);
	k->want_len = vector_bytes(k->want, sizeof(k->want), want);
	if (!k->c->backend->asym_says)
		return 0;
	k->says_known = true;
	return k->c->backend->asym_says(k->c->desk->session, c->asym, &k->says, err);
}

void asym_case_teardown(void *state)
{
	struct asym_case *k = state;

	/* Its address may be another case's soon. */
	if (k->c && k->c->desk && k->c->desk->owner == k)
		k->c->desk->owner = NULL;
}

int asym_case_ready(void *state, uint32_t loops, struct error *err)
{
	struct asym_case *k = state;
	enum asym_step end = k->generate           ? ASYM_IMPORT :
			     k->step == ASYM_STEPS ? ASYM_ALLOCATE :
						     k->step;
	int ret;

	(void)loops;
	if (k->c->desk->owner == k)
		return 0;
	lay_out(k);
	ret = lead_to(k, k->c->desk, &k->job, end, err);
	if (!ret)
		k->c->desk->owner = k;
	return ret;
}

int asym_case_once(void *state, uint32_t i, struct error *err)
{
	struct asym_case *k = state;
	int ret;

	(void)i;
	if (k->generate)
		ret = k->c->backend->generate(k->c->desk->session, &k->job, err);
	else if (k->step == ASYM_STEPS)
		ret = lead_to(k, k->c->desk, &k->job, ASYM_STEPS, err);
	else
		ret = take(k, k->c->desk, &k->job, k->step, err);
	k->works = k->works || !ret;
	return ret;
}

/* Returns another backend's desk, one that computes in this process if there is any; or NULL. */
static struct desk *other_desk(const struct asym_case *k)
{
	const struct backend *other;
	struct desk *desk;
	size_t next = 0;

	if (!k->job.alg->tee)
		return NULL; /* libcrypto alone has it */
	while ((other = known_answer_referee(k->c->backend, DESK_ASYM, &next)))
		if (!take_desk(k->c->pool, other, &desk, NULL))
			return desk;
	return NULL;
}

/*
 * Asks for an operation with the published key on a desk, whichever it is. `public` is that key
 * instead, or NULL. `out` is the result, or the signature to verify.
 */
static int ask(struct asym_case *k, struct desk *desk, enum asym_use use, const uint8_t *public,
	       const uint8_t *in, size_t in_len, uint8_t *out, size_t *out_len, struct error *err)
{
	struct asym_job job = {
		.alg = k->job.alg,
		.use = use,
		.in_len = in_len,
		.out_len = *out_len,
		.in = &desk->in,
		.out = &desk->out,
	};
	int ret;

	desk->owner = NULL;
	job.key_len = put_key(k, use, asym_key_in(&job));
	if (public)
		memcpy(asym_key_in(&job), public, job.key_len);
	memcpy(desk->in.data, in, in_len);
	if (use == ASYM_VERIFY)
		memcpy(desk->out.data, out, *out_len);
	ret = lead_to(k, desk, &job, ASYM_STEPS, err);
	if (!ret && use != ASYM_VERIFY) {
		memcpy(out, desk->out.data, job.out_len);
		*out_len = job.out_len;
	}
	return ret;
}

/*
 * Returns whether a key and a message have one result, as a signature of PKCS #1 v1.5 or EdDSA is.
 */
static bool is_deterministic(const struct asym_case *k)
{
	const struct asym_algorithm *alg = k->job.alg;

	return k->job.use == ASYM_DERIVE || k->job.use == ASYM_DECRYPT ||
	       k->job.use == ASYM_DECAPSULATE ||
	       (k->job.use == ASYM_SIGN &&
		(!strcmp(alg->padding, "pkcs1") || (!alg->digest_bytes && alg->kind != ASYM_SEED)));
}

static int wrong(const struct asym_case *k, const char *what, struct error *err)
{
	return known_answer_wrong(err, "%s of %s by backend %s", what, k->job.alg->title,
				  k->c->backend->name);
}

/* Compares the output with the published answer, and wipes the output for the next call. */
static int compare(struct asym_case *k, struct error *err)
{
	uint8_t *out = k->c->desk->out.data;
	bool differs = k->job.out_len != k->want_len || memcmp(out, k->want, k->want_len);

	memset(out, 0, k->want_len);
	return differs ? wrong(k, "wrong result", err) : 0;
}

/* Checks that a desk finds the signature right, and wrong with a bit flipped. */
static int check_signature(struct asym_case *k, struct desk *desk, const uint8_t *public,
			   uint8_t *signature, size_t len, bool and_flipped, struct error *err)
{
	struct error why = { 0 };
	int ret = ask(k, desk, ASYM_VERIFY, public, k->in, k->job.in_len, signature, &len, &why);

	if (ret == -EBADMSG)
		return wrong(k, "a wrong signature", err);
	if (!ret && and_flipped) {
		signature[len / 2] ^= 1;
		ret = ask(k, desk, ASYM_VERIFY, public, k->in, k->job.in_len, signature, &len,
			  &why);
		signature[len / 2] ^= 1;
		if (!ret)
			return known_answer_wrong(err,
						  "backend %s takes a flipped bit in a signature "
						  "of %s for right",
						  desk->backend->name, k->job.alg->title);
		ret = ret == -EBADMSG ? 0 : ret;
	}
	if (ret && err)
		*err = why;
	return ret;
}

/* Checks that decrypting an encrypted message gives the message. */
static int check_encrypted(struct asym_case *k, struct desk *desk, uint8_t *sealed, size_t len,
			   struct error *err)
{
	uint8_t plain[ASYM_MAX_BYTES];
	size_t plain_len = 0;
	int ret = ask(k, desk, ASYM_DECRYPT, NULL, sealed, len, plain, &plain_len, err);

	if (!ret && (plain_len != k->job.in_len || memcmp(plain, k->in, plain_len)))
		ret = wrong(k, "wrong ciphertext", err);
	return ret;
}

/*
 * Asks who can say whether a result that chance is part of is right. Another
 * backend if there is one, but no TEE for what takes its private key or comes
 * after every sample: seconds each. `first`: it is the case's first result.
 */
static int check_by_other(struct asym_case *k, bool first, struct error *err)
{
	bool seals = k->job.use == ASYM_ENCRYPT;
	uint8_t result[ASYM_MAX_BYTES];
	size_t len = k->job.out_len;
	struct desk *desk = other_desk(k);

	if (desk && !desk->backend->local && (seals || !first))
		desk = NULL;
	if (desk && first)
		k->c->checked_by = desk->backend->name;
	if (len > sizeof(result))
		return wrong(k, "too long a result", err);
	memcpy(result, k->c->desk->out.data, len);
	memset(k->c->desk->out.data, 0, len);
	if (!desk)
		desk = k->c->desk;
	return seals ? check_encrypted(k, desk, result, len, err) :
		       check_signature(k, desk, NULL, result, len, first, err);
}

/* Checks that a verification refuses a bit flipped in the signature, or in the message. */
static int refuses_flips(struct asym_case *k, struct error *err)
{
	uint8_t *places[] = { k->c->desk->out.data + k->want_len / 2,
			      k->c->desk->in.data + k->job.in_len / 2 };

	for (size_t i = 0; i < 2; i++) {
		struct error why = { 0 };
		int ret;

		*places[i] ^= 1;
		ret = take(k, k->c->desk, &k->job, ASYM_OPERATE, &why);
		*places[i] ^= 1;
		if (!ret)
			return wrong(k, "a flipped bit is taken for a right signature", err);
		if (ret != -EBADMSG) {
			*err = why;
			return ret;
		}
	}
	return 0;
}

/* Takes the key that was generated through its use. */
static int use_key(struct asym_case *k, struct error *err)
{
	int ret = take(k, k->c->desk, &k->job, ASYM_PREPARE, err);

	return ret ? ret : take(k, k->c->desk, &k->job, ASYM_OPERATE, err);
}

/*
 * Checks that a ciphertext is opened to the secret it was made with, and with a bit flipped to
 * another one, as FIPS 203 wants it. `kept`: the key on the desk opens it, not the published one.
 */
static int check_capsule(struct asym_case *k, bool kept, struct error *err)
{
	uint8_t made[ASYM_MAX_BYTES], secret[ASYM_MAX_BYTES];
	size_t len = k->job.alg->out_bytes, secret_len = 0;
	int ret = 0;

	if (k->job.out_len != len + ASYM_SECRET_BYTES)
		return wrong(k, "a result of a wrong length", err);
	memcpy(made, k->c->desk->out.data, k->job.out_len);
	for (int flip = 0; !ret && flip < 2; flip++) {
		made[len / 2] ^= (uint8_t)flip;
		if (kept) {
			memcpy(k->c->desk->in.data, made, len);
			k->job.use = ASYM_DECAPSULATE;
			k->job.in_len = len;
			ret = use_key(k, err);
			memcpy(secret, k->c->desk->out.data, ASYM_SECRET_BYTES);
		} else {
			ret = ask(k, k->c->desk, ASYM_DECAPSULATE, NULL, made, len, secret,
				  &secret_len, err);
		}
		if (!ret && (memcmp(secret, made + len, ASYM_SECRET_BYTES) == 0) == (flip == 1))
			ret = wrong(k, flip ? "a flipped bit ignored" : "another secret", err);
	}
	return ret;
}

static int check_result(struct asym_case *k, bool first, struct error *err)
{
	if (k->job.use == ASYM_ENCAPSULATE)
		return check_capsule(k, false, err);
	if (k->job.use == ASYM_VERIFY)
		return first ? refuses_flips(k, err) : 0;
	return is_deterministic(k) ? compare(k, err) : check_by_other(k, first, err);
}

/* Checks that two sides agree: the key that was generated, and the published one. */
static int check_agreement(struct asym_case *k, struct desk *other, struct error *err)
{
	uint8_t ours[ASYM_MAX_BYTES], theirs[ASYM_MAX_BYTES];
	size_t len = 0, public = asym_public_bytes(k->job.alg);
	int ret;

	put_key(k, ASYM_VERIFY, k->c->desk->in.data);
	k->job.in_len = public;
	ret = use_key(k, err);
	if (ret)
		return ret;
	memcpy(ours, k->c->desk->out.data, k->job.out_len);
	ret = ask(k, other, ASYM_DERIVE, NULL, k->public, public, theirs, &len, err);
	if (!ret && (len != k->job.out_len || memcmp(ours, theirs, len)))
		ret = wrong(k, "a key pair that agrees on another secret", err);
	return ret;
}

/* Makes use of the key pair on the desk, and another backend of its public key. */
static int use_generated(struct asym_case *k, struct error *err)
{
	struct desk *other = other_desk(k);
	uint8_t signature[ASYM_MAX_BYTES];
	int ret;

	if (k->job.use == ASYM_DECAPSULATE) {
		k->job.use = ASYM_ENCAPSULATE;
		ret = use_key(k, err);
		ret = ret ? ret : check_capsule(k, true, err);
		k->job.use = ASYM_DECAPSULATE;
		return ret;
	}
	if (!other && !k->job.alg->tee)
		other = k->c->desk;
	if (!other)
		return 0;
	k->c->checked_by = other->backend->name;
	if (k->job.use == ASYM_DERIVE) {
		ret = check_agreement(k, other, err);
		if (ret && err->tee_result == TEEC_ERROR_TARGET_DEAD && other != k->c->desk) {
			/* A TA that ends says nothing of the key, as OP-TEE 4.5's does by X448. */
			k->c->checked_by = NULL;
			ret = check_agreement(k, k->c->desk, err);
		}
		return ret;
	}
	memcpy(k->c->desk->in.data, k->in, k->job.in_len);
	ret = use_key(k, err);
	if (ret)
		return ret;
	memcpy(signature, k->c->desk->out.data, k->job.out_len);
	return check_signature(k, other, k->public, signature, k->job.out_len, true, err);
}

/* Checks that the key is another than the last, and that another backend takes it for one. */
static int check_generated(struct asym_case *k, struct error *err)
{
	uint8_t public[ASYM_MAX_BYTES] = { 0 };
	struct desk *other = other_desk(k);
	size_t len = asym_public_bytes(k->job.alg);
	int ret = k->c->backend->public_key(k->c->desk->session, &k->job, public, err);

	if (ret)
		return ret;
	if (!memcmp(public, k->public, len))
		return wrong(k, "the same key pair as before", err);
	memcpy(k->public, public, len);
	if (other && other->backend->local) {
		struct asym_job job = { .alg = k->job.alg,
					.use = ASYM_VERIFY,
					.key_len = len,
					.in = &other->in,
					.out = &other->out };

		other->owner = NULL;
		memcpy(asym_key_in(&job), public, len);
		ret = lead_to(k, other, &job, ASYM_PREPARE, err);
	}
	return ret;
}

int asym_case_check(void *state, struct error *err)
{
	struct asym_case *k = state;

	if (k->generate)
		return check_generated(k, err);
	return k->step >= ASYM_OPERATE ? check_result(k, false, err) : 0;
}

int asym_case_verify(void *state, struct error *err)
{
	struct asym_case *k = state;
	int ret = 0;

	if (k->generate) {
		ret = check_generated(k, err);
		if (!ret)
			ret = use_generated(k, err);
		k->c->desk->owner = NULL;
		return ret;
	}
	/* The steps that are left to the end follow. */
	for (int i = (int)k->step + 1; !ret && i < ASYM_STEPS; i++)
		ret = take(k, k->c->desk, &k->job, (enum asym_step)i, err);
	return ret ? ret : check_result(k, true, err);
}

void asym_case_facts(const void *state, struct json *json)
{
	const struct asym_case *k = state;

	if (k->says_known)
		json_bool(json, "tee_says", k->says);
}
