/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations and the keys they are given, over libcrypto. What OP-TEE's
 * libutee answers with a panic, this does too.
 */
#include "shim.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include <teemark/algorithms.h>

#include "asymmetric.h"
#include "object.h"
#include <tee_internal_api.h>

struct shim_operation {
	const struct algorithm *alg; /* a row of the TEE's algorithm */
	uint32_t mode;
	size_t max_key_bytes;
	uint8_t key[128];
	size_t key_len; /* 0: no key */
	bool initialized, active;
	EVP_MD_CTX *md; /* digests */
	EVP_CIPHER_CTX *cipher;
	HMAC_CTX *hmac;
	struct shim_asym *asym; /* then alg is NULL */
};

struct shim_asym *shim_asym_in(TEE_OperationHandle operation);
struct shim_asym *shim_asym_in(TEE_OperationHandle operation)
{
	return operation ? operation->asym : NULL;
}

static const struct algorithm *find(uint32_t tee)
{
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].tee == tee)
			return &algorithms[i];
	return NULL;
}

TEE_Result TEE_IsAlgorithmSupported(uint32_t alg, uint32_t element)
{
	if (shim_asym_known(alg) && alg != shim_unsupported_alg)
		return TEE_SUCCESS;
	if (element != TEE_CRYPTO_ELEMENT_NONE || alg == shim_unsupported_alg || !find(alg))
		return TEE_ERROR_NOT_SUPPORTED;
	return TEE_SUCCESS;
}

static bool is_cipher(const struct shim_operation *op)
{
	return op->alg->class == ALG_CIPHER;
}

static bool is_xts(const struct algorithm *alg)
{
	return alg->tee == TEE_ALG_AES_XTS;
}

/* The least and the most bytes of a key, as OP-TEE 4.5 has them. */
static bool key_size_ok(uint32_t type, size_t bytes)
{
	switch (type) {
	case TEE_TYPE_AES:
		return bytes == 16 || bytes == 24 || bytes == 32;
	case TEE_TYPE_HMAC_SHA1:
		return bytes >= 10 && bytes <= 64;
	case TEE_TYPE_HMAC_SHA224:
		return bytes >= 14 && bytes <= 64;
	case TEE_TYPE_HMAC_SHA256:
		return bytes >= 24 && bytes <= 128;
	case TEE_TYPE_HMAC_SHA384:
	case TEE_TYPE_HMAC_SHA512:
		return bytes >= 32 && bytes <= 128;
	default:
		return false;
	}
}

static uint32_t key_type(const struct algorithm *alg)
{
	return alg->class == ALG_MAC ? 0xA0000000 | (alg->tee & 0xff) : TEE_TYPE_AES;
}

static bool mode_ok(const struct algorithm *alg, uint32_t mode)
{
	switch (alg->class) {
	case ALG_DIGEST:
		return mode == TEE_MODE_DIGEST;
	case ALG_MAC:
		return mode == TEE_MODE_MAC;
	default:
		return mode == TEE_MODE_ENCRYPT || mode == TEE_MODE_DECRYPT;
	}
}

