/* SPDX-License-Identifier: BSD-2-Clause */
/* The digests with ARMv8 Crypto Extensions; none where there can be none. */
#include "digest_classes.h"

const struct digest_class *const digest_ce_classes[] = {
#if DIGEST_HAVE_CE
	&sha1_ce,
	&sha224_ce,
	&sha256_ce,
#endif
	NULL,
};
