/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This is as much of the GlobalPlatform TEE Internal Core API 1.3 as the TAs
 * use, for tests on a workstation. It is stricter than a TEE: whatever the
 * specification or OP-TEE answers with a panic ends in shim_panic().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t TEE_Result;

#define TEE_SUCCESS                     0x00000000u
#define TEE_ERROR_CORRUPT_OBJECT        0xF0100001u
#define TEE_ERROR_STORAGE_NOT_AVAILABLE 0xF0100003u
#define TEE_ERROR_GENERIC               0xFFFF0000u
#define TEE_ERROR_ACCESS_DENIED         0xFFFF0001u
#define TEE_ERROR_ACCESS_CONFLICT       0xFFFF0003u
#define TEE_ERROR_BAD_FORMAT            0xFFFF0005u
#define TEE_ERROR_BAD_PARAMETERS        0xFFFF0006u
#define TEE_ERROR_BAD_STATE             0xFFFF0007u
#define TEE_ERROR_ITEM_NOT_FOUND        0xFFFF0008u
#define TEE_ERROR_NOT_SUPPORTED         0xFFFF000Au
#define TEE_ERROR_OUT_OF_MEMORY         0xFFFF000Cu
#define TEE_ERROR_SHORT_BUFFER          0xFFFF0010u
#define TEE_ERROR_STORAGE_NO_SPACE      0xFFFF3041u
#define TEE_ERROR_MAC_INVALID           0xFFFF3071u
#define TEE_ERROR_SIGNATURE_INVALID     0xFFFF3072u
#define TEE_ERROR_SECURITY              0xFFFF000Fu

#define TEE_NUM_PARAMS 4

#define TEE_PARAM_TYPE_NONE          0
#define TEE_PARAM_TYPE_VALUE_INPUT   1
#define TEE_PARAM_TYPE_VALUE_OUTPUT  2
#define TEE_PARAM_TYPE_VALUE_INOUT   3
#define TEE_PARAM_TYPE_MEMREF_INPUT  5
#define TEE_PARAM_TYPE_MEMREF_OUTPUT 6
#define TEE_PARAM_TYPE_MEMREF_INOUT  7

#define TEE_PARAM_TYPES(t0, t1, t2, t3) \
	((uint32_t)(t0) | (uint32_t)(t1) << 4 | (uint32_t)(t2) << 8 | (uint32_t)(t3) << 12)
#define TEE_PARAM_TYPE_GET(t, i) (((uint32_t)(t) >> (4 * (i))) & 15)

typedef union {
	struct {
		void *buffer;
		size_t size;
	} memref;
	struct {
		uint32_t a;
		uint32_t b;
	} value;
} TEE_Param;

#define TEE_MALLOC_FILL_ZERO 0

#define TEE_MODE_ENCRYPT 0
#define TEE_MODE_DECRYPT 1
#define TEE_MODE_SIGN    2
#define TEE_MODE_VERIFY  3
#define TEE_MODE_MAC     4
#define TEE_MODE_DIGEST  5
#define TEE_MODE_DERIVE  6

#define TEE_ALG_X25519 0x80000044u

#define TEE_ALG_AES_XTS     0x10000410u
#define TEE_ALG_SHA256      0x50000004u
#define TEE_ALG_HMAC_SHA1   0x30000002u
#define TEE_ALG_HMAC_SHA224 0x30000003u
#define TEE_ALG_HMAC_SHA256 0x30000004u
#define TEE_ALG_HMAC_SHA384 0x30000005u
#define TEE_ALG_HMAC_SHA512 0x30000006u

#define TEE_TYPE_AES         0xA0000010u
#define TEE_TYPE_HMAC_MD5    0xA0000001u
#define TEE_TYPE_HMAC_SHA1   0xA0000002u
#define TEE_TYPE_HMAC_SHA224 0xA0000003u
#define TEE_TYPE_HMAC_SHA256 0xA0000004u
#define TEE_TYPE_HMAC_SHA384 0xA0000005u
#define TEE_TYPE_HMAC_SHA512 0xA0000006u

#define TEE_TYPE_GENERIC_SECRET 0xA0000000u
#define TEE_TYPE_X25519_KEYPAIR 0xA1000044u

