/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asymmetric keys over the backend `openssl`, whose answers the published
 * vectors of the tests judge as well. What OP-TEE's libutee answers with a
 * panic, this does too.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asymmetric.h"
#include "openssl_asym.h"

struct shim_asym {
	struct openssl_asym asym;
	struct buffer in, out;
	struct asym_job job;
	bool has_key;
};

static const struct {
	uint32_t mode;
	enum asym_use use;
} modes[] = {
	{ TEE_MODE_SIGN, ASYM_SIGN },       { TEE_MODE_VERIFY, ASYM_VERIFY },
	{ TEE_MODE_DERIVE, ASYM_DERIVE },   { TEE_MODE_ENCRYPT, ASYM_ENCRYPT },
	{ TEE_MODE_DECRYPT, ASYM_DECRYPT },
};

static int use_of(const struct asym_algorithm *alg, uint32_t mode)
{
	for (size_t i = 0; i < 5; i++)
		if (modes[i].mode == mode && alg->uses & 1u << modes[i].use)
			return modes[i].use;
	return -1;
}

const struct asym_algorithm *shim_asym_of_type(uint32_t type, uint32_t bits)
{
	for (size_t i = 0; i < asym_algorithms_count; i++)
		if (asym_algorithms[i].tee_pair == (type | 0x01000000) &&
		    asym_algorithms[i].bits == bits)
			return &asym_algorithms[i];
	return NULL;
}

const struct asym_algorithm *shim_asym_of(uint32_t tee, uint32_t mode, uint32_t bits)
{
	for (size_t i = 0; i < asym_algorithms_count; i++)
		if (asym_algorithms[i].tee == tee && asym_algorithms[i].bits == bits &&
		    use_of(&asym_algorithms[i], mode) >= 0)
			return &asym_algorithms[i];
	return NULL;
}

bool shim_asym_known(uint32_t tee)
{
	for (size_t i = 0; i < asym_algorithms_count; i++)
		if (tee && asym_algorithms[i].tee == tee)
			return true;
	return false;
}

static struct session *session_of(struct shim_asym *a)
{
	return (struct session *)&a->asym;
}

static void must(int ret, const char *what)
{
	if (ret)
		shim_panic(what);
}

static uint8_t *room(struct buffer *buffer)
{
	buffer->size = ASYM_BUFFER_BYTES;
	return buffer->data = calloc(1, ASYM_BUFFER_BYTES);
}

struct shim_asym *shim_asym_new(const struct asym_algorithm *alg, uint32_t mode)
{
	struct shim_asym *a = calloc(1, sizeof(*a));

	room(&a->in);
	room(&a->out);
	a->job = (struct asym_job){
		.alg = alg, .use = (enum asym_use)use_of(alg, mode), .in = &a->in, .out = &a->out
	};
	must(openssl_asym_open(&a->asym, NULL), "libcrypto");
	must(openssl_asym_step(session_of(a), &a->job, ASYM_ALLOCATE, NULL), "allocate");
	return a;
}

void shim_asym_free(struct shim_asym *a)
{
	if (!a)
		return;
	openssl_asym_close(&a->asym);
	free(a->in.data);
	free(a->out.data);
	free(a);
}

void shim_asym_set_key(struct shim_asym *a, const struct shim_object *key)
{
	if (!key->asym || !key->parts_len || key->asym->tee_pair != a->job.alg->tee_pair ||
	    key->asym->bits != a->job.alg->bits || (asym_is_private(a->job.use) && !key->pair))
		shim_panic("TEE_SetOperationKey: not such a key");
	a->job.key_len = asym_is_private(a->job.use) ? key->parts_len :
						       asym_public_bytes(a->job.alg);
	memcpy(a->in.data + ASYM_KEY_AT, key->parts, a->job.key_len);
	must(openssl_asym_step(session_of(a), &a->job, ASYM_IMPORT, NULL), "import");
	a->has_key = true;
}

void TEE_InitValueAttribute(TEE_Attribute *attribute, uint32_t id, uint32_t a, uint32_t b)
{
	if (id != TEE_ATTR_ECC_CURVE)
		shim_panic("TEE_InitValueAttribute");
	attribute->attributeID = id;
	attribute->content.value.a = a;
	attribute->content.value.b = b;
}