TEE_Result TEE_AllocateOperation(TEE_OperationHandle *operation, uint32_t alg, uint32_t mode,
				 uint32_t max_key_size)
{
	const struct algorithm *row = find(alg);
	struct shim_operation *op = NULL;

	if (!operation)
		shim_panic("TEE_AllocateOperation: null");
	if (shim_asym_known(alg)) {
		const struct asym_algorithm *asym = shim_asym_of(alg, mode, max_key_size);

		if (alg == shim_unsupported_alg || !asym)
			return TEE_ERROR_NOT_SUPPORTED;
		op = TEE_Malloc(sizeof(*op), TEE_MALLOC_FILL_ZERO);
		if (!op)
			return TEE_ERROR_OUT_OF_MEMORY;
		op->asym = shim_asym_new(asym, mode);
		*operation = op;
		return TEE_SUCCESS;
	}
	if (TEE_IsAlgorithmSupported(alg, 0) != TEE_SUCCESS || !mode_ok(row, mode))
		return TEE_ERROR_NOT_SUPPORTED;
	if (row->class == ALG_DIGEST ?
		    max_key_size :
		    max_key_size % 8 ||
			    !key_size_ok(key_type(row), max_key_size / 8 / (is_xts(row) ? 2 : 1)))
		return TEE_ERROR_NOT_SUPPORTED;
	shim_operations_made++;
	op = TEE_Malloc(sizeof(*op), TEE_MALLOC_FILL_ZERO);
	if (!op)
		return TEE_ERROR_OUT_OF_MEMORY;
	op->alg = row;
	op->mode = mode;
	op->max_key_bytes = max_key_size / 8;
	switch (row->class) {
	case ALG_DIGEST:
		op->md = EVP_MD_CTX_new();
		TEE_ResetOperation(op);
		break;
	case ALG_MAC:
		op->hmac = HMAC_CTX_new();
		break;
	default:
		op->cipher = EVP_CIPHER_CTX_new();
		break;
	}
	*operation = op;
	return TEE_SUCCESS;
}

void TEE_FreeOperation(TEE_OperationHandle operation)
{
	/* OP-TEE before 3.20 does this; later ones accept it. */
	if (!operation)
		shim_panic("TEE_FreeOperation: no operation");
	EVP_MD_CTX_free(operation->md);
	EVP_CIPHER_CTX_free(operation->cipher);
	HMAC_CTX_free(operation->hmac);
	shim_asym_free(operation->asym);
	OPENSSL_cleanse(operation, sizeof(*operation));
	TEE_Free(operation);
}

void TEE_ResetOperation(TEE_OperationHandle operation)
{
	if (!operation)
		shim_panic("TEE_ResetOperation: null handle");
	if (operation->asym)
		return;
	if (operation->md) {
		if (EVP_DigestInit_ex(operation->md, EVP_get_digestbyname(operation->alg->evp),
				      NULL) != 1)
			shim_panic("EVP_DigestInit_ex");
		return;
	}
	if (!operation->key_len)
		shim_panic("TEE_ResetOperation: no key");
	operation->initialized = false;
	operation->active = false;
}

void TEE_DigestUpdate(TEE_OperationHandle operation, const void *chunk, size_t size)
{
	if (!operation || !operation->md || (size && !chunk))
		shim_panic("TEE_DigestUpdate");
	shim_meanwhile();
	if (EVP_DigestUpdate(operation->md, chunk, size) != 1)
		shim_panic("EVP_DigestUpdate");
}

TEE_Result TEE_DigestDoFinal(TEE_OperationHandle operation, const void *chunk, size_t size,
			     void *hash, size_t *hash_len)
{
	size_t need = 0;

	if (!operation || !operation->md || (size && !chunk) || !hash || !hash_len)
		shim_panic("TEE_DigestDoFinal");
	need = operation->alg->out_bytes;
	if (shim_fails(&shim_fail_do_final))
		return TEE_ERROR_GENERIC;
	if (*hash_len < need) {
		*hash_len = need;
		return TEE_ERROR_SHORT_BUFFER;
	}
	TEE_DigestUpdate(operation, chunk, size);
	if (EVP_DigestFinal_ex(operation->md, hash, NULL) != 1)
		shim_panic("EVP_DigestFinal_ex");
	*hash_len = need;
	TEE_ResetOperation(operation);
	return TEE_SUCCESS;
}

/* Keys */

TEE_Result TEE_AllocateTransientObject(uint32_t type, uint32_t max_bits, TEE_ObjectHandle *object)
{
	const struct asym_algorithm *asym = shim_asym_of_type(type, max_bits);
	struct shim_object *o = NULL;

	if (!asym && type != TEE_TYPE_GENERIC_SECRET &&
	    (max_bits % 8 || !key_size_ok(type, max_bits / 8)))
		return TEE_ERROR_NOT_SUPPORTED;
	o = TEE_Malloc(sizeof(*o), TEE_MALLOC_FILL_ZERO);
	if (!o)
		return TEE_ERROR_OUT_OF_MEMORY;
	o->type = type;
	o->max_key_bytes = max_bits / 8;
	o->asym = asym;
	o->pair = type >> 24 & 1;
	*object = o;
	return TEE_SUCCESS;
}

