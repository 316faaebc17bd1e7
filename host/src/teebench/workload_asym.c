/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sign/ALGORITHM/BACKEND/KEY, verify, derive, encrypt, decrypt, encapsulate, decapsulate: one
 * operation with a published key, which is imported untimed. KEY is `crt` or `plain` for operations
 * with an RSA private key, with or without the CRT's values; `none` for all others.
 *
 * keygen/ALGORITHM/BACKEND/none: a new key pair.
 *
 * key-steps/ALGORITHM/BACKEND/USE/STEP: one step of an operation USE, such as sign. STEP is
 * allocate, import, prepare or operate; or whole: all four, as with a key that is imported each
 * time. RSA keys include the CRT's values.
 */

#include <tee_client_api.h>

#include "json.h"
#include "known_answer.h"

static const char *const use_names[] = {
	[ASYM_SIGN] = "sign",
	[ASYM_VERIFY] = "verify",
	[ASYM_DERIVE] = "derive",
	[ASYM_ENCRYPT] = "encrypt",
	[ASYM_DECRYPT] = "decrypt",
	[ASYM_ENCAPSULATE] = "encapsulate",
	[ASYM_DECAPSULATE] = "decapsulate",
	NULL,
};
static const char *const step_words[] = {
	[ASYM_ALLOCATE] = "allocate", [ASYM_IMPORT] = "import", [ASYM_PREPARE] = "prepare",
	[ASYM_OPERATE] = "operate",   [ASYM_STEPS] = "whole",   NULL,
};

/* A case with an asymmetric key: a published one (vectors.h), or one that keygen makes. */
struct asym_case {
	const struct asym_vector *vector;
	struct asym_job job;
	bool plain;    /* an RSA key without the CRT's values */
	bool generate; /* keygen: a new key, instead of ASYM_IMPORT */
	/* The step that is measured; ASYM_STEPS: all. */
	enum asym_step step;
	uint8_t in[ASYM_MAX_BYTES], want[ASYM_MAX_BYTES];
	size_t want_len;
	/* The public key of the last generated key pair. */
	uint8_t public[ASYM_MAX_BYTES];
	bool works; /* a step succeeded before: if the TA ends later, it is a failure */
	bool says;  /* the TEE says that it has the algorithm */
};

static const char *const step_names[ASYM_STEPS] = {
	[ASYM_ALLOCATE] = "allocated",
	[ASYM_IMPORT] = "given a key",
	[ASYM_PREPARE] = "prepared",
	[ASYM_OPERATE] = "used",
};

extern const struct workload workload_keygen, workload_key_steps;

/* Returns an algorithm's first use of a private key. */
static enum asym_use private_use(const struct asym_algorithm *alg)
{
	int use = ASYM_SIGN;

	while (!asym_is_private((enum asym_use)use) || !(alg->uses & 1u << use))
		use++;
	return (enum asym_use)use;
}

/* Returns a case's use of its key; keygen's is a use of the private one. */
static enum asym_use use_of(const struct bench_case *c)
{
	if (c->workload == &workload_keygen)
		return private_use(c->asym);
	if (c->workload == &workload_key_steps)
		return (enum asym_use)c->part[0].word;
	return (enum asym_use)case_choice(c->workload_name, use_names, NULL);
}

static int asym_parse(struct bench_case *c, struct error *err)
{
	bool keygen = c->workload == &workload_keygen, steps = c->workload == &workload_key_steps;
	enum asym_use use = use_of(c);
	bool rsa = c->asym->kind == ASYM_RSA && asym_is_private(use);
	int ret = 0;

	if (!(c->asym->uses & 1u << use))
		return case_wrong(err, "%s does not %s", c->asym->title, use_names[use]);
	if (keygen && use == ASYM_DECRYPT)
		return case_wrong(err, "a key pair of %s is made as one to sign by: keygen/rsa-%u",
				  c->asym->title, c->asym->bits);
	if (!keygen && !steps && rsa != !!strcmp(c->parameters, "none"))
		return case_wrong(err,
				  rsa ? "\"%s\" is not a kind of RSA key (crt, plain)" :
					"\"%s\" is of RSA's private keys: write \"none\"",
				  c->parameters);
	for (size_t i = 0; !ret && backends[i]; i++)
		if (backends[i]->asym_step)
			ret = pool_reserve(c->pool, backends[i], WORKPLACE_ASYM, ASYM_BUFFER_BYTES,
					   err);
	/*
	 * A sample is one call for new key pairs, whose times vary, and for operations in a TEE,
	 * which may take seconds. The steps before an operation are short, and are repeated.
	 */
	if (keygen || (case_in_ta(c) && !(steps && c->part[1].word < ASYM_OPERATE)))
		c->loops_max = 1;
	return ret;
}

