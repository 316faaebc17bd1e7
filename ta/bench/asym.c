/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asymmetric algorithms of the TEE Internal Core API, step by step. The API panics at a step out of
 * sequence or a wrong length, so both are checked here. All inputs are copied before use: compared
 * with a signature, copying costs nothing.
 */
#include "session.h"

#include <teemark/low_order.h>

/* The parts of a key, in the order in which they are sent (asym.h). */
enum part { PUBLIC, PRIVATE, CRT };

static const struct field {
	uint8_t kind, part;
	uint32_t id; /* TEE_ATTR_*; 0: given in the algorithm's row */
} fields[] = {
	{ ASYM_RSA, PUBLIC, TEE_ATTR_RSA_MODULUS },
	{ ASYM_RSA, PUBLIC, TEE_ATTR_RSA_PUBLIC_EXPONENT },
	{ ASYM_RSA, PRIVATE, TEE_ATTR_RSA_PRIVATE_EXPONENT },
	{ ASYM_RSA, CRT, TEE_ATTR_RSA_PRIME1 },
	{ ASYM_RSA, CRT, TEE_ATTR_RSA_PRIME2 },
	{ ASYM_RSA, CRT, TEE_ATTR_RSA_EXPONENT1 },
	{ ASYM_RSA, CRT, TEE_ATTR_RSA_EXPONENT2 },
	{ ASYM_RSA, CRT, TEE_ATTR_RSA_COEFFICIENT },
	{ ASYM_EC, PUBLIC, TEE_ATTR_ECC_PUBLIC_VALUE_X },
	{ ASYM_EC, PUBLIC, TEE_ATTR_ECC_PUBLIC_VALUE_Y },
	{ ASYM_EC, PRIVATE, TEE_ATTR_ECC_PRIVATE_VALUE },
	{ ASYM_RAW, PUBLIC, 0 },
	{ ASYM_RAW, PRIVATE, 0 },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Most attributes of a key: RSA's eight, or a few and a curve. */
#define ATTRIBUTES_MAX 9

/* Returns the next field of the algorithm's keys after `last`, up to part `most`; NULL: no more. */
static const struct field *next_field(const struct asym_algorithm *alg, enum part most,
				      const struct field *last)
{
	const struct field *field = last ? last + 1 : fields;

	for (; field < fields + FIELDS; field++)
		if (field->kind == alg->kind && field->part <= most)
			return field;
	return NULL;
}

static uint32_t id_of(const struct asym_algorithm *alg, const struct field *field)
{
	if (field->id)
		return field->id;
	return field->part == PUBLIC ? alg->tee_public_value : alg->tee_private_value;
}

static size_t bytes_of(const struct asym_algorithm *alg, const struct field *field)
{
	if (field->id == TEE_ATTR_RSA_PUBLIC_EXPONENT)
		return ASYM_EXPONENT_BYTES;
	return field->part == CRT ? alg->value_bytes / 2u : alg->value_bytes;
}

/* Lists the attributes of the key at address `at`; returns their number. */
static uint32_t split(const struct asym_algorithm *alg, enum part most, uint8_t *at,
		      TEE_Attribute list[ATTRIBUTES_MAX])
{
	const struct field *field = NULL;
	uint32_t count = 0;

	while ((field = next_field(alg, most, field))) {
		TEE_InitRefAttribute(&list[count++], id_of(alg, field), at, bytes_of(alg, field));
		at += bytes_of(alg, field);
	}
	return count;
}

/* Adds the curve's attribute; not for SM2, which has only one curve, so OP-TEE refuses it. */
static uint32_t add_curve(const struct asym_algorithm *alg, uint32_t count,
			  TEE_Attribute list[ATTRIBUTES_MAX])
{
	if (alg->kind != ASYM_EC || alg->tee_curve == 0x400)
		return count;
	TEE_InitValueAttribute(&list[count], TEE_ATTR_ECC_CURVE, alg->tee_curve, 0);
	return count + 1;
}

void asym_close(struct asym *asym)
{
	operation_free(asym->operation);
	TEE_FreeTransientObject(asym->key);
	TEE_MemFill(asym, 0, sizeof(*asym));
}

TEE_Result asym_says(struct session *session, TEE_Param *params)
{
	const struct asym_algorithm *alg = asym_by_id(params[0].value.a);

	if (!alg || !alg->tee)
		return TEE_ERROR_NOT_SUPPORTED;
	params[1].value.a = !TEE_IsAlgorithmSupported(alg->tee, alg->tee_curve);
	params[1].value.b = 0;
	return TEE_SUCCESS;
}

TEE_Result asym_allocate(struct session *session, TEE_Param *params)
{
	static const uint32_t modes[ASYM_USES] = {
		[ASYM_SIGN] = TEE_MODE_SIGN,       [ASYM_VERIFY] = TEE_MODE_VERIFY,
		[ASYM_DERIVE] = TEE_MODE_DERIVE,   [ASYM_ENCRYPT] = TEE_MODE_ENCRYPT,
		[ASYM_DECRYPT] = TEE_MODE_DECRYPT,
	};
	const struct asym_algorithm *alg = asym_by_id(params[0].value.a);
	uint32_t use = params[0].value.b, type = 0;
	struct asym *asym = &session->asym;
	TEE_Result res = TEE_SUCCESS;

	if (!alg || !alg->tee || use >= ASYM_USES || !(alg->uses & 1u << use))
		return TEE_ERROR_NOT_SUPPORTED;
	asym_close(asym);
	/* Public key types lack this bit of the key pair types. */
	type = asym_is_private(use) ? alg->tee_pair : alg->tee_pair & ~0x01000000u;
	res = TEE_AllocateTransientObject(type, alg->bits, &asym->key);
	if (!res)
		res = TEE_AllocateOperation(&asym->operation, alg->tee, modes[use], alg->bits);
	if (res) {
		asym_close(asym);
		return res;
	}
	asym->alg = alg;
	asym->use = use;
	return TEE_SUCCESS;
}

/* Returns true if the number of len bytes, the highest first, is 0 or 1. */
static bool is_tiny(const uint8_t *number, size_t len)
{
	while (len > 1 && !*number)
		number++, len--;
	return len == 1 && *number < 2;
}

/*
 * Returns true if each number of an RSA key may be what it is sent as: none is 0 or 1, only the
 * coefficient may be even, and modulus and primes have all of their bits. At others OP-TEE ends the
 * session. Whether the numbers belong together isn't checked.
 */
static bool rsa_ok(const struct asym_algorithm *alg, enum part most, const uint8_t *at)
{
	const struct field *field = NULL;

	while ((field = next_field(alg, most, field))) {
		size_t len = bytes_of(alg, field);
		bool full = field->id == TEE_ATTR_RSA_MODULUS || field->id == TEE_ATTR_RSA_PRIME1 ||
			    field->id == TEE_ATTR_RSA_PRIME2;

		if (is_tiny(at, len) || (full && !(at[0] & 0x80)) ||
		    (field->id != TEE_ATTR_RSA_COEFFICIENT && !(at[len - 1] & 1)))
			return false;
		at += len;
	}
	return true;
}

/* Empties the key object for another key. The operation has its own copy of the key. */
static void empty_key(struct asym *asym)
{
	TEE_ResetTransientObject(asym->key);
	asym->have_key = false;
}

TEE_Result asym_import(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	const struct asym_algorithm *alg = asym->alg;
	const struct input in = input_of(&params[0]);
	TEE_Attribute list[ATTRIBUTES_MAX];
	enum part most = PUBLIC;
	size_t len = 0;
	uint32_t count = 0;
	TEE_Result res = TEE_SUCCESS;

	if (!alg)
		return TEE_ERROR_BAD_STATE;
	len = asym_public_bytes(alg);
	if (asym_is_private(asym->use)) {
		most = alg->kind == ASYM_RSA && in.len == len + asym_private_bytes(alg, true) ?
			       CRT :
			       PRIVATE;
		len += asym_private_bytes(alg, most == CRT);
	}
	if (in.len != len)
		return TEE_ERROR_BAD_PARAMETERS;
	TEE_MemMove(session->buffer, in.data, len);
	empty_key(asym);
	if (alg->kind == ASYM_RSA && !rsa_ok(alg, most, session->buffer))
		res = TEE_ERROR_BAD_PARAMETERS;
	count = split(alg, most, session->buffer, list);
	if (!res)
		res = TEE_PopulateTransientObject(asym->key, list, add_curve(alg, count, list));
	asym->have_key = !res;
	TEE_MemFill(session->buffer, 0, len);
	return res;
}

TEE_Result asym_generate(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	TEE_Attribute list[ATTRIBUTES_MAX];
	TEE_Result res = TEE_SUCCESS;

	if (!asym->alg || !asym_is_private(asym->use))
		return TEE_ERROR_BAD_STATE;
	empty_key(asym);
	res = TEE_GenerateKey(asym->key, asym->alg->bits, list, add_curve(asym->alg, 0, list));
	asym->have_key = !res;
	return res;
}

/* Reads an attribute of the key as a number of len bytes, with leading zeros. */
static TEE_Result get_number(const struct asym *asym, uint32_t id, uint8_t *out, size_t len)
{
	tee_size got = len;
	TEE_Result res = TEE_GetObjectBufferAttribute(asym->key, id, out, &got);

	if (res)
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
	const struct field *field = NULL;
	size_t len = 0, at = 0;
	TEE_Result res = TEE_SUCCESS;

	if (!asym->have_key)
		return TEE_ERROR_BAD_STATE;
	len = asym_public_bytes(asym->alg);
	res = check_output(&params[0], len);
	if (res)
		return res;
	while (!res && (field = next_field(asym->alg, PUBLIC, field))) {
		size_t n = bytes_of(asym->alg, field);

		res = get_number(asym, id_of(asym->alg, field), session->buffer + at, n);
		at += n;
	}
	if (!res)
		put_output(&params[0], session->buffer, len);
	TEE_MemFill(session->buffer, 0, len);
	return res;
}

TEE_Result asym_prepare(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	TEE_Result res = TEE_SUCCESS;

	if (!asym->have_key)
		return TEE_ERROR_BAD_STATE;
	if (asym->prepared)
		TEE_ResetOperation(asym->operation);
	res = TEE_SetOperationKey(asym->operation, asym->key);
	asym->prepared = !res;
	return res;
}

/* Returns true if the operation takes an input of len bytes. */
static bool length_ok(const struct asym *asym, size_t len)
{
	const struct asym_algorithm *alg = asym->alg;

	if (len > ASYM_IN_MAX_BYTES)
		return false;
	switch (asym->use) {
	case ASYM_SIGN:
	case ASYM_VERIFY:
		return !alg->digest_bytes || len == alg->digest_bytes;
	case ASYM_DERIVE:
		return len == asym_public_bytes(alg);
	case ASYM_ENCRYPT: /* OAEP with SHA-256: RFC 8017, 7.1.1 */
		return len + 2 * 32 + 2 <= alg->value_bytes;
	default:
		return len == alg->out_bytes;
	}
}

/* Copies the input, after checking its length. */
static TEE_Result take_in(const struct asym *asym, const TEE_Param *param,
			  uint8_t copy[ASYM_IN_MAX_BYTES], size_t *len)
{
	const struct input in = input_of(param);

	if (!asym->prepared)
		return TEE_ERROR_BAD_STATE;
	if (!length_ok(asym, in.len))
		return TEE_ERROR_BAD_PARAMETERS;
	if (in.len)
		TEE_MemMove(copy, in.data, in.len);
	*len = in.len;
	return TEE_SUCCESS;
}

static TEE_Result derive(const struct asym *asym, uint8_t *peer, uint8_t *out, tee_size *out_len)
{
	TEE_ObjectHandle secret = TEE_HANDLE_NULL;
	TEE_Attribute list[ATTRIBUTES_MAX];
	TEE_Result res = TEE_AllocateTransientObject(TEE_TYPE_GENERIC_SECRET,
						     8u * asym->alg->value_bytes, &secret);

	if (!res && asym->alg->kind == ASYM_RAW && is_low_order(peer, asym->alg->value_bytes))
		res = TEE_ERROR_BAD_PARAMETERS;
	if (res) {
		TEE_FreeTransientObject(secret);
		return res;
	}
	TEE_DeriveKey(asym->operation, list, split(asym->alg, PUBLIC, peer, list), secret);
	res = TEE_GetObjectBufferAttribute(secret, TEE_ATTR_SECRET_VALUE, out, out_len);
	TEE_FreeTransientObject(secret);
	return res;
}

TEE_Result asym_operate(struct session *session, TEE_Param *params)
{
	static const __typeof__(&TEE_AsymmetricEncrypt) functions[ASYM_USES] = {
		[ASYM_SIGN] = TEE_AsymmetricSignDigest,
		[ASYM_ENCRYPT] = TEE_AsymmetricEncrypt,
		[ASYM_DECRYPT] = TEE_AsymmetricDecrypt,
	};
	struct asym *asym = &session->asym;
	uint8_t *in = session->buffer, *out = in + ASYM_IN_MAX_BYTES;
	tee_size out_len = ASYM_VALUE_MAX_BYTES;
	size_t len = 0;
	TEE_Result res = take_in(asym, &params[0], in, &len);

	if (res)
		return res;
	/* The length of a plaintext is only known after decryption. */
	if (asym->use != ASYM_DECRYPT)
		res = check_output(&params[1], asym->alg->out_bytes);
	if (!res && asym->use == ASYM_DERIVE)
		res = derive(asym, in, out, &out_len);
	else if (!res && functions[asym->use])
		res = functions[asym->use](asym->operation, NULL, 0, in, len, out, &out_len);
	else if (!res)
		res = TEE_ERROR_BAD_STATE;
	if (!res && asym->use == ASYM_DECRYPT)
		res = check_output(&params[1], out_len);
	else if (!res && out_len != asym->alg->out_bytes)
		res = TEE_ERROR_GENERIC;
	if (!res)
		put_output(&params[1], out, out_len);
	TEE_MemFill(in, 0, ASYM_IN_MAX_BYTES + ASYM_VALUE_MAX_BYTES);
	return res;
}

TEE_Result asym_verify(struct session *session, TEE_Param *params)
{
	struct asym *asym = &session->asym;
	const struct input given = input_of(&params[1]);
	uint8_t *in = session->buffer, *signature = in + ASYM_IN_MAX_BYTES;
	size_t len = 0;
	TEE_Result res = TEE_SUCCESS;

	if (asym->use != ASYM_VERIFY)
		return TEE_ERROR_BAD_STATE;
	res = take_in(asym, &params[0], in, &len);
	if (!res && given.len != asym->alg->out_bytes)
		res = TEE_ERROR_BAD_PARAMETERS;
	if (res)
		return res;
	TEE_MemMove(signature, given.data, given.len);
	return TEE_AsymmetricVerifyDigest(asym->operation, NULL, 0, in, len, signature, given.len);
}
