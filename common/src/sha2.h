/* SPDX-License-Identifier: BSD-2-Clause */
/* The constants of SHA-2 (FIPS 180-4). 32-bit constants are halves of 64-bit ones. */
#pragma once

/* clang-format off */
/*
 * Fractional parts of the cube roots of the first eighty primes (4.2.3). SHA-256 uses the upper
 * halves of the first 64 (4.2.2).
 */
#define SHA2_K_64(_)                                                                            \
	_(0x428a2f98d728ae22) _(0x7137449123ef65cd) _(0xb5c0fbcfec4d3b2f) _(0xe9b5dba58189dbbc) \
	_(0x3956c25bf348b538) _(0x59f111f1b605d019) _(0x923f82a4af194f9b) _(0xab1c5ed5da6d8118) \
	_(0xd807aa98a3030242) _(0x12835b0145706fbe) _(0x243185be4ee4b28c) _(0x550c7dc3d5ffb4e2) \
	_(0x72be5d74f27b896f) _(0x80deb1fe3b1696b1) _(0x9bdc06a725c71235) _(0xc19bf174cf692694) \
	_(0xe49b69c19ef14ad2) _(0xefbe4786384f25e3) _(0x0fc19dc68b8cd5b5) _(0x240ca1cc77ac9c65) \
	_(0x2de92c6f592b0275) _(0x4a7484aa6ea6e483) _(0x5cb0a9dcbd41fbd4) _(0x76f988da831153b5) \
	_(0x983e5152ee66dfab) _(0xa831c66d2db43210) _(0xb00327c898fb213f) _(0xbf597fc7beef0ee4) \
	_(0xc6e00bf33da88fc2) _(0xd5a79147930aa725) _(0x06ca6351e003826f) _(0x142929670a0e6e70) \
	_(0x27b70a8546d22ffc) _(0x2e1b21385c26c926) _(0x4d2c6dfc5ac42aed) _(0x53380d139d95b3df) \
	_(0x650a73548baf63de) _(0x766a0abb3c77b2a8) _(0x81c2c92e47edaee6) _(0x92722c851482353b) \
	_(0xa2bfe8a14cf10364) _(0xa81a664bbc423001) _(0xc24b8b70d0f89791) _(0xc76c51a30654be30) \
	_(0xd192e819d6ef5218) _(0xd69906245565a910) _(0xf40e35855771202a) _(0x106aa07032bbd1b8) \
	_(0x19a4c116b8d2d0c8) _(0x1e376c085141ab53) _(0x2748774cdf8eeb99) _(0x34b0bcb5e19b48a8) \
	_(0x391c0cb3c5c95a63) _(0x4ed8aa4ae3418acb) _(0x5b9cca4f7763e373) _(0x682e6ff3d6b2b8a3) \
	_(0x748f82ee5defb2fc) _(0x78a5636f43172f60) _(0x84c87814a1f0ab72) _(0x8cc702081a6439ec) \
	_(0x90befffa23631e28) _(0xa4506cebde82bde9) _(0xbef9a3f7b2c67915) _(0xc67178f2e372532b)
#define SHA2_K_80(_)                                                                            \
	SHA2_K_64(_)                                                                            \
	_(0xca273eceea26619c) _(0xd186b8c721c0c207) _(0xeada7dd6cde0eb1e) _(0xf57d4f7fee6ed178) \
	_(0x06f067aa72176fba) _(0x0a637dc5a2c898a6) _(0x113f9804bef90dae) _(0x1b710b35131c471b) \
	_(0x28db77f523047d84) _(0x32caab7b40c72493) _(0x3c9ebe0a15c9bebc) _(0x431d67c49c100d4c) \
	_(0x4cc5d4becb3e42b6) _(0x597f299cfc657e2a) _(0x5fcb6fab3ad6faec) _(0x6c44198c4a475817)

/* Initial values (5.3.5, 5.3.4): SHA-256's are the upper, SHA-224's the lower halves. */
#define SHA512_INITIAL(_)                                                                       \
	_(0x6a09e667f3bcc908) _(0xbb67ae8584caa73b) _(0x3c6ef372fe94f82b) _(0xa54ff53a5f1d36f1) \
	_(0x510e527fade682d1) _(0x9b05688c2b3e6c1f) _(0x1f83d9abfb41bd6b) _(0x5be0cd19137e2179)
#define SHA384_INITIAL(_)                                                                       \
	_(0xcbbb9d5dc1059ed8) _(0x629a292a367cd507) _(0x9159015a3070dd17) _(0x152fecd8f70e5939) \
	_(0x67332667ffc00b31) _(0x8eb44a8768581511) _(0xdb0c2e0d64f98fa7) _(0x47b5481dbefa4fa4)
/* clang-format on */