void TEE_ResetTransientObject(TEE_ObjectHandle object)
{
	if (!object)
		return;
	if (object->file)
		shim_panic("TEE_ResetTransientObject: a persistent one");
	OPENSSL_cleanse(object->key, sizeof(object->key));
	object->key_len = 0;
	OPENSSL_cleanse(object->parts, sizeof(object->parts));
	object->parts_len = 0;
}

void TEE_FreeTransientObject(TEE_ObjectHandle object)
{
	TEE_ResetTransientObject(object);
	TEE_Free(object);
}

void TEE_InitRefAttribute(TEE_Attribute *attribute, uint32_t id, const void *buffer, size_t len)
{
	if (!attribute || !(id >> 31) || id >> 28 == 0xF)
		shim_panic("TEE_InitRefAttribute");
	attribute->attributeID = id;
	attribute->content.ref.buffer = (void *)buffer;
	attribute->content.ref.length = len;
}

TEE_Result TEE_PopulateTransientObject(TEE_ObjectHandle object, const TEE_Attribute *attributes,
				       uint32_t count)
{
	size_t len = attributes->content.ref.length;

	if (object && object->asym)
		return shim_asym_populate(object, attributes, count);
	if (!object || object->file || object->key_len || count != 1)
		shim_panic("TEE_PopulateTransientObject");
	shim_not_shared(attributes->content.ref.buffer, len,
			"TEE_PopulateTransientObject: shared memory");
	if (len > object->max_key_bytes || !key_size_ok(object->type, len))
		return TEE_ERROR_BAD_PARAMETERS;
	memcpy(object->key, attributes->content.ref.buffer, len);
	object->key_len = len;
	return TEE_SUCCESS;
}

static void check_key(const struct shim_operation *op, const struct shim_object *key)
{
	if (!key || !key->key_len || key->type != key_type(op->alg))
		shim_panic("TEE_SetOperationKey: not such a key");
}

TEE_Result TEE_SetOperationKey(TEE_OperationHandle operation, TEE_ObjectHandle key)
{
	if (operation && operation->asym) {
		shim_asym_set_key(operation->asym, key);
		return TEE_SUCCESS;
	}
	if (!operation || operation->md || operation->initialized || is_xts(operation->alg))
		shim_panic("TEE_SetOperationKey");
	check_key(operation, key);
	if (key->key_len > operation->max_key_bytes)
		shim_panic("TEE_SetOperationKey: too long");
	memcpy(operation->key, key->key, key->key_len);
	operation->key_len = key->key_len;
	return TEE_SUCCESS;
}

TEE_Result TEE_SetOperationKey2(TEE_OperationHandle operation, TEE_ObjectHandle key1,
				TEE_ObjectHandle key2)
{
	if (!operation || operation->initialized || !is_xts(operation->alg))
		shim_panic("TEE_SetOperationKey2");
	if (key1 == key2)
		return TEE_ERROR_SECURITY;
	check_key(operation, key1);
	check_key(operation, key2);
	if (2 * key1->key_len != operation->max_key_bytes || key1->key_len != key2->key_len)
		shim_panic("TEE_SetOperationKey2: lengths");
	memcpy(operation->key, key1->key, key1->key_len);
	memcpy(operation->key + key1->key_len, key2->key, key2->key_len);
	operation->key_len = 2 * key1->key_len;
	return TEE_SUCCESS;
}

/* Ciphers */

