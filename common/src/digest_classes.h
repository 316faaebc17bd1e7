/* SPDX-License-Identifier: BSD-2-Clause */
/* The classes that exist; found through digest_class_find() only. */
#ifndef DIGEST_CLASSES_H
#define DIGEST_CLASSES_H

#include <teemark/digest.h>

extern const struct digest_class sha1_c, sha224_c, sha256_c, sha384_c, sha512_c,
	sha3_224_c, sha3_256_c, sha3_384_c, sha3_512_c;

/* Where the CPU can have the instructions (digest_ce.c). */
extern const struct digest_class sha1_ce, sha224_ce, sha256_ce;

/* NULL-terminated; in a file of its own, compiled with the flags of ce. */
extern const struct digest_class *const digest_ce_classes[];

/*
 * Set where the compiler was told that it may use SHA-1 and SHA-256
 * instructions. (__ARM_FEATURE_CRYPTO is what older compilers say.)
 */
#if defined(__aarch64__) && defined(__ARM_NEON) && \
	(defined(__ARM_FEATURE_SHA2) || defined(__ARM_FEATURE_CRYPTO))
#define DIGEST_HAVE_CE 1
#else
#define DIGEST_HAVE_CE 0
#endif

#endif
