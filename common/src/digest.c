/* SPDX-License-Identifier: BSD-2-Clause */
/* To add a digest: its file, a line here (or in digest_ce.c), sources.mk. */
#include "digest_classes.h"

/* clang-format off */
static const struct digest_class *const c_classes[] = {
	&sha1_c,
	&sha224_c,
	&sha256_c,
	&sha384_c,
	&sha512_c,
	&sha3_224_c,
	&sha3_256_c,
	&sha3_384_c,
	&sha3_512_c,
	NULL,
};
/* clang-format on */

const struct digest_class *digest_class_find(enum digest_code code,
					     uint16_t alg_id)
{
	const struct digest_class *const *class = NULL;

	switch (code) {
	case DIGEST_CODE_C:
		class = c_classes;
		break;
	case DIGEST_CODE_CE:
		class = digest_ce_classes;
		break;
	default:
		return NULL;
	}

	for (; *class; class ++)
		if ((*class)->alg_id == alg_id)
			return *class;
	return NULL;
}
