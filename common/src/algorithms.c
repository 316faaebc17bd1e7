/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources of the columns: block and digest sizes FIPS 180-4 and FIPS 202;
 * TEE ids GlobalPlatform TEE Internal Core API 1.3, table 6-11; kernel names
 * as in /proc/crypto.
 */
#include <string.h>

#include <teemark/algorithms.h>

/* clang-format off */
const struct algorithm algorithms[] = {
	/* id class       name        title       TEE         EVP         kernel     block out key iv */
	{  1, ALG_DIGEST, "sha1",     "SHA1",     0x50000002, "SHA1",     "sha1",      64, 20, 0, 0 },
	{  2, ALG_DIGEST, "sha224",   "SHA224",   0x50000003, "SHA224",   "sha224",    64, 28, 0, 0 },
	{  3, ALG_DIGEST, "sha256",   "SHA256",   0x50000004, "SHA256",   "sha256",    64, 32, 0, 0 },
	{  4, ALG_DIGEST, "sha384",   "SHA384",   0x50000005, "SHA384",   "sha384",   128, 48, 0, 0 },
	{  5, ALG_DIGEST, "sha512",   "SHA512",   0x50000006, "SHA512",   "sha512",   128, 64, 0, 0 },
	{  6, ALG_DIGEST, "sha3-224", "SHA3-224", 0x50000008, "SHA3-224", "sha3-224", 144, 28, 0, 0 },
	{  7, ALG_DIGEST, "sha3-256", "SHA3-256", 0x50000009, "SHA3-256", "sha3-256", 136, 32, 0, 0 },
	{  8, ALG_DIGEST, "sha3-384", "SHA3-384", 0x5000000A, "SHA3-384", "sha3-384", 104, 48, 0, 0 },
	{  9, ALG_DIGEST, "sha3-512", "SHA3-512", 0x5000000B, "SHA3-512", "sha3-512",  72, 64, 0, 0 },
};
/* clang-format on */

const size_t algorithms_count = sizeof(algorithms) / sizeof(algorithms[0]);

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
