/* SPDX-License-Identifier: BSD-2-Clause */
#include "broker.h"

static char name[] = "identity";

#define BITS 256

#define FLAGS \
	(TEE_DATA_FLAG_ACCESS_READ | TEE_DATA_FLAG_ACCESS_WRITE | TEE_DATA_FLAG_ACCESS_WRITE_META)

static TEE_Result make(TEE_ObjectHandle *object)
{
	TEE_ObjectHandle pair = TEE_HANDLE_NULL;
	TEE_Attribute curve = { 0 };
	TEE_Result res = TEE_AllocateTransientObject(TEE_TYPE_ECDH_KEYPAIR, BITS, &pair);

	if (res)
		return res;
	TEE_InitValueAttribute(&curve, TEE_ATTR_ECC_CURVE, TEE_ECC_CURVE_NIST_P256, 0);
	res = TEE_GenerateKey(pair, BITS, &curve, 1);
	if (!res)
		res = TEE_CreatePersistentObject(TEE_STORAGE_PRIVATE, name, sizeof(name) - 1, FLAGS,
						 pair, NULL, 0, object);
	TEE_FreeTransientObject(pair);
	return res;
}

static TEE_Result get(TEE_ObjectHandle *object)
{
	TEE_Result res = TEE_OpenPersistentObject(TEE_STORAGE_PRIVATE, name, sizeof(name) - 1,
						  FLAGS, object);

	return res == TEE_ERROR_ITEM_NOT_FOUND ? make(object) : res;
}

/* Reads a coordinate, with the zeros in front that a short number lacks. */
static TEE_Result coordinate(TEE_ObjectHandle object, uint32_t attribute,
			     uint8_t out[TZ_POINT_BYTES / 2])
{
	tee_size len = TZ_POINT_BYTES / 2;
	uint8_t number[TZ_POINT_BYTES / 2];
	TEE_Result res = TEE_GetObjectBufferAttribute(object, attribute, number, &len);

	if (res)
		return res;
	TEE_MemFill(out, 0, TZ_POINT_BYTES / 2);
	TEE_MemMove(out + TZ_POINT_BYTES / 2 - len, number, len);
	return TEE_SUCCESS;
}

static TEE_Result point_of(TEE_ObjectHandle pair, uint8_t point[TZ_POINT_BYTES])
{
	TEE_Result res = coordinate(pair, TEE_ATTR_ECC_PUBLIC_VALUE_X, point);

	return res ? res :
		     coordinate(pair, TEE_ATTR_ECC_PUBLIC_VALUE_Y, point + TZ_POINT_BYTES / 2);
}

TEE_Result identity_public(uint8_t point[TZ_POINT_BYTES])
{
	TEE_ObjectHandle pair = TEE_HANDLE_NULL;
	TEE_Result res = get(&pair);

	if (res)
		return res;
	res = point_of(pair, point);
	TEE_CloseObject(pair);
	return res;
}

/* Computes X of the point that both ends come to. */
static TEE_Result agree(TEE_ObjectHandle pair, uint8_t theirs[TZ_POINT_BYTES],
			uint8_t x[TZ_POINT_BYTES / 2])
{
	TEE_OperationHandle ecdh = TEE_HANDLE_NULL;
	TEE_ObjectHandle secret = TEE_HANDLE_NULL;
	TEE_Attribute point[2];
	TEE_Result res = TEE_AllocateOperation(&ecdh, TEE_ALG_ECDH_DERIVE_SHARED_SECRET,
					       TEE_MODE_DERIVE, BITS);

	if (res)
		return res;
	res = TEE_SetOperationKey(ecdh, pair);
	if (!res)
		res = TEE_AllocateTransientObject(TEE_TYPE_GENERIC_SECRET, BITS, &secret);
	if (!res) {
		TEE_InitRefAttribute(&point[0], TEE_ATTR_ECC_PUBLIC_VALUE_X, theirs,
				     TZ_POINT_BYTES / 2);
		TEE_InitRefAttribute(&point[1], TEE_ATTR_ECC_PUBLIC_VALUE_Y,
				     theirs + TZ_POINT_BYTES / 2, TZ_POINT_BYTES / 2);
		TEE_DeriveKey(ecdh, point, 2, secret);
		res = coordinate(secret, TEE_ATTR_SECRET_VALUE, x);
		TEE_FreeTransientObject(secret);
	}
	TEE_FreeOperation(ecdh);
	return res;
}

/* The key that wraps a client's: SHA-256, as ta_broker.h says, of `secret`. */
struct secret {
	char label[sizeof(TZ_WRAP_LABEL) - 1];
	uint8_t x[TZ_POINT_BYTES / 2];
	uint8_t theirs[TZ_POINT_BYTES], ours[TZ_POINT_BYTES];
};

static TEE_Result wrapping_key(struct secret *secret, uint8_t kek[32])
{
	TEE_ObjectHandle pair = TEE_HANDLE_NULL;
	TEE_OperationHandle sha = TEE_HANDLE_NULL;
	TEE_Result res = get(&pair);

	if (res)
		return res;
	TEE_MemMove(secret->label, TZ_WRAP_LABEL, sizeof(secret->label));
	res = point_of(pair, secret->ours);
	if (!res)
		res = agree(pair, secret->theirs, secret->x);
	TEE_CloseObject(pair);
	if (!res)
		res = TEE_AllocateOperation(&sha, TEE_ALG_SHA256, TEE_MODE_DIGEST, 0);
	if (!res)
		res = operation_digest(sha, secret, sizeof(*secret), kek, 32);
	operation_free(sha);
	return res;
}

TEE_Result identity_unwrap(const struct gcm_class *class, const struct text *id,
			   const uint8_t wrapped[TZ_WRAPPED_BYTES], uint8_t key[TZ_KEY_BYTES])
{
	static const uint8_t no_nonce[TZ_NONCE_BYTES];
	uint8_t kek[32], tag[TZ_TAG_BYTES];
	struct secret secret;
	struct gcm_message gcm;
	struct gcm_key expanded;
	TEE_Result res = TEE_SUCCESS;

	TEE_MemMove(secret.theirs, wrapped, sizeof(secret.theirs));
	res = wrapping_key(&secret, kek);
	if (res)
		goto out;
	class->set_key(&expanded, kek);
	gcm_begin(&gcm, no_nonce);
	class->authenticate(&gcm, &expanded, id->at, id->len);
	class->crypt(&gcm, &expanded, false, wrapped + TZ_POINT_BYTES, key, TZ_KEY_BYTES);
	class->tag(&gcm, &expanded, tag);
	if (!same_tag(tag, wrapped + TZ_POINT_BYTES + TZ_KEY_BYTES)) {
		wipe(key, TZ_KEY_BYTES);
		res = TEE_ERROR_MAC_INVALID;
	}
	wipe(&expanded, sizeof(expanded));
out:
	wipe(&secret, sizeof(secret));
	wipe(kek, sizeof(kek));
	return res;
}
