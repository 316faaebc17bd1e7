/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources of the columns: block, padding and digest sizes FIPS 180-4, FIPS 202 and GB/T 32905,
 * those of AES FIPS 197; TEE ids GlobalPlatform TEE Internal Core API 1.3, table 6-11; kernel names
 * as in /proc/crypto. An HMAC's key is as long as its digest, which RFC 2104, 3, calls the shortest
 * that doesn't weaken it. The nonce of GCM has the 96 bits that SP 800-38D, 5.2.1.1, recommends.
 */
#include <string.h>

#include <teemark/algorithms.h>

/* If the TEE's own header is available, the compiler checks the ids against it. */
#if __has_include(<tee_api_defines.h>)
#include <tee_api_defines.h>
#define TEE(name, id) (sizeof(char[TEE_ALG_##name == (id) ? 1 : -1]) * (id))
#else
#define TEE(name, id) (id)
#endif

/* clang-format off */
const struct algorithm algorithms[] = {
	/* id  class       name           title           tag         TEE                             EVP            kernel          block pad unit out key iv */
	{  1, ALG_DIGEST, "sha1",        "SHA-1",        "SHA1",     TEE(SHA1, 0x50000002),          "SHA1",        "sha1",          64,  9,  1, 20,  0,  0 },
	{  2, ALG_DIGEST, "sha224",      "SHA-224",      "SHA224",   TEE(SHA224, 0x50000003),        "SHA224",      "sha224",        64,  9,  1, 28,  0,  0 },
	{  3, ALG_DIGEST, "sha256",      "SHA-256",      "SHA256",   TEE(SHA256, 0x50000004),        "SHA256",      "sha256",        64,  9,  1, 32,  0,  0 },
	{  4, ALG_DIGEST, "sha384",      "SHA-384",      "SHA384",   TEE(SHA384, 0x50000005),        "SHA384",      "sha384",       128, 17,  1, 48,  0,  0 },
	{  5, ALG_DIGEST, "sha512",      "SHA-512",      "SHA512",   TEE(SHA512, 0x50000006),        "SHA512",      "sha512",       128, 17,  1, 64,  0,  0 },
	{  6, ALG_DIGEST, "sha3-224",    "SHA3-224",     "SHA3-224", 0x50000008,                     "SHA3-224",    "sha3-224",     144,  1,  1, 28,  0,  0 },
	{  7, ALG_DIGEST, "sha3-256",    "SHA3-256",     "SHA3-256", 0x50000009,                     "SHA3-256",    "sha3-256",     136,  1,  1, 32,  0,  0 },
	{  8, ALG_DIGEST, "sha3-384",    "SHA3-384",     "SHA3-384", 0x5000000A,                     "SHA3-384",    "sha3-384",     104,  1,  1, 48,  0,  0 },
	{  9, ALG_DIGEST, "sha3-512",    "SHA3-512",     "SHA3-512", 0x5000000B,                     "SHA3-512",    "sha3-512",      72,  1,  1, 64,  0,  0 },
	{ 10, ALG_DIGEST, "sm3",         "SM3",          "SM3",      0x50000007,                     "SM3",         "sm3",           64,  9,  1, 32,  0,  0 },
	{ 20, ALG_MAC,    "hmac-sha1",   "HMAC-SHA-1",   "",         TEE(HMAC_SHA1, 0x30000002),     "SHA1",        "hmac(sha1)",    64,  9,  1, 20, 20,  0 },
	{ 21, ALG_MAC,    "hmac-sha224", "HMAC-SHA-224", "",         TEE(HMAC_SHA224, 0x30000003),   "SHA224",      "hmac(sha224)",  64,  9,  1, 28, 28,  0 },
	{ 22, ALG_MAC,    "hmac-sha256", "HMAC-SHA-256", "",         TEE(HMAC_SHA256, 0x30000004),   "SHA256",      "hmac(sha256)",  64,  9,  1, 32, 32,  0 },
	{ 23, ALG_MAC,    "hmac-sha384", "HMAC-SHA-384", "",         TEE(HMAC_SHA384, 0x30000005),   "SHA384",      "hmac(sha384)", 128, 17,  1, 48, 48,  0 },
	{ 24, ALG_MAC,    "hmac-sha512", "HMAC-SHA-512", "",         TEE(HMAC_SHA512, 0x30000006),   "SHA512",      "hmac(sha512)", 128, 17,  1, 64, 64,  0 },
	{ 30, ALG_CIPHER, "aes-128-ecb", "AES-128-ECB",  "",         TEE(AES_ECB_NOPAD, 0x10000010), "AES-128-ECB", "ecb(aes)",      16,  0, 16,  0, 16,  0 },
	{ 31, ALG_CIPHER, "aes-128-cbc", "AES-128-CBC",  "",         TEE(AES_CBC_NOPAD, 0x10000110), "AES-128-CBC", "cbc(aes)",      16,  0, 16,  0, 16, 16 },
	{ 32, ALG_CIPHER, "aes-128-ctr", "AES-128-CTR",  "",         TEE(AES_CTR, 0x10000210),       "AES-128-CTR", "ctr(aes)",      16,  0,  1,  0, 16, 16 },
	{ 33, ALG_CIPHER, "aes-128-xts", "AES-128-XTS",  "",         TEE(AES_XTS, 0x10000410),       "AES-128-XTS", "xts(aes)",      16,  0, 16,  0, 32, 16 },
	{ 34, ALG_AEAD,   "aes-128-gcm", "AES-128-GCM",  "",         TEE(AES_GCM, 0x40000810),       "AES-128-GCM", "gcm(aes)",      16,  0,  1, 16, 16, 12 },
	{ 35, ALG_CIPHER, "aes-192-ecb", "AES-192-ECB",  "",         TEE(AES_ECB_NOPAD, 0x10000010), "AES-192-ECB", "ecb(aes)",      16,  0, 16,  0, 24,  0 },
	{ 36, ALG_CIPHER, "aes-192-cbc", "AES-192-CBC",  "",         TEE(AES_CBC_NOPAD, 0x10000110), "AES-192-CBC", "cbc(aes)",      16,  0, 16,  0, 24, 16 },
	{ 37, ALG_CIPHER, "aes-192-ctr", "AES-192-CTR",  "",         TEE(AES_CTR, 0x10000210),       "AES-192-CTR", "ctr(aes)",      16,  0,  1,  0, 24, 16 },
	{ 39, ALG_AEAD,   "aes-192-gcm", "AES-192-GCM",  "",         TEE(AES_GCM, 0x40000810),       "AES-192-GCM", "gcm(aes)",      16,  0,  1, 16, 24, 12 },
	{ 40, ALG_CIPHER, "aes-256-ecb", "AES-256-ECB",  "",         TEE(AES_ECB_NOPAD, 0x10000010), "AES-256-ECB", "ecb(aes)",      16,  0, 16,  0, 32,  0 },
	{ 41, ALG_CIPHER, "aes-256-cbc", "AES-256-CBC",  "",         TEE(AES_CBC_NOPAD, 0x10000110), "AES-256-CBC", "cbc(aes)",      16,  0, 16,  0, 32, 16 },
	{ 42, ALG_CIPHER, "aes-256-ctr", "AES-256-CTR",  "",         TEE(AES_CTR, 0x10000210),       "AES-256-CTR", "ctr(aes)",      16,  0,  1,  0, 32, 16 },
	{ 43, ALG_CIPHER, "aes-256-xts", "AES-256-XTS",  "",         TEE(AES_XTS, 0x10000410),       "AES-256-XTS", "xts(aes)",      16,  0, 16,  0, 64, 16 },
	{ 44, ALG_AEAD,   "aes-256-gcm", "AES-256-GCM",  "",         TEE(AES_GCM, 0x40000810),       "AES-256-GCM", "gcm(aes)",      16,  0,  1, 16, 32, 12 },
};
/* clang-format on */

const size_t algorithms_count = sizeof(algorithms) / sizeof(algorithms[0]);

const char *algorithm_class(enum alg_class class)
{
	static const char *const names[] = {
		[ALG_DIGEST] = "digest",
		[ALG_MAC] = "mac",
		[ALG_CIPHER] = "cipher",
		[ALG_AEAD] = "aead",
	};

	return names[class];
}

const struct algorithm *algorithm_by_id(uint32_t id)
{
	for (size_t i = 0; i < algorithms_count; i++)
		if (algorithms[i].id == id)
			return &algorithms[i];
	return NULL;
}

const struct algorithm *algorithm_by_name(const char *name)
{
	for (size_t i = 0; i < algorithms_count; i++)
		if (!strcmp(algorithms[i].name, name))
			return &algorithms[i];
	return NULL;
}
