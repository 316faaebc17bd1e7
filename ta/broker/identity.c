/* SPDX-License-Identifier: BSD-2-Clause */
#include "broker.h"

#include <teemark/low_order.h>

#define BITS 256

/* Reads an attribute of 32 bytes. */
static TEE_Result value(TEE_ObjectHandle object, uint32_t attribute, uint8_t out[32])
{
	tee_size len = 32;
	TEE_Result res = TEE_GetObjectBufferAttribute(object, attribute, out, &len);

	return !res && len != 32 ? TEE_ERROR_CORRUPT_OBJECT : res;
}

TEE_Result identity_public(uint8_t public[TZ_PUBLIC_BYTES])
{
	TEE_Result res = clients_make();

	return res ? res : value(broker.registry, TEE_ATTR_X25519_PUBLIC_VALUE, public);
}

TEE_Result identity(struct session *session, TEE_Param *params)
{
	uint8_t public[TZ_PUBLIC_BYTES];
	TEE_Result res = check_output(&params[0], sizeof(public));

	if (!res)
		res = identity_public(public);
	if (!res)
		put_output(&params[0], public, sizeof(public));
	return res;
}

/* Computes the X25519 secret of the enrolment key and another public half. */
static TEE_Result x25519(const uint8_t theirs[TZ_PUBLIC_BYTES], uint8_t secret[32])
{
	TEE_OperationHandle operation = TEE_HANDLE_NULL;
	TEE_ObjectHandle object = TEE_HANDLE_NULL;
	TEE_Attribute public;
	TEE_Result res = TEE_AllocateOperation(&operation, TEE_ALG_X25519, TEE_MODE_DERIVE, BITS);

	TEE_InitRefAttribute(&public, TEE_ATTR_X25519_PUBLIC_VALUE, (void *)theirs,
			     TZ_PUBLIC_BYTES);
	if (!res)
		res = TEE_SetOperationKey(operation, broker.registry);
	if (!res)
		res = TEE_AllocateTransientObject(TEE_TYPE_GENERIC_SECRET, BITS, &object);
	if (!res) {
		TEE_DeriveKey(operation, &public, 1, object);
		res = value(object, TEE_ATTR_SECRET_VALUE, secret);
	}
	TEE_FreeTransientObject(object);
	operation_free(operation);
	return res;
}

static TEE_Result hmac(const uint8_t key[32], const void *data, size_t len, uint8_t mac[32])
{
	TEE_OperationHandle operation = TEE_HANDLE_NULL;
	TEE_ObjectHandle object = TEE_HANDLE_NULL;
	TEE_Attribute secret;
	tee_size mac_len = 32;
	TEE_Result res = TEE_AllocateOperation(&operation, TEE_ALG_HMAC_SHA256, TEE_MODE_MAC, BITS);

	TEE_InitRefAttribute(&secret, TEE_ATTR_SECRET_VALUE, (void *)key, 32);
	if (!res)
		res = TEE_AllocateTransientObject(TEE_TYPE_HMAC_SHA256, BITS, &object);
	if (!res)
		res = TEE_PopulateTransientObject(object, &secret, 1);
	if (!res)
		res = TEE_SetOperationKey(operation, object);
	if (!res) {
		TEE_MACInit(operation, NULL, 0);
		res = TEE_MACComputeFinal(operation, data, len, mac, &mac_len);
	}
	TEE_FreeTransientObject(object);
	operation_free(operation);
	return res;
}

TEE_Result hkdf(const void *secret, size_t len, uint8_t *info, size_t info_len,
		uint8_t key[TZ_KEY_BYTES])
{
	static const uint8_t no_salt[32];
	uint8_t extracted[32];
	TEE_Result res = hmac(no_salt, secret, len, extracted);

	info[info_len] = 1;
	if (!res)
		res = hmac(extracted, info, info_len + 1, key);
	wipe(extracted, sizeof(extracted));
	return res;
}

TEE_Result identity_agree(enum tz_order order, const struct text *id,
			  const uint8_t theirs[TZ_PUBLIC_BYTES], uint8_t key[TZ_KEY_BYTES])
{
	uint8_t info[TZ_INFO_MAX + 1], ours[TZ_PUBLIC_BYTES], secret[32];
	TEE_Result res = TEE_ERROR_BAD_FORMAT;

	if (!is_low_order(theirs, TZ_PUBLIC_BYTES))
		res = identity_public(ours);
	if (!res)
		res = x25519(theirs, secret);
	if (!res)
		res = hkdf(secret, sizeof(secret), info,
			   tz_info(info, order, theirs, ours, id->at, id->len), key);
	wipe(secret, sizeof(secret));
	return res;
}

TEE_Result identity_unwrap(const struct gcm_class *class, const struct text *id,
			   const uint8_t wrapped[TZ_WRAPPED_BYTES], uint8_t key[TZ_KEY_BYTES])
{
	static const uint8_t no_nonce[TZ_NONCE_BYTES];
	uint8_t wrapping[TZ_KEY_BYTES], tag[TZ_TAG_BYTES];
	struct gcm_message gcm;
	struct gcm_key expanded;
	TEE_Result res = identity_agree(TZ_ENROL, id, wrapped, wrapping);

	if (res)
		return res;
	class->set_key(&expanded, wrapping);
	gcm_begin(&gcm, no_nonce);
	class->authenticate(&gcm, &expanded, id->at, id->len);
	class->crypt(&gcm, &expanded, false, wrapped + TZ_PUBLIC_BYTES, key, TZ_KEY_BYTES);
	class->tag(&gcm, &expanded, tag);
	if (!same_bytes(tag, wrapped + TZ_PUBLIC_BYTES + TZ_KEY_BYTES, TZ_TAG_BYTES)) {
		wipe(key, TZ_KEY_BYTES);
		res = TEE_ERROR_MAC_INVALID;
	}
	wipe(&expanded, sizeof(expanded));
	wipe(wrapping, sizeof(wrapping));
	return res;
}
