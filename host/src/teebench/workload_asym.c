/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sign/ALGORITHM/BACKEND/KEY, verify, derive, encrypt, decrypt, encapsulate, decapsulate: one
 * operation with a published key, imported before. KEY: `crt` or `plain` for what takes an RSA
 * private key, with or without what the CRT needs; else `none`.
 *
 * keygen/ALGORITHM/BACKEND/none: a new key pair.
 *
 * key-steps/ALGORITHM/BACKEND/USE/STEP: one step of an operation by itself:
 * allocate, import, prepare, operate; whole: all four, as with a key that is
 * imported each time. USE: one of these; RSA keys with what the CRT needs.
 */
#include <string.h>

#include "asym_case.h"

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

static int need_use(const struct bench_case *c, enum asym_use use, struct error *err)
{
	if (c->asym->uses & 1u << use)
		return 0;
	return case_wrong(err, "%s does not %s", c->asym->title, use_names[use]);
}

static enum asym_use use_of(const struct bench_case *c)
{
	return (enum asym_use)case_choice(c->workload_name, use_names, "", NULL);
}

static int operation_parse(struct bench_case *c, struct error *err)
{
	enum asym_use use = use_of(c);
	bool rsa = c->asym->kind == ASYM_RSA && asym_is_private(use);
	int ret = need_use(c, use, err);

	if (!ret && rsa != !!strcmp(c->parameters, "none"))
		ret = case_wrong(err,
				 rsa ? "\"%s\" is not a kind of RSA key (crt, plain)" :
				       "\"%s\" is of RSA's private keys: write \"none\"",
				 c->parameters);
	return ret ? ret : asym_case_parse(c, err);
}

static int operation_prepare(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;

	k->step = ASYM_OPERATE;
	k->plain = !strcmp(c->parameters, "plain");
	return asym_case_open(c, use_of(c), err);
}

/* Returns the first use of an algorithm that takes the private key. */
static enum asym_use private_use(const struct asym_algorithm *alg)
{
	int use = ASYM_SIGN;

	while (!asym_is_private((enum asym_use)use) || !(alg->uses & 1u << use))
		use++;
	return (enum asym_use)use;
}

static int keygen_parse(struct bench_case *c, struct error *err)
{
	if (private_use(c->asym) == ASYM_DECRYPT)
		return case_wrong(err, "a key pair of %s is made as one to sign by: keygen/rsa-%u",
				  c->asym->title, c->asym->bits);
	c->loops_max = 1; /* each sample is one of a distribution */
	return asym_case_parse(c, err);
}

static int keygen_prepare(struct bench_case *c, struct error *err)
{
	struct asym_case *k = c->state;

	k->generate = true;
	return asym_case_open(c, private_use(c->asym), err);
}

static int steps_parse(struct bench_case *c, struct error *err)
{
	int ret = need_use(c, (enum asym_use)c->part[0].word, err);

	if (!ret)
		ret = asym_case_parse(c, err);
	if (c->part[1].word < ASYM_OPERATE)
		c->loops_max = 0; /* these are short */
	return ret;
}

static int steps_prepare(struct bench_case *c, struct error *err)
{
	((struct asym_case *)c->state)->step = (enum asym_step)c->part[1].word;
	return asym_case_open(c, (enum asym_use)c->part[0].word, err);
}

/*
 * Tries whether the backend takes a published key: for the use of the case, or, if it has steps of
 * several uses, the private one.
 */
static int asym_probe(struct bench_case *c, struct error *err)
{
	int use = case_choice(c->workload_name, use_names, "", NULL), ret;

	/* A backend without keys of its own has no steps, either. */
	((struct asym_case *)c->state)->step = use < 0 && !c->backend->generate ? ASYM_STEPS :
										  ASYM_OPERATE;
	ret = asym_case_open(c, use < 0 ? private_use(c->asym) : (enum asym_use)use, err);
	return ret ? ret : asym_case_ready(c->state, 1, err);
}

#define OF_ASYM                                                                                   \
	.asym = true, .terms = { { "USE", use_names }, { "STEP", step_words } },                  \
	.state_size = sizeof(struct asym_case), .ready = asym_case_ready, .once = asym_case_once, \
	.verify = asym_case_verify, .check = asym_case_check, .ta_clock = true, .refereed = true, \
	.facts = asym_case_facts, .teardown = asym_case_teardown, .probe = asym_probe

#define USE_OF_KEY(NAME, SUMMARY, PARAMETERS)     \
	const struct workload workload_##NAME = { \
		.name = #NAME,                    \
		.summary = SUMMARY,               \
		.parameters = PARAMETERS,         \
		.parse = operation_parse,         \
		.prepare = operation_prepare,     \
		OF_ASYM,                          \
	}

USE_OF_KEY(sign, "a digest signed", "crt|plain|none");
USE_OF_KEY(verify, "a signature verified", "none");
USE_OF_KEY(derive, "a shared secret agreed on", "none");
USE_OF_KEY(encrypt, "a short message encrypted", "none");
USE_OF_KEY(decrypt, "a short message decrypted", "crt|plain");
USE_OF_KEY(encapsulate, "a secret made, and sealed for a key", "none");
USE_OF_KEY(decapsulate, "a sealed secret opened", "none");

const struct workload workload_keygen = {
	.name = "keygen",
	.summary = "a new key pair",
	.parameters = "none",
	.parse = keygen_parse,
	.prepare = keygen_prepare,
	OF_ASYM,
};

const struct workload workload_key_steps = {
	.name = "key-steps",
	.summary = "one step of an operation with an asymmetric key",
	.parameters = "USE/STEP",
	.parse = steps_parse,
	.prepare = steps_prepare,
	OF_ASYM,
};