#define TEE_ATTR_SECRET_VALUE         0xC0000000u
#define TEE_ATTR_RSA_MODULUS          0xD0000130u
#define TEE_ATTR_RSA_PUBLIC_EXPONENT  0xD0000230u
#define TEE_ATTR_RSA_PRIVATE_EXPONENT 0xC0000330u
#define TEE_ATTR_RSA_PRIME1           0xC0000430u
#define TEE_ATTR_RSA_PRIME2           0xC0000530u
#define TEE_ATTR_RSA_EXPONENT1        0xC0000630u
#define TEE_ATTR_RSA_EXPONENT2        0xC0000730u
#define TEE_ATTR_RSA_COEFFICIENT      0xC0000830u
#define TEE_ATTR_X25519_PUBLIC_VALUE  0xD0000944u
#define TEE_ATTR_ECC_PUBLIC_VALUE_X   0xD0000141u
#define TEE_ATTR_ECC_PUBLIC_VALUE_Y   0xD0000241u
#define TEE_ATTR_ECC_PRIVATE_VALUE    0xC0000341u
#define TEE_ATTR_ECC_CURVE            0xF0000441u
#define TEE_ECC_CURVE_NIST_P256       0x00000003u

#define TEE_HANDLE_NULL 0

#define TEE_STORAGE_PRIVATE             0x00000001
#define TEE_OBJECT_ID_MAX_LEN           64
#define TEE_DATA_FLAG_ACCESS_READ       0x00000001
#define TEE_DATA_FLAG_ACCESS_WRITE      0x00000002
#define TEE_DATA_FLAG_ACCESS_WRITE_META 0x00000004
#define TEE_DATA_FLAG_OVERWRITE         0x00000400
#define TEE_DATA_MAX_POSITION           0xFFFFFFFFu

#define TEE_CRYPTO_ELEMENT_NONE 0

typedef struct shim_operation *TEE_OperationHandle;
typedef struct shim_object *TEE_ObjectHandle;

typedef struct {
	uint32_t attributeID;
	union {
		struct {
			void *buffer;
			size_t length;
		} ref;
		struct {
			uint32_t a;
			uint32_t b;
		} value;
	} content;
} TEE_Attribute;

typedef struct {
	size_t dataSize;
	size_t dataPosition;
} TEE_ObjectInfo;

typedef enum {
	TEE_DATA_SEEK_SET = 0,
} TEE_Whence;

void *TEE_Malloc(size_t size, uint32_t hint);
void TEE_Free(void *buffer);
void TEE_MemMove(void *dest, const void *src, size_t size);
int32_t TEE_MemCompare(const void *a, const void *b, size_t size);
void TEE_MemFill(void *buffer, uint8_t x, size_t size);

TEE_Result TEE_IsAlgorithmSupported(uint32_t alg, uint32_t element);
TEE_Result TEE_AllocateOperation(TEE_OperationHandle *operation, uint32_t alg, uint32_t mode,
				 uint32_t max_key_size);
void TEE_FreeOperation(TEE_OperationHandle operation);
void TEE_ResetOperation(TEE_OperationHandle operation);
void TEE_DigestUpdate(TEE_OperationHandle operation, const void *chunk, size_t size);
TEE_Result TEE_DigestDoFinal(TEE_OperationHandle operation, const void *chunk, size_t size,
			     void *hash, size_t *hash_len);

void TEE_GenerateRandom(void *buffer, size_t size);

typedef struct {
	uint32_t seconds;
	uint32_t millis;
} TEE_Time;
void TEE_GetREETime(TEE_Time *time);
void TEE_GetSystemTime(TEE_Time *time);

TEE_Result TEE_AllocateTransientObject(uint32_t type, uint32_t max_bits, TEE_ObjectHandle *object);
void TEE_FreeTransientObject(TEE_ObjectHandle object);
void TEE_ResetTransientObject(TEE_ObjectHandle object);
void TEE_InitRefAttribute(TEE_Attribute *attribute, uint32_t id, const void *buffer, size_t len);
TEE_Result TEE_PopulateTransientObject(TEE_ObjectHandle object, const TEE_Attribute *attributes,
				       uint32_t count);
TEE_Result TEE_SetOperationKey(TEE_OperationHandle operation, TEE_ObjectHandle key);
TEE_Result TEE_SetOperationKey2(TEE_OperationHandle operation, TEE_ObjectHandle key1,
				TEE_ObjectHandle key2);

