/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources of the columns: GlobalPlatform TEE Internal Core API 1.3, tables 6-4, 6-11 and 6-14, and
 * OP-TEE's tee_api_defines.h for OP-TEE's own ids; sizes RFC 8017, SEC 2, RFC 8032, RFC 7748, FIPS
 * 203, FIPS 204.
 */
#include <string.h>

#include <teemark/asym.h>

#define S (1u << ASYM_SIGN | 1u << ASYM_VERIFY)
#define D (1u << ASYM_DERIVE)
#define E (1u << ASYM_ENCRYPT | 1u << ASYM_DECRYPT)
#define K (1u << ASYM_ENCAPSULATE | 1u << ASYM_DECAPSULATE)

#define RSA   0xA1000030u
#define ECDSA 0xA1000041u
#define ECDH  0xA1000042u

/* clang-format off */
const struct asym_algorithm asym_algorithms[] = {
	/* id kind   uses name          title                  bits value digest out  alg         pair        curve  public      private     EVP        group    digest    padding */
	{ 1, ASYM_RSA, S, "rsa-2048",      "RSA-2048 PKCS #1 v1.5", 2048, 256, 32, 256, 0x70004830, RSA,        0,     0,          0,          "RSA",     "",      "SHA256", "pkcs1" },
	{ 2, ASYM_RSA, S, "rsa-3072",      "RSA-3072 PKCS #1 v1.5", 3072, 384, 32, 384, 0x70004830, RSA,        0,     0,          0,          "RSA",     "",      "SHA256", "pkcs1" },
	{ 3, ASYM_RSA, S, "rsa-4096",      "RSA-4096 PKCS #1 v1.5", 4096, 512, 32, 512, 0x70004830, RSA,        0,     0,          0,          "RSA",     "",      "SHA256", "pkcs1" },
	{ 4, ASYM_RSA, S, "rsa-2048-pss",  "RSA-2048 PSS",          2048, 256, 32, 256, 0x70414930, RSA,        0,     0,          0,          "RSA",     "",      "SHA256", "pss" },
	{ 5, ASYM_RSA, S, "rsa-3072-pss",  "RSA-3072 PSS",          3072, 384, 32, 384, 0x70414930, RSA,        0,     0,          0,          "RSA",     "",      "SHA256", "pss" },
	{ 6, ASYM_RSA, S, "rsa-4096-pss",  "RSA-4096 PSS",          4096, 512, 32, 512, 0x70414930, RSA,        0,     0,          0,          "RSA",     "",      "SHA256", "pss" },
	{ 7, ASYM_RSA, E, "rsa-2048-oaep", "RSA-2048 OAEP",         2048, 256,  0, 256, 0x60410230, RSA,        0,     0,          0,          "RSA",     "",      "SHA256", "oaep" },
	{ 8, ASYM_RSA, E, "rsa-3072-oaep", "RSA-3072 OAEP",         3072, 384,  0, 384, 0x60410230, RSA,        0,     0,          0,          "RSA",     "",      "SHA256", "oaep" },
	{ 9, ASYM_RSA, E, "rsa-4096-oaep", "RSA-4096 OAEP",         4096, 512,  0, 512, 0x60410230, RSA,        0,     0,          0,          "RSA",     "",      "SHA256", "oaep" },
	{ 10, ASYM_EC, S, "ecdsa-p256",    "ECDSA P-256",            256,  32, 32,  64, 0x70003042, ECDSA,      3,     0,          0,          "EC",      "P-256", "SHA256", "" },
	{ 11, ASYM_EC, S, "ecdsa-p384",    "ECDSA P-384",            384,  48, 48,  96, 0x70004042, ECDSA,      4,     0,          0,          "EC",      "P-384", "SHA384", "" },
	{ 12, ASYM_EC, S, "ecdsa-p521",    "ECDSA P-521",            521,  66, 64, 132, 0x70005042, ECDSA,      5,     0,          0,          "EC",      "P-521", "SHA512", "" },
	{ 13, ASYM_EC, D, "ecdh-p256",     "ECDH P-256",             256,  32,  0,  32, 0x80000042, ECDH,       3,     0,          0,          "EC",      "P-256", "",       "" },
	{ 14, ASYM_EC, D, "ecdh-p384",     "ECDH P-384",             384,  48,  0,  48, 0x80000042, ECDH,       4,     0,          0,          "EC",      "P-384", "",       "" },
	{ 15, ASYM_EC, D, "ecdh-p521",     "ECDH P-521",             521,  66,  0,  66, 0x80000042, ECDH,       5,     0,          0,          "EC",      "P-521", "",       "" },
	{ 16, ASYM_EC, S, "sm2",           "SM2",                    256,  32, 32,  64, 0x70006045, 0xA1000045, 0x400, 0,          0,          "SM2",     "SM2",   "SM3",    "" },
	{ 17, ASYM_RAW, S, "ed25519",      "Ed25519",                256,  32,  0,  64, 0x70006043, 0xA1000043, 0x300, 0xD0000743, 0xC0000843, "ED25519", "",      "",       "" },
	{ 18, ASYM_RAW, D, "x25519",       "X25519",                 256,  32,  0,  32, 0x80000044, 0xA1000044, 0x300, 0xD0000944, 0xC0000A44, "X25519",  "",      "",       "" },
	{ 19, ASYM_RAW, D, "x448",         "X448",                   448,  56,  0,  56, 0x80000045, 0xA1000049, 0x301, 0xD0000A45, 0xC0000A46, "X448",    "",      "",       "" },
	{ 20, ASYM_SEED, K, "ml-kem-768",  "ML-KEM-768",             768, 1184, 0, 1088, 0,        0,          0,     0,          0,          "ML-KEM-768", "",   "",       "" },
	{ 21, ASYM_SEED, K, "ml-kem-1024", "ML-KEM-1024",           1024, 1568, 0, 1568, 0,        0,          0,     0,          0,          "ML-KEM-1024", "",  "",       "" },
	{ 22, ASYM_SEED, S, "ml-dsa-44",   "ML-DSA-44",               44, 1312, 0, 2420, 0,        0,          0,     0,          0,          "ML-DSA-44",  "",   "",       "" },
	{ 23, ASYM_SEED, S, "ml-dsa-65",   "ML-DSA-65",               65, 1952, 0, 3309, 0,        0,          0,     0,          0,          "ML-DSA-65",  "",   "",       "" },
	{ 24, ASYM_SEED, K, "ml-kem-512",  "ML-KEM-512",             512, 800, 0,  768, 0,        0,          0,     0,          0,          "ML-KEM-512", "",   "",       "" },
	{ 25, ASYM_SEED, S, "ml-dsa-87",   "ML-DSA-87",               87, 2592, 0, 4627, 0,        0,          0,     0,          0,          "ML-DSA-87",  "",   "",       "" },
};
/* clang-format on */