/* The row of this key's length: the TEE's ids have no length in them. */
static const EVP_CIPHER *evp_of(const struct shim_operation *op)
{
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].tee == op->alg->tee && algorithms[i].key_bytes == op->key_len)
			return EVP_get_cipherbyname(algorithms[i].evp);
	return NULL;
}

static void cipher_begin(struct shim_operation *op, const uint8_t *iv)
{
	if (EVP_CipherInit_ex(op->cipher, evp_of(op), NULL, op->key, iv,
			      op->mode == TEE_MODE_ENCRYPT) != 1)
		shim_panic("EVP_CipherInit_ex");
	EVP_CIPHER_CTX_set_padding(op->cipher, 0);
	op->initialized = true;
}

void TEE_CipherInit(TEE_OperationHandle operation, const void *iv, size_t len)
{
	if (!operation || !is_cipher(operation) || !operation->key_len)
		shim_panic("TEE_CipherInit");
	if (len != operation->alg->iv_bytes || (len && !iv))
		shim_panic("TEE_CipherInit: length of the IV");
	shim_not_shared(iv, len, "TEE_CipherInit: shared memory");
	cipher_begin(operation, iv);
	operation->active = true;
}

/*
 * Bytes go in and out at once, but for a rest that a TA must not leave. They
 * may overlap in any way, which libcrypto does not take.
 */
static size_t crypt(struct shim_operation *op, const void *src, size_t len, void *dst)
{
	uint8_t *copy = malloc(len + 1);
	int out = 0;

	shim_meanwhile();
	if (len)
		memcpy(copy, src, len);
	if (len && EVP_CipherUpdate(op->cipher, dst, &out, copy, len) != 1)
		shim_panic("EVP_CipherUpdate");
	free(copy);
	shim_meanwhile();
	return out;
}

TEE_Result TEE_CipherUpdate(TEE_OperationHandle operation, const void *src, size_t src_len,
			    void *dst, size_t *dst_len)
{
	if (!operation || !is_cipher(operation) || !operation->initialized || !operation->active ||
	    (!src && src_len))
		shim_panic("TEE_CipherUpdate");
	if (is_xts(operation->alg))
		shim_panic("TEE_CipherUpdate: XTS keeps two blocks back");
	if (src_len % operation->alg->unit_bytes)
		shim_panic("TEE_CipherUpdate: part of a block");
	if (*dst_len < src_len) {
		*dst_len = src_len;
		return TEE_ERROR_SHORT_BUFFER;
	}
	*dst_len = crypt(operation, src, src_len, dst);
	return TEE_SUCCESS;
}

TEE_Result TEE_CipherDoFinal(TEE_OperationHandle operation, const void *src, size_t src_len,
			     void *dst, size_t *dst_len)
{
	if (!operation || !is_cipher(operation) || !operation->initialized || !operation->active ||
	    (!src && src_len))
		shim_panic("TEE_CipherDoFinal");
	if (is_xts(operation->alg) && src_len < 16)
		shim_panic("TEE_CipherDoFinal: XTS takes one block at least");
	if (src_len % operation->alg->unit_bytes)
		shim_panic("TEE_CipherDoFinal: part of a block");
	if (*dst_len < src_len) {
		*dst_len = src_len;
		return TEE_ERROR_SHORT_BUFFER;
	}
	*dst_len = crypt(operation, src, src_len, dst);
	operation->initialized = false;
	operation->active = false;
	return TEE_SUCCESS;
}

/* AEADs */

TEE_Result TEE_AEInit(TEE_OperationHandle operation, const void *nonce, size_t nonce_len,
		      uint32_t tag_bits, size_t aad_len, size_t payload_len)
{
	(void)aad_len;
	(void)payload_len;
	if (!operation || !nonce || operation->alg->class != ALG_AEAD || operation->active ||
	    !operation->key_len)
		shim_panic("TEE_AEInit");
	if (nonce_len != operation->alg->iv_bytes || tag_bits != 128)
		shim_panic("TEE_AEInit: lengths");
	shim_not_shared(nonce, nonce_len, "TEE_AEInit: shared memory");
	cipher_begin(operation, nonce);
	return TEE_SUCCESS;
}

