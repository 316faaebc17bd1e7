/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asymmetric algorithms of the TEE Internal Core API, step by step. A step out
 * of sequence or a length that the API doesn't take panics there, so both are
 * checked here. Everything is copied before it is used: against one signature
 * a copy costs nothing.
 */
#include "session.h"

void asym_close(struct asym *asym)
{
	operation_free(asym->operation);
	TEE_FreeTransientObject(asym->key);
	TEE_MemFill(asym, 0, sizeof(*asym));
}

TEE_Result asym_says(struct session *session, TEE_Param *params)
{
	const struct asym_algorithm *alg = asym_by_id(params[0].value.a);

	(void)session;

	if (!alg)
		return TEE_ERROR_NOT_SUPPORTED;
	params[1].value.a =
		TEE_IsAlgorithmSupported(alg->tee, alg->tee_curve) ==
		TEE_SUCCESS;
	params[1].value.b = 0;
	return TEE_SUCCESS;
}

static uint32_t mode_of(enum asym_use use)
{
	switch (use) {
	case ASYM_SIGN:
		return TEE_MODE_SIGN;
	case ASYM_VERIFY:
		return TEE_MODE_VERIFY;
	case ASYM_DERIVE:
		return TEE_MODE_DERIVE;
	case ASYM_ENCRYPT:
		return TEE_MODE_ENCRYPT;
	case ASYM_DECRYPT:
	case ASYM_USES:
		break;
	}
	return TEE_MODE_DECRYPT;
}

TEE_Result asym_allocate(struct session *session, TEE_Param *params)
{
	const struct asym_algorithm *alg = asym_by_id(params[0].value.a);
	uint32_t use = params[0].value.b;
	struct asym *asym = &session->asym;
	uint32_t type = 0;
	TEE_Result res = TEE_SUCCESS;

	if (!alg || use >= ASYM_USES || !(alg->uses & 1u << use))
		return TEE_ERROR_NOT_SUPPORTED;

	asym_close(asym);
	/* The types of pairs and of public keys differ in this bit. */
	type = asym_is_private(use) ? alg->tee_pair :
				      alg->tee_pair & ~0x01000000u;
	res = TEE_AllocateTransientObject(type, alg->bits, &asym->key);
	if (res == TEE_SUCCESS)
		res = TEE_AllocateOperation(&asym->operation, alg->tee,
					    mode_of(use), alg->bits);
	if (res != TEE_SUCCESS) {
		asym_close(asym);
		return res;
	}
	asym->alg = alg;
	asym->use = use;
	return TEE_SUCCESS;
}

/* Attributes that are being collected, and the key's next bytes. */
struct parts {
	TEE_Attribute list[9];
	uint32_t count;
	uint8_t *at;
};

static void add(struct parts *parts, uint32_t id, size_t len)
{
	TEE_InitRefAttribute(&parts->list[parts->count++], id, parts->at, len);
	parts->at += len;
}

static void add_curve(struct parts *parts, const struct asym_algorithm *alg)
{
	TEE_InitValueAttribute(&parts->list[parts->count++], TEE_ATTR_ECC_CURVE,
			       alg->tee_curve, 0);
}

/* SM2 is bound to its curve; OP-TEE takes no such attribute there. */
static bool takes_curve(const struct asym_algorithm *alg)
{
	return alg->kind == ASYM_EC && alg->tee_curve != 0x400;
}

static void split(struct parts *parts, const struct asym_algorithm *alg,
		  bool private, bool crt)
{
	static const uint32_t crt_ids[] = {
		TEE_ATTR_RSA_PRIME1,      TEE_ATTR_RSA_PRIME2,
		TEE_ATTR_RSA_EXPONENT1,   TEE_ATTR_RSA_EXPONENT2,
		TEE_ATTR_RSA_COEFFICIENT,
	};
	size_t len = alg->value_bytes;

	switch ((enum asym_kind)alg->kind) {
	case ASYM_RSA:
		add(parts, TEE_ATTR_RSA_MODULUS, len);
		add(parts, TEE_ATTR_RSA_PUBLIC_EXPONENT, ASYM_EXPONENT_BYTES);
		if (private)
			add(parts, TEE_ATTR_RSA_PRIVATE_EXPONENT, len);
		for (size_t i = 0; crt && i < 5; i++)
			add(parts, crt_ids[i], len / 2);
		break;
	case ASYM_EC:
		add(parts, TEE_ATTR_ECC_PUBLIC_VALUE_X, len);
		add(parts, TEE_ATTR_ECC_PUBLIC_VALUE_Y, len);
		if (private)
			add(parts, TEE_ATTR_ECC_PRIVATE_VALUE, len);
		if (takes_curve(alg))
			add_curve(parts, alg);
		break;
	case ASYM_RAW:
		add(parts, alg->tee_public_value, len);
		if (private)
			add(parts, alg->tee_private_value, len);
		break;
	}
}

