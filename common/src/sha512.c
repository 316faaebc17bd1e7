/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-384 and SHA-512, FIPS 180-4, 6.4 and 6.5. */
#include "bytes.h"
#include "merkle_damgard.h"
#include "sha2.h"

#define WHOLE(x) (x),

static const uint64_t sha512_k[80] = { SHA2_K_80(WHOLE) };
static const uint64_t sha384_initial[8] = { SHA384_INITIAL(WHOLE) };
static const uint64_t sha512_initial[8] = { SHA512_INITIAL(WHOLE) };

#define COMPRESS        sha512_compress
#define WORD            uint64_t
#define STATE           w64
#define LOAD_WORD       load_be64
#define ROUND_CONSTANTS sha512_k
#define ROUNDS          80
#define BIG_SIGMA0(x)   (ror64(x, 28) ^ ror64(x, 34) ^ ror64(x, 39))
#define BIG_SIGMA1(x)   (ror64(x, 14) ^ ror64(x, 18) ^ ror64(x, 41))
#define SIGMA0(x)       (ror64(x, 1) ^ ror64(x, 8) ^ (x) >> 7)
#define SIGMA1(x)       (ror64(x, 19) ^ ror64(x, 61) ^ (x) >> 6)
#include "sha2_compress.h"

MD_CLASS(sha384_c, 4, sha384_initial, 48, 128, sha512_compress);
MD_CLASS(sha512_c, 5, sha512_initial, 64, 128, sha512_compress);
