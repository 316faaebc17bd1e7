/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-224 and SHA-256, FIPS 180-4, 6.2 and 6.3. */
#include "bytes.h"
#include "merkle_damgard.h"
#include "sha2.h"

#define UPPER(x) (uint32_t)((x) >> 32),
#define LOWER(x) (uint32_t)(x),

const uint32_t sha256_k[64] = { SHA2_K_64(UPPER) };
const uint32_t sha224_initial[8] = { SHA384_INITIAL(LOWER) };
const uint32_t sha256_initial[8] = { SHA512_INITIAL(UPPER) };

#define COMPRESS        sha256_compress
#define WORD            uint32_t
#define STATE           w32
#define LOAD_WORD       load_be32
#define ROUND_CONSTANTS sha256_k
#define ROUNDS          64
#define BIG_SIGMA0(x)   (ror32(x, 2) ^ ror32(x, 13) ^ ror32(x, 22))
#define BIG_SIGMA1(x)   (ror32(x, 6) ^ ror32(x, 11) ^ ror32(x, 25))
#define SIGMA0(x)       (ror32(x, 7) ^ ror32(x, 18) ^ (x) >> 3)
#define SIGMA1(x)       (ror32(x, 17) ^ ror32(x, 19) ^ (x) >> 10)
#include "sha2_compress.h"

MD_CLASS(sha224_c, 2, sha224_initial, 28, 64, sha256_compress);
MD_CLASS(sha256_c, 3, sha256_initial, 32, 64, sha256_compress);
