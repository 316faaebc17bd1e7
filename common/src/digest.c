/* SPDX-License-Identifier: BSD-2-Clause */
/* To add a digest, write its file, and add a line here (or in sha_ce.c) and one in sources.mk. */
#include <teemark/digest.h>

static const struct digest_class *const c_classes[] = {
	&sha1_c,     &sha224_c,   &sha256_c,   &sha384_c,   &sha512_c,
	&sha3_224_c, &sha3_256_c, &sha3_384_c, &sha3_512_c, NULL,
};

const struct digest_class *digest_class_find(enum digest_code code, uint16_t alg_id)
{
	const struct digest_class *const *class = code == DIGEST_CODE_CE ? digest_ce_classes :
									   c_classes;

	if (code > DIGEST_CODE_CE)
		return NULL;
	for (; *class; class ++)
		if ((*class)->alg_id == alg_id)
			return *class;
	return NULL;
}