/* The attributes in the order of asym.h; EC ends with the curve. */
static size_t wanted(const struct shim_object *o, uint32_t ids[9], size_t len[9])
{
	static const uint32_t rsa[] = { 0xD0000130, 0xD0000230, 0xC0000330, 0xC0000430,
					0xC0000530, 0xC0000630, 0xC0000730, 0xC0000830 };
	size_t n = o->asym->value_bytes;
	const uint32_t ec[] = { 0xD0000141, 0xD0000241, 0xC0000341 };
	const uint32_t raw[] = { o->asym->tee_public_value, o->asym->tee_private_value };
	const uint32_t *from = o->asym->kind == ASYM_RSA ? rsa :
			       o->asym->kind == ASYM_EC  ? ec :
							   raw;
	size_t public = o->asym->kind == ASYM_RAW ? 1 : 2;
	size_t count = public + (o->pair ? o->asym->kind == ASYM_RSA ? 6 : 1 : 0);

	for (size_t i = 0; i < count; i++) {
		ids[i] = from[i];
		len[i] = o->asym->kind == ASYM_RSA && i > 2 ? n / 2 : n;
	}
	if (o->asym->kind == ASYM_RSA)
		len[1] = ASYM_EXPONENT_BYTES;
	return count;
}

TEE_Result shim_asym_populate(struct shim_object *o, const TEE_Attribute *list, uint32_t count)
{
	uint32_t ids[9];
	size_t len[9], all = wanted(o, ids, len), n = 0;

	if (o->parts_len)
		shim_panic("TEE_PopulateTransientObject: not empty");
	/* Without what the CRT needs. */
	if (o->asym->kind == ASYM_RSA && o->pair && count == 3)
		all = 3;
	for (size_t i = 0; i < all; i++) {
		if (i >= count || list[i].attributeID != ids[i] ||
		    list[i].content.ref.length != len[i])
			shim_panic("TEE_PopulateTransientObject: attributes");
		shim_not_shared(list[i].content.ref.buffer, len[i],
				"TEE_PopulateTransientObject: shared memory");
		memcpy(o->parts + n, list[i].content.ref.buffer, len[i]);
		n += len[i];
	}
	if (o->asym->kind == ASYM_EC && o->asym->tee_curve != 0x400 &&
	    (count != all + 1 || list[all].attributeID != TEE_ATTR_ECC_CURVE ||
	     list[all].content.value.a != o->asym->tee_curve))
		shim_panic("TEE_PopulateTransientObject: curve");
	o->parts_len = n;
	return TEE_SUCCESS;
}

/* A key pair whose private part nobody reads: the published one would do. */
TEE_Result TEE_GenerateKey(TEE_ObjectHandle o, uint32_t bits, const TEE_Attribute *list,
			   uint32_t count)
{
	bool curve = o && o->asym && o->asym->kind == ASYM_EC && o->asym->tee_curve != 0x400;
	struct shim_asym *a;

	if (!o || !o->asym || !o->pair || o->parts_len || o->asym->bits != bits || count != curve ||
	    (curve && list->content.value.a != o->asym->tee_curve))
		shim_panic("TEE_GenerateKey");
	a = shim_asym_new(o->asym, o->asym->uses & 1 ? TEE_MODE_SIGN : TEE_MODE_DERIVE);
	must(openssl_asym_generate(session_of(a), &a->job, NULL), "generate");
	must(openssl_asym_public_key(session_of(a), &a->job, o->parts, NULL), "public key");
	o->parts_len = asym_public_bytes(o->asym);
	shim_asym_free(a);
	if (o->type == TEE_TYPE_X25519_KEYPAIR) {
		shim_agreement_pair(o->parts);
		o->parts_len = 64;
	}
	return TEE_SUCCESS;
}

TEE_Result TEE_GetObjectBufferAttribute(TEE_ObjectHandle o, uint32_t id, void *buffer, size_t *size)
{
	uint32_t ids[9];
	size_t len[9], at = 0, all;
	const uint8_t *from;

	if (o->asym) {
		size_t zeros = 0;

		all = wanted(o, ids, len);
		for (size_t i = 0; i < all; at += len[i], i++)
			if (ids[i] == id)
				all = i;
		at = 0;
		for (size_t i = 0; i < all; i++)
			at += len[i];
		if (at >= o->parts_len || id >> 28 == 0xC)
			shim_panic("TEE_GetObjectBufferAttribute");
		/* OP-TEE gives numbers without leading zeros. */
		while (o->asym->kind != ASYM_RAW && zeros < len[all] - 1 && !o->parts[at + zeros])
			zeros++;
		from = o->parts + at + zeros;
		at = len[all] - zeros;
	} else {
		if (id != TEE_ATTR_SECRET_VALUE || !o->key_len)
			shim_panic("TEE_GetObjectBufferAttribute");
		from = o->key;
		at = o->key_len;
	}
	if (*size < at) {
		*size = at;
		return TEE_ERROR_SHORT_BUFFER;
	}
	memcpy(buffer, from, at);
	*size = at;
	return TEE_SUCCESS;
}

