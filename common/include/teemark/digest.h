/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Message digests, compiled for both worlds from the same sources: `c` and `ce` in the normal
 * world, `ta-c` and `ta-ce` in the TA.
 *
 * The caller owns the context; a class has no other state. update() may be called any number of
 * times with any length, including 0. final() writes out_bytes (of the algorithm's row) and wipes
 * the context.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum digest_code {
	DIGEST_CODE_C = 0,  /* portable C11 */
	DIGEST_CODE_CE = 1, /* ARMv8 Crypto Extensions */
};

/* Memory for the state of any class, with its alignment. */
union digest_ctx {
	uint64_t align[28];
};

struct digest_class {
	uint16_t alg_id; /* struct algorithm .id */
	void (*init)(union digest_ctx *ctx);
	void (*update)(union digest_ctx *ctx, const void *data, size_t len);
	void (*final)(union digest_ctx *ctx, uint8_t *out);
};

/* All classes: the portable ones, and a list of the classes that use CPU instructions. */
extern const struct digest_class sha1_c, sha224_c, sha256_c, sha384_c, sha512_c, sha3_224_c,
	sha3_256_c, sha3_384_c, sha3_512_c;
extern const struct digest_class *const digest_ce_classes[]; /* ends with NULL */

/*
 * Returns the class; NULL if this code lacks the algorithm or was compiled for a CPU that can't
 * have the instructions. The caller checks that the actual CPU has them (normal world: hwcap).
 */
const struct digest_class *digest_class_find(enum digest_code code, uint16_t alg_id);