/* The object takes another key; the operation keeps its own copy. */
static void empty_key(struct asym *asym)
{
	TEE_ResetTransientObject(asym->key);
	asym->have_key = false;
}

TEE_Result asym_import(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	const struct asym_algorithm *alg = asym->alg;
	struct parts parts = { .at = session->buffer };
	struct input in = { 0 };
	bool private = false, crt = false;
	size_t len = 0;
	TEE_Result res = TEE_SUCCESS;

	if (!alg)
		return TEE_ERROR_BAD_STATE;
	res = get_input(&in, &params[0]);
	if (res != TEE_SUCCESS)
		return res;
	private = asym_is_private(asym->use);
	len = asym_public_bytes(alg);
	if (private) {
		crt = alg->kind == ASYM_RSA &&
		      in.len == len + asym_private_bytes(alg, true);
		len += asym_private_bytes(alg, crt);
	}
	if (in.len != len)
		return TEE_ERROR_BAD_PARAMETERS;

	TEE_MemMove(session->buffer, in.data, len);
	empty_key(asym);
	split(&parts, alg, private, crt);
	res = TEE_PopulateTransientObject(asym->key, parts.list, parts.count);
	asym->have_key = res == TEE_SUCCESS;
	TEE_MemFill(session->buffer, 0, len);
	return res;
}

TEE_Result asym_generate(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	struct parts parts = { .at = session->buffer };
	TEE_Result res = TEE_SUCCESS;

	(void)params;

	if (!asym->alg || !asym_is_private(asym->use))
		return TEE_ERROR_BAD_STATE;
	empty_key(asym);
	if (takes_curve(asym->alg))
		add_curve(&parts, asym->alg);
	res = TEE_GenerateKey(asym->key, asym->alg->bits, parts.list,
			      parts.count);
	asym->have_key = res == TEE_SUCCESS;
	return res;
}

/* A number of the key, with leading zeros to len bytes. */
static TEE_Result get_number(const struct asym *asym, uint32_t id, uint8_t *out,
			     size_t len)
{
	tee_size got = len;
	TEE_Result res = TEE_GetObjectBufferAttribute(asym->key, id, out, &got);

	if (res != TEE_SUCCESS)
		return res;
	if (got > len)
		return TEE_ERROR_GENERIC;
	TEE_MemMove(out + (len - got), out, got);
	TEE_MemFill(out, 0, len - got);
	return TEE_SUCCESS;
}

TEE_Result asym_public(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	const struct asym_algorithm *alg = asym->alg;
	uint8_t *out = session->buffer;
	TEE_Result res = TEE_SUCCESS;
	size_t len = 0, one = 0;

	if (!asym->have_key)
		return TEE_ERROR_BAD_STATE;
	len = asym_public_bytes(alg);
	one = alg->value_bytes;
	res = check_output(&params[0], len);
	if (res != TEE_SUCCESS)
		return res;
	switch ((enum asym_kind)alg->kind) {
	case ASYM_RSA:
		res = get_number(asym, TEE_ATTR_RSA_MODULUS, out, one);
		if (res == TEE_SUCCESS)
			res = get_number(asym, TEE_ATTR_RSA_PUBLIC_EXPONENT,
					 out + one, ASYM_EXPONENT_BYTES);
		break;
	case ASYM_EC:
		res = get_number(asym, TEE_ATTR_ECC_PUBLIC_VALUE_X, out, one);
		if (res == TEE_SUCCESS)
			res = get_number(asym, TEE_ATTR_ECC_PUBLIC_VALUE_Y,
					 out + one, one);
		break;
	case ASYM_RAW:
		res = get_number(asym, alg->tee_public_value, out, one);
		break;
	}
	if (res == TEE_SUCCESS)
		put_output(&params[0], out, len);
	TEE_MemFill(out, 0, len);
	return res;
}

TEE_Result asym_prepare(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	TEE_Result res = TEE_SUCCESS;

	(void)params;

	if (!asym->have_key)
		return TEE_ERROR_BAD_STATE;
	if (asym->prepared)
		TEE_ResetOperation(asym->operation);
	res = TEE_SetOperationKey(asym->operation, asym->key);
	asym->prepared = res == TEE_SUCCESS;
	return res;
}