/* One operation; what it answers with -EBADMSG is `refused`. */
static TEE_Result operate(struct shim_asym *a, enum asym_use use, const void *in, size_t in_len,
			  TEE_Result refused)
{
	int ret;

	if (!a || !a->has_key || a->job.use != use)
		shim_panic("an asymmetric operation out of sequence");
	if (in_len > ASYM_IN_MAX_BYTES ||
	    (use <= ASYM_VERIFY && a->job.alg->digest_bytes && a->job.alg->digest_bytes != in_len))
		shim_panic("an asymmetric operation: length");
	shim_not_shared(in, in_len, "an asymmetric operation: shared memory");
	if (in_len)
		memcpy(a->in.data, in, in_len);
	a->job.in_len = in_len;
	ret = openssl_asym_step(session_of(a), &a->job, ASYM_PREPARE, NULL);
	if (!ret)
		ret = openssl_asym_step(session_of(a), &a->job, ASYM_OPERATE, NULL);
	return ret ? refused : TEE_SUCCESS;
}

static TEE_Result result(struct shim_asym *a, TEE_Result res, void *out, size_t *out_len)
{
	if (res != TEE_SUCCESS)
		return res;
	if (*out_len < a->job.out_len) {
		*out_len = a->job.out_len;
		return TEE_ERROR_SHORT_BUFFER;
	}
	memcpy(out, a->out.data, a->job.out_len);
	*out_len = a->job.out_len;
	return TEE_SUCCESS;
}

struct shim_asym *shim_asym_in(TEE_OperationHandle operation);

static TEE_Result plain(TEE_OperationHandle operation, enum asym_use use, const void *in,
			size_t in_len, void *out, size_t *out_len)
{
	struct shim_asym *a = shim_asym_in(operation);

	return result(a, operate(a, use, in, in_len, TEE_ERROR_BAD_PARAMETERS), out, out_len);
}

TEE_Result TEE_AsymmetricSignDigest(TEE_OperationHandle operation, const TEE_Attribute *list,
				    uint32_t count, const void *in, size_t in_len, void *out,
				    size_t *out_len)
{
	(void)list;
	(void)count;
	return plain(operation, ASYM_SIGN, in, in_len, out, out_len);
}

TEE_Result TEE_AsymmetricEncrypt(TEE_OperationHandle operation, const TEE_Attribute *list,
				 uint32_t count, const void *in, size_t in_len, void *out,
				 size_t *out_len)
{
	(void)list;
	(void)count;
	return plain(operation, ASYM_ENCRYPT, in, in_len, out, out_len);
}

TEE_Result TEE_AsymmetricDecrypt(TEE_OperationHandle operation, const TEE_Attribute *list,
				 uint32_t count, const void *in, size_t in_len, void *out,
				 size_t *out_len)
{
	(void)list;
	(void)count;
	return plain(operation, ASYM_DECRYPT, in, in_len, out, out_len);
}

TEE_Result TEE_AsymmetricVerifyDigest(TEE_OperationHandle operation, const TEE_Attribute *list,
				      uint32_t count, const void *in, size_t in_len,
				      const void *signature, size_t len)
{
	struct shim_asym *a = shim_asym_in(operation);

	(void)list;
	(void)count;
	shim_not_shared(signature, len, "TEE_AsymmetricVerifyDigest");
	if (len != a->job.alg->out_bytes)
		shim_panic("TEE_AsymmetricVerifyDigest: length");
	memcpy(a->out.data, signature, len);
	a->job.out_len = len;
	return operate(a, ASYM_VERIFY, in, in_len, TEE_ERROR_SIGNATURE_INVALID);
}

void TEE_DeriveKey(TEE_OperationHandle operation, const TEE_Attribute *list, uint32_t count,
		   TEE_ObjectHandle derived)
{
	struct shim_asym *a = shim_asym_in(operation);
	uint8_t peer[ASYM_IN_MAX_BYTES];
	size_t n = 0;

	if (derived->type != TEE_TYPE_GENERIC_SECRET || derived->key_len)
		shim_panic("TEE_DeriveKey");
	for (uint32_t i = 0; i < count; i++) {
		memcpy(peer + n, list[i].content.ref.buffer, list[i].content.ref.length);
		n += list[i].content.ref.length;
	}
	/* Any bytes are another's raw key; libcrypto refuses some, a TEE none. */
	if (operate(a, ASYM_DERIVE, peer, n, TEE_ERROR_GENERIC) != TEE_SUCCESS) {
		if (a->job.alg->kind != ASYM_RAW)
			shim_panic("TEE_DeriveKey: another's key");
		memset(a->out.data, 0, a->job.alg->out_bytes);
		a->job.out_len = a->job.alg->out_bytes;
	}
	memcpy(derived->key, a->out.data, a->job.out_len);
	derived->key_len = a->job.out_len;
}