TEE_Result TEE_AEEncryptFinal(TEE_OperationHandle operation, const void *src, size_t src_len,
			      void *dst, size_t *dst_len, void *tag, size_t *tag_len)
{
	uint8_t none[16];
	int n = 0;

	if (!operation || operation->alg->class != ALG_AEAD ||
	    operation->mode != TEE_MODE_ENCRYPT || !operation->initialized || (!src && src_len))
		shim_panic("TEE_AEEncryptFinal");
	if (*dst_len < src_len || *tag_len < 16) {
		*dst_len = src_len;
		*tag_len = 16;
		return TEE_ERROR_SHORT_BUFFER;
	}
	*dst_len = crypt(operation, src, src_len, dst);
	*tag_len = 16;
	if (EVP_CipherFinal_ex(operation->cipher, none, &n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(operation->cipher, EVP_CTRL_AEAD_GET_TAG, 16, tag) != 1)
		shim_panic("EVP_CipherFinal_ex");
	operation->initialized = false;
	operation->active = false;
	return TEE_SUCCESS;
}

/* Like OP-TEE's, it has written the plaintext when it finds the tag wrong. */
TEE_Result TEE_AEDecryptFinal(TEE_OperationHandle operation, const void *src, size_t src_len,
			      void *dst, size_t *dst_len, void *tag, size_t tag_len)
{
	uint8_t none[16];
	int n = 0;

	if (!operation || operation->alg->class != ALG_AEAD ||
	    operation->mode != TEE_MODE_DECRYPT || !operation->initialized || (!src && src_len) ||
	    tag_len != 16)
		shim_panic("TEE_AEDecryptFinal");
	shim_not_shared(src, src_len, "TEE_AEDecryptFinal: ciphertext");
	shim_not_shared(dst, src_len, "TEE_AEDecryptFinal: plaintext");
	shim_not_shared(tag, tag_len, "TEE_AEDecryptFinal: tag");
	if (*dst_len < src_len) {
		*dst_len = src_len;
		return TEE_ERROR_SHORT_BUFFER;
	}
	*dst_len = crypt(operation, src, src_len, dst);
	if (EVP_CIPHER_CTX_ctrl(operation->cipher, EVP_CTRL_AEAD_SET_TAG, 16, tag) != 1)
		shim_panic("EVP_CTRL_AEAD_SET_TAG");
	if (EVP_CipherFinal_ex(operation->cipher, none, &n) != 1)
		return TEE_ERROR_MAC_INVALID;
	operation->initialized = false;
	operation->active = false;
	return TEE_SUCCESS;
}

/* MACs */

void TEE_MACInit(TEE_OperationHandle operation, const void *iv, size_t len)
{
	if (!operation || !operation->hmac || !operation->key_len || iv || len)
		shim_panic("TEE_MACInit");
	if (HMAC_Init_ex(operation->hmac, operation->key, operation->key_len,
			 EVP_get_digestbyname(operation->alg->evp), NULL) != 1)
		shim_panic("HMAC_Init_ex");
	operation->initialized = true;
	operation->active = true;
}

TEE_Result TEE_MACComputeFinal(TEE_OperationHandle operation, const void *message, size_t len,
			       void *mac, size_t *mac_len)
{
	if (!operation || !operation->hmac || !operation->initialized || !operation->active ||
	    (len && !message) || !mac)
		shim_panic("TEE_MACComputeFinal");
	if (*mac_len < operation->alg->out_bytes) {
		*mac_len = operation->alg->out_bytes;
		return TEE_ERROR_SHORT_BUFFER;
	}
	if (len)
		HMAC_Update(operation->hmac, message, len);
	HMAC_Final(operation->hmac, mac, NULL);
	*mac_len = operation->alg->out_bytes;
	operation->initialized = false;
	operation->active = false;
	return TEE_SUCCESS;
}