const size_t asym_algorithms_count = sizeof(asym_algorithms) / sizeof(asym_algorithms[0]);

const struct asym_algorithm *asym_by_id(uint32_t id)
{
	for (size_t i = 0; i < asym_algorithms_count; i++)
		if (asym_algorithms[i].id == id)
			return &asym_algorithms[i];
	return NULL;
}

const struct asym_algorithm *asym_by_name(const char *name)
{
	for (size_t i = 0; i < asym_algorithms_count; i++)
		if (!strcmp(asym_algorithms[i].name, name))
			return &asym_algorithms[i];
	return NULL;
}

bool asym_is_private(enum asym_use use)
{
	return use == ASYM_SIGN || use == ASYM_DERIVE || use == ASYM_DECRYPT ||
	       use == ASYM_DECAPSULATE;
}

size_t asym_public_bytes(const struct asym_algorithm *alg)
{
	if (alg->kind == ASYM_RSA)
		return alg->value_bytes + ASYM_EXPONENT_BYTES;
	return (alg->kind == ASYM_EC ? 2u : 1u) * alg->value_bytes;
}

size_t asym_private_bytes(const struct asym_algorithm *alg, bool crt)
{
	if (alg->kind == ASYM_SEED)
		return alg->uses == S ? 32 : 64;
	return alg->value_bytes + (crt ? 5u * alg->value_bytes / 2 : 0);
}