/* Writes the published key to `at`, for a private use with its private half. Returns its length. */
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
 * Takes a step on a workplace. If the TA dies of it, a new session is opened so that other cases can go
 * on, and the workplace's owner is cleared.
 */
static int take(const struct asym_case *k, struct workplace *workplace, struct asym_job *job,
		enum asym_step step, struct error *err)
{
	struct error why = { 0 };
	int ret = workplace->backend->asym_step(workplace->session, job, step, &why);

	if (!ret)
		return 0;
	if (why.tee_result == TEEC_ERROR_TARGET_DEAD && workplace->backend->asym_again) {
		struct error again = { 0 };

		workplace->owner = NULL;
		if (workplace->backend->asym_again(workplace->session, &again))
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

static int lead_to(const struct asym_case *k, struct workplace *workplace, struct asym_job *job,
		   enum asym_step from, enum asym_step end, struct error *err)
{
	int ret = 0;

	for (int i = (int)from; !ret && i < (int)end; i++)
		ret = take(k, workplace, job, (enum asym_step)i, err);
	return ret;
}

static int asym_prepare(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;
	enum asym_use use = use_of(c);
	const char *in, *want;
	int ret;

	k->plain = !strcmp(c->parameters, "plain");
	k->generate = c->workload == &workload_keygen;
	k->step = c->workload == &workload_key_steps ? (enum asym_step)c->part[1].word :
		  k->generate                        ? ASYM_IMPORT :
						       ASYM_OPERATE;
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
	ret = pool_workplace(c->pool, c->backend, WORKPLACE_ASYM, ASYM_BUFFER_BYTES, &c->workplace,
			     err);
	if (ret)
		return ret;
	k->job = (struct asym_job){
		.alg = c->asym,
		.use = use,
		.in = &c->workplace->in,
		.out = &c->workplace->out,
	};
	in = use == ASYM_DECRYPT ? k->vector->result : k->vector->in;
	want = use == ASYM_DECRYPT ? k->vector->in : k->vector->result;
	if (use == ASYM_ENCAPSULATE)
		in = "";
	k->job.in_len = vector_bytes(k->in, sizeof(k->in), in);
	k->want_len = vector_bytes(k->want, sizeof(k->want), want);
	if (!c->backend->asym_says)
		return 0;
	return c->backend->asym_says(c->workplace->session, c->asym, &k->says, err);
}

/* Sets the case's data and key on its workplace, and takes the steps before the measured one. */
static int asym_ready(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;
	enum asym_step end = k->step == ASYM_STEPS ? ASYM_ALLOCATE : k->step;
	int ret;

	if (c->workplace->owner == c)
		return 0;
	memcpy(c->workplace->in.data, k->in, k->job.in_len);
	k->job.key_len = put_key(k, k->job.use, asym_key_in(&k->job));
	if (k->job.use == ASYM_VERIFY) {
		memcpy(c->workplace->out.data, k->want, k->want_len);
		k->job.out_len = k->want_len;
	}
	ret = lead_to(k, c->workplace, &k->job, ASYM_ALLOCATE, end, err);
	if (!ret)
		c->workplace->owner = c;
	return ret;
}

static int asym_once(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;
	int ret;

	if (k->generate)
		ret = c->backend->generate(c->workplace->session, &k->job, err);
	else if (k->step == ASYM_STEPS)
		ret = lead_to(k, c->workplace, &k->job, ASYM_ALLOCATE, ASYM_STEPS, err);
	else
		ret = take(k, c->workplace, &k->job, k->step, err);
	k->works = k->works || !ret;
	return ret;
}

/* Returns another backend's workplace, preferably one in this process; NULL if there is none. */
static struct workplace *other_workplace(const struct bench_case *c)
{
	const struct backend *other;
	struct workplace *workplace;
	size_t next = 0;

	if (!c->asym->tee)
		return NULL; /* libcrypto is the only backend that has it */
	while ((other = known_answer_referee(c->backend, WORKPLACE_ASYM, &next)))
		if (!pool_workplace(c->pool, other, WORKPLACE_ASYM, ASYM_BUFFER_BYTES, &workplace,
				    NULL))
			return workplace;
	return NULL;
}

/*
 * Does the operation `use` on any workplace, with the key `public` or, if that is NULL, with the
 * published key. `out` is the result; for ASYM_VERIFY it is the signature to verify.
 */
static int ask(struct asym_case *k, struct workplace *workplace, enum asym_use use,
	       const uint8_t *public, const uint8_t *in, size_t in_len, uint8_t *out,
	       size_t *out_len, struct error *err)
{
	struct asym_job job = {
		.alg = k->job.alg,
		.use = use,
		.in_len = in_len,
		.out_len = *out_len,
		.in = &workplace->in,
		.out = &workplace->out,
	};
	int ret;

	workplace->owner = NULL;
	job.key_len = put_key(k, use, asym_key_in(&job));
	if (public)
		memcpy(asym_key_in(&job), public, job.key_len);
	memcpy(workplace->in.data, in, in_len);
	if (use == ASYM_VERIFY)
		memcpy(workplace->out.data, out, *out_len);
	ret = lead_to(k, workplace, &job, ASYM_ALLOCATE, ASYM_STEPS, err);
	if (!ret && use != ASYM_VERIFY) {
		memcpy(out, workplace->out.data, job.out_len);
		*out_len = job.out_len;
	}
	return ret;
}

/*
 * Returns whether key and message determine the result, as in signatures of PKCS #1 v1.5 or EdDSA.
 */
static bool is_deterministic(const struct asym_case *k)
{
	const struct asym_algorithm *alg = k->job.alg;

	return k->job.use == ASYM_DERIVE || k->job.use == ASYM_DECRYPT ||
	       k->job.use == ASYM_DECAPSULATE ||
	       (k->job.use == ASYM_SIGN &&
		(!strcmp(alg->padding, "pkcs1") || (!alg->digest_bytes && alg->kind != ASYM_SEED)));
}

static int wrong(const struct bench_case *c, const char *what, struct error *err)
{
	return case_wrong_result(err, "%s of %s by backend %s", what, c->asym->title,
				 c->backend->name);
}

/* Compares the result with the published answer, and overwrites the result. */
static int compare(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;
	uint8_t *out = c->workplace->out.data;
	bool differs = k->job.out_len != k->want_len || memcmp(out, k->want, k->want_len);

	memset(out, 0, k->want_len);
	return differs ? wrong(c, "wrong result", err) : 0;
}

/* Checks that a workplace accepts the signature and, if and_flipped, refuses it with a bit flipped. */
static int check_signature(struct bench_case *c, struct workplace *workplace, const uint8_t *public,
			   uint8_t *signature, size_t len, bool and_flipped, struct error *err)
{
	struct asym_case *k = c->state;
	struct error why = { 0 };
	int ret =
		ask(k, workplace, ASYM_VERIFY, public, k->in, k->job.in_len, signature, &len, &why);

	if (ret == -EBADMSG)
		return wrong(c, "a wrong signature", err);
	if (!ret && and_flipped) {
		signature[len / 2] ^= 1;
		ret = ask(k, workplace, ASYM_VERIFY, public, k->in, k->job.in_len, signature, &len,
			  &why);
		signature[len / 2] ^= 1;
		if (!ret)
			return case_wrong_result(err,
						 "backend %s takes a flipped bit in a signature "
						 "of %s for right",
						 workplace->backend->name, k->job.alg->title);
		ret = ret == -EBADMSG ? 0 : ret;
	}
	if (ret && err)
		*err = why;
	return ret;
}

/* Checks that a workplace decrypts `sealed` to the message that was encrypted. */
static int check_encrypted(struct bench_case *c, struct workplace *workplace, uint8_t *sealed,
			   size_t len, struct error *err)
{
	struct asym_case *k = c->state;
	uint8_t plain[ASYM_MAX_BYTES];
	size_t plain_len = 0;
	int ret = ask(k, workplace, ASYM_DECRYPT, NULL, sealed, len, plain, &plain_len, err);

	if (!ret && (plain_len != k->job.in_len || memcmp(plain, k->in, plain_len)))
		ret = wrong(c, "wrong ciphertext", err);
	return ret;
}

/*
 * Checks a randomised result by another backend or, if there is none, by the case's own. A TEE
 * isn't asked for private-key operations or after every sample, since it takes seconds. `first`: it
 * is the case's first result.
 */
static int check_by_other(struct bench_case *c, bool first, struct error *err)
{
	struct asym_case *k = c->state;
	bool seals = k->job.use == ASYM_ENCRYPT;
	uint8_t result[ASYM_MAX_BYTES];
	size_t len = k->job.out_len;
	struct workplace *workplace = other_workplace(c);

	if (workplace && !workplace->backend->local && (seals || !first))
		workplace = NULL;
	if (workplace && first)
		c->checked_by = workplace->backend->name;
	if (len > sizeof(result))
		return wrong(c, "too long a result", err);
	memcpy(result, c->workplace->out.data, len);
	memset(c->workplace->out.data, 0, len);
	if (!workplace)
		workplace = c->workplace;
	return seals ? check_encrypted(c, workplace, result, len, err) :
		       check_signature(c, workplace, NULL, result, len, first, err);
}

/* Checks that a verification refuses a bit flipped in the signature, or in the message. */
static int refuses_flips(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;
	uint8_t *places[] = { c->workplace->out.data + k->want_len / 2,
			      c->workplace->in.data + k->job.in_len / 2 };

	for (size_t i = 0; i < 2; i++) {
		struct error why = { 0 };
		int ret;

		*places[i] ^= 1;
		ret = take(k, c->workplace, &k->job, ASYM_OPERATE, &why);
		*places[i] ^= 1;
		if (!ret)
			return wrong(c, "a flipped bit is taken for a right signature", err);
		if (ret != -EBADMSG) {
			*err = why;
			return ret;
		}
	}
	return 0;
}

/* Takes the steps of an operation with the key that was generated. */
static int use_key(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;

	return lead_to(k, c->workplace, &k->job, ASYM_PREPARE, ASYM_STEPS, err);
}

/*
 * Checks that decapsulating a ciphertext gives its secret and, with a bit flipped, another secret,
 * as FIPS 203 requires. `kept`: with the key on the workplace instead of the published one.
 */
static int check_capsule(struct bench_case *c, bool kept, struct error *err)
{
	struct asym_case *k = c->state;
	uint8_t made[ASYM_MAX_BYTES], secret[ASYM_MAX_BYTES];
	size_t len = k->job.alg->out_bytes, secret_len = 0;
	int ret = 0;

	if (k->job.out_len != len + ASYM_SECRET_BYTES)
		return wrong(c, "a result of a wrong length", err);
	memcpy(made, c->workplace->out.data, k->job.out_len);
	for (int flip = 0; !ret && flip < 2; flip++) {
		made[len / 2] ^= (uint8_t)flip;
		if (kept) {
			memcpy(c->workplace->in.data, made, len);
			k->job.use = ASYM_DECAPSULATE;
			k->job.in_len = len;
			ret = use_key(c, err);
			memcpy(secret, c->workplace->out.data, ASYM_SECRET_BYTES);
		} else {
			ret = ask(k, c->workplace, ASYM_DECAPSULATE, NULL, made, len, secret,
				  &secret_len, err);
		}
		if (!ret && (memcmp(secret, made + len, ASYM_SECRET_BYTES) == 0) == (flip == 1))
			ret = wrong(c, flip ? "a flipped bit ignored" : "another secret", err);
	}
	return ret;
}

static int check_result(struct bench_case *c, bool first, struct error *err)
{
	struct asym_case *k = c->state;
	if (k->job.use == ASYM_ENCAPSULATE)
		return check_capsule(c, false, err);
	if (k->job.use == ASYM_VERIFY)
		return first ? refuses_flips(c, err) : 0;
	return is_deterministic(k) ? compare(c, err) : check_by_other(c, first, err);
}

/* Checks that the generated key and the published one derive the same secret from both sides. */
static int check_agreement(struct bench_case *c, struct workplace *other, struct error *err)
{
	struct asym_case *k = c->state;
	uint8_t ours[ASYM_MAX_BYTES], theirs[ASYM_MAX_BYTES];
	size_t len = 0, public = asym_public_bytes(k->job.alg);
	int ret;

	put_key(k, ASYM_VERIFY, c->workplace->in.data);
	k->job.in_len = public;
	ret = use_key(c, err);
	if (ret)
		return ret;
	memcpy(ours, c->workplace->out.data, k->job.out_len);
	ret = ask(k, other, ASYM_DERIVE, NULL, k->public, public, theirs, &len, err);
	if (!ret && (len != k->job.out_len || memcmp(ours, theirs, len)))
		ret = wrong(c, "a key pair that agrees on another secret", err);
	return ret;
}

/* Checks the generated key pair: this backend uses it, and another uses its public key. */
static int use_generated(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;
	struct workplace *other = other_workplace(c);
	uint8_t signature[ASYM_MAX_BYTES];
	int ret;

	if (k->job.use == ASYM_DECAPSULATE) {
		k->job.use = ASYM_ENCAPSULATE;
		ret = use_key(c, err);
		ret = ret ? ret : check_capsule(c, true, err);
		k->job.use = ASYM_DECAPSULATE;
		return ret;
	}
	if (!other && !k->job.alg->tee)
		other = c->workplace;
	if (!other)
		return 0;
	c->checked_by = other->backend->name;
	if (k->job.use == ASYM_DERIVE) {
		ret = check_agreement(c, other, err);
		if (ret && err->tee_result == TEEC_ERROR_TARGET_DEAD && other != c->workplace) {
			/*
			 * If the other TA dies, as OP-TEE 4.5's does of X448, that says nothing of
			 * the key.
			 */
			c->checked_by = NULL;
			ret = check_agreement(c, c->workplace, err);
		}
		return ret;
	}
	memcpy(c->workplace->in.data, k->in, k->job.in_len);
	ret = use_key(c, err);
	if (ret)
		return ret;
	memcpy(signature, c->workplace->out.data, k->job.out_len);
	return check_signature(c, other, k->public, signature, k->job.out_len, true, err);
}

/* Checks that the public key differs from the last one, and that another backend accepts it. */
static int check_generated(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;
	uint8_t public[ASYM_MAX_BYTES] = { 0 };
	struct workplace *other = other_workplace(c);
	size_t len = asym_public_bytes(k->job.alg);
	int ret = c->backend->public_key(c->workplace->session, &k->job, public, err);

	if (ret)
		return ret;
	if (!memcmp(public, k->public, len))
		return wrong(c, "the same key pair as before", err);
	memcpy(k->public, public, len);
	if (other && other->backend->local) {
		struct asym_job job = { .alg = k->job.alg,
					.use = ASYM_VERIFY,
					.key_len = len,
					.in = &other->in,
					.out = &other->out };

		other->owner = NULL;
		memcpy(asym_key_in(&job), public, len);
		ret = lead_to(k, other, &job, ASYM_ALLOCATE, ASYM_PREPARE, err);
	}
	return ret;
}

static int asym_check(struct bench_case *c, struct error *err)
{
	const struct asym_case *k = c->state;

	if (k->generate)
		return check_generated(c, err);
	return k->step >= ASYM_OPERATE ? check_result(c, false, err) : 0;
}

/*
 * Compares the first result with the published one. A randomised result must be accepted by another
 * backend instead, if there is one, and refused with a bit flipped. A verification must itself
 * refuse a flipped bit.
 */
static int asym_verify(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;
	int ret;

	if (k->generate) {
		ret = check_generated(c, err);
		if (!ret)
			ret = use_generated(c, err);
		c->workplace->owner = NULL;
		return ret;
	}
	/* Takes the remaining steps of the operation, which the check needs. */
	ret = lead_to(k, c->workplace, &k->job, k->step + 1, ASYM_STEPS, err);
	return ret ? ret : check_result(c, true, err);
}

/* Writes "tee_says": whether the TEE says that it has the algorithm. */
static void asym_facts(const struct bench_case *c, struct json *json)
{
	const struct asym_case *k = c->state;

	if (c->backend->asym_says)
		json_bool(json, "tee_says", k->says);
}

#define OF_ASYM                                                                               \
	.asym = true, .terms = { { "USE", use_names }, { "STEP", step_words } },              \
	.state_size = sizeof(struct asym_case), .parse = asym_parse, .prepare = asym_prepare, \
	.ready = asym_ready, .once = asym_once, .verify = asym_verify, .check = asym_check,   \
	.ta_clock = true, .refereed = true, .facts = asym_facts

#define USE_OF_KEY(NAME, SUMMARY, PARAMETERS)     \
	const struct workload workload_##NAME = { \
		.name = #NAME,                    \
		.summary = SUMMARY,               \
		.parameters = PARAMETERS,         \
		OF_ASYM,                          \
	}

USE_OF_KEY(sign, "a digest signed", "crt|plain|none");
USE_OF_KEY(verify, "a signature verified", "none");
USE_OF_KEY(derive, "a shared secret agreed on", "none");
USE_OF_KEY(encrypt, "a short message encrypted", "none");
USE_OF_KEY(decrypt, "a short message decrypted", "crt|plain");
USE_OF_KEY(encapsulate, "a secret made, and sealed for a key", "none");
USE_OF_KEY(decapsulate, "a sealed secret opened", "none");
USE_OF_KEY(keygen, "a new key pair", "none");

const struct workload workload_key_steps = {
	.name = "key-steps",
	.summary = "one step of an operation with an asymmetric key",
	.parameters = "USE/STEP",
	OF_ASYM,
};