/* A copy of what goes in, of a length that the operation takes. */
static TEE_Result take_in(const struct asym *asym, const TEE_Param *param,
			  uint8_t copy[ASYM_IN_MAX_BYTES], size_t *len)
{
	const struct asym_algorithm *alg = asym->alg;
	struct input in = { 0 };
	bool fits = false;
	TEE_Result res = TEE_SUCCESS;

	if (!asym->prepared)
		return TEE_ERROR_BAD_STATE;
	res = get_input(&in, param);
	if (res != TEE_SUCCESS)
		return res;
	switch (asym->use) {
	case ASYM_SIGN:
	case ASYM_VERIFY:
		fits = !alg->digest_bytes || in.len == alg->digest_bytes;
		break;
	case ASYM_DERIVE:
		fits = in.len == asym_public_bytes(alg);
		break;
	case ASYM_ENCRYPT: /* RFC 8017, 7.1.1; by SHA-256 */
		fits = in.len + 2 * 32 + 2 <= alg->value_bytes;
		break;
	case ASYM_DECRYPT:
		fits = in.len == alg->out_bytes;
		break;
	case ASYM_USES:
		break;
	}
	if (!fits || in.len > ASYM_IN_MAX_BYTES)
		return TEE_ERROR_BAD_PARAMETERS;
	if (in.len)
		TEE_MemMove(copy, in.data, in.len);
	*len = in.len;
	return TEE_SUCCESS;
}

static TEE_Result derive(const struct asym *asym, uint8_t *peer, uint8_t *out,
			 tee_size *out_len)
{
	const struct asym_algorithm *alg = asym->alg;
	struct parts parts = { .at = peer };
	TEE_ObjectHandle secret = TEE_HANDLE_NULL;
	TEE_Result res = TEE_AllocateTransientObject(TEE_TYPE_GENERIC_SECRET,
						     8u * alg->value_bytes,
						     &secret);

	if (res != TEE_SUCCESS)
		return res;
	if (alg->kind == ASYM_EC) {
		add(&parts, TEE_ATTR_ECC_PUBLIC_VALUE_X, alg->value_bytes);
		add(&parts, TEE_ATTR_ECC_PUBLIC_VALUE_Y, alg->value_bytes);
	} else {
		add(&parts, alg->tee_public_value, alg->value_bytes);
	}
	TEE_DeriveKey(asym->operation, parts.list, parts.count, secret);
	res = TEE_GetObjectBufferAttribute(secret, TEE_ATTR_SECRET_VALUE, out,
					   out_len);
	TEE_FreeTransientObject(secret);
	return res;
}

TEE_Result asym_operate(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	uint8_t *in = session->buffer;
	uint8_t *out = session->buffer + ASYM_IN_MAX_BYTES;
	tee_size out_len = ASYM_VALUE_MAX_BYTES;
	size_t len = 0;
	TEE_Result res = take_in(asym, &params[0], in, &len);

	if (res != TEE_SUCCESS)
		return res;
	/* Of a plaintext the length is known in the end. */
	if (asym->use != ASYM_DECRYPT)
		res = check_output(&params[1], asym->alg->out_bytes);
	if (res != TEE_SUCCESS)
		goto out;
	switch (asym->use) {
	case ASYM_SIGN:
		res = TEE_AsymmetricSignDigest(asym->operation, NULL, 0, in,
					       len, out, &out_len);
		break;
	case ASYM_DERIVE:
		res = derive(asym, in, out, &out_len);
		break;
	case ASYM_ENCRYPT:
		res = TEE_AsymmetricEncrypt(asym->operation, NULL, 0, in, len,
					    out, &out_len);
		break;
	case ASYM_DECRYPT:
		res = TEE_AsymmetricDecrypt(asym->operation, NULL, 0, in, len,
					    out, &out_len);
		if (res == TEE_SUCCESS)
			res = check_output(&params[1], out_len);
		break;
	case ASYM_VERIFY:
	case ASYM_USES:
		res = TEE_ERROR_BAD_STATE;
		break;
	}
	if (res == TEE_SUCCESS && asym->use != ASYM_DECRYPT &&
	    out_len != asym->alg->out_bytes)
		res = TEE_ERROR_GENERIC;
	if (res == TEE_SUCCESS)
		put_output(&params[1], out, out_len);
out:
	TEE_MemFill(in, 0, ASYM_IN_MAX_BYTES + ASYM_VALUE_MAX_BYTES);
	return res;
}

TEE_Result asym_verify(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	uint8_t *in = session->buffer;
	uint8_t *signature = session->buffer + ASYM_IN_MAX_BYTES;
	struct input given = { 0 };
	size_t len = 0;
	TEE_Result res = TEE_SUCCESS;

	if (asym->use != ASYM_VERIFY)
		return TEE_ERROR_BAD_STATE;
	res = take_in(asym, &params[0], in, &len);
	if (res == TEE_SUCCESS)
		res = get_input(&given, &params[1]);
	if (res == TEE_SUCCESS && given.len != asym->alg->out_bytes)
		res = TEE_ERROR_BAD_PARAMETERS;
	if (res != TEE_SUCCESS)
		return res;
	TEE_MemMove(signature, given.data, given.len);
	return TEE_AsymmetricVerifyDigest(asym->operation, NULL, 0, in, len,
					  signature, given.len);
}