void TEE_CipherInit(TEE_OperationHandle operation, const void *iv, size_t len);
TEE_Result TEE_CipherUpdate(TEE_OperationHandle operation, const void *src, size_t src_len,
			    void *dst, size_t *dst_len);
TEE_Result TEE_CipherDoFinal(TEE_OperationHandle operation, const void *src, size_t src_len,
			     void *dst, size_t *dst_len);
TEE_Result TEE_AEInit(TEE_OperationHandle operation, const void *nonce, size_t nonce_len,
		      uint32_t tag_bits, size_t aad_len, size_t payload_len);
TEE_Result TEE_AEEncryptFinal(TEE_OperationHandle operation, const void *src, size_t src_len,
			      void *dst, size_t *dst_len, void *tag, size_t *tag_len);
TEE_Result TEE_AEDecryptFinal(TEE_OperationHandle operation, const void *src, size_t src_len,
			      void *dst, size_t *dst_len, void *tag, size_t tag_len);
void TEE_MACInit(TEE_OperationHandle operation, const void *iv, size_t len);
TEE_Result TEE_MACComputeFinal(TEE_OperationHandle operation, const void *message, size_t len,
			       void *mac, size_t *mac_len);

void TEE_InitValueAttribute(TEE_Attribute *attribute, uint32_t id, uint32_t a, uint32_t b);
TEE_Result TEE_GenerateKey(TEE_ObjectHandle object, uint32_t bits, const TEE_Attribute *attributes,
			   uint32_t count);
TEE_Result TEE_GetObjectBufferAttribute(TEE_ObjectHandle object, uint32_t id, void *buffer,
					size_t *size);
TEE_Result TEE_AsymmetricSignDigest(TEE_OperationHandle operation, const TEE_Attribute *attributes,
				    uint32_t count, const void *digest, size_t digest_len,
				    void *signature, size_t *signature_len);
TEE_Result TEE_AsymmetricVerifyDigest(TEE_OperationHandle operation,
				      const TEE_Attribute *attributes, uint32_t count,
				      const void *digest, size_t digest_len, const void *signature,
				      size_t signature_len);
TEE_Result TEE_AsymmetricEncrypt(TEE_OperationHandle operation, const TEE_Attribute *attributes,
				 uint32_t count, const void *src, size_t src_len, void *dst,
				 size_t *dst_len);
TEE_Result TEE_AsymmetricDecrypt(TEE_OperationHandle operation, const TEE_Attribute *attributes,
				 uint32_t count, const void *src, size_t src_len, void *dst,
				 size_t *dst_len);
void TEE_DeriveKey(TEE_OperationHandle operation, const TEE_Attribute *attributes, uint32_t count,
		   TEE_ObjectHandle derived);

TEE_Result TEE_CreatePersistentObject(uint32_t storage, const void *id, size_t id_len,
				      uint32_t flags, TEE_ObjectHandle attributes, const void *data,
				      size_t len, TEE_ObjectHandle *object);
TEE_Result TEE_OpenPersistentObject(uint32_t storage, const void *id, size_t id_len, uint32_t flags,
				    TEE_ObjectHandle *object);
TEE_Result TEE_GetObjectInfo1(TEE_ObjectHandle object, TEE_ObjectInfo *info);
TEE_Result TEE_SeekObjectData(TEE_ObjectHandle object, intmax_t offset, TEE_Whence whence);
TEE_Result TEE_ReadObjectData(TEE_ObjectHandle object, void *buffer, size_t size, size_t *count);
TEE_Result TEE_WriteObjectData(TEE_ObjectHandle object, const void *buffer, size_t size);
TEE_Result TEE_TruncateObjectData(TEE_ObjectHandle object, size_t size);
TEE_Result TEE_RenamePersistentObject(TEE_ObjectHandle object, const void *id, size_t id_len);
TEE_Result TEE_CloseAndDeletePersistentObject1(TEE_ObjectHandle object);
void TEE_CloseObject(TEE_ObjectHandle object);

TEE_Result TA_CreateEntryPoint(void);
void TA_DestroyEntryPoint(void);
TEE_Result TA_OpenSessionEntryPoint(uint32_t types, TEE_Param params[TEE_NUM_PARAMS],
				    void **context);
void TA_CloseSessionEntryPoint(void *context);
TEE_Result TA_InvokeCommandEntryPoint(void *context, uint32_t cmd, uint32_t types,
				      TEE_Param params[TEE_NUM_PARAMS]);
